//===- Epilogues.h - What follows a contraction in its blocks ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_EPILOGUES_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_EPILOGUES_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedBlock.h"

namespace mlir::metaop {

/// Sums of at most so many bytes are in the second cache when the next kernel
/// reads them, which may share rows with those behind it; and two small kernels
/// are found again more often than one larger one.
constexpr int64_t kNearSumsBytes = 1 << 18;

/// The stages behind a contraction, which run one after another on each block
/// of its sums: element by element from these, or from what those before have
/// made of them, or reducing rows that lie in the block whole.
struct EpilogueChain {
  /// None where a stage reads neither sums nor what is made of them, or reads
  /// them in another way.
  static std::optional<EpilogueChain> match(const Stage &contraction,
                                            ArrayRef<const Stage *> epilogues);

  /// Leaves the part that one iteration of these levels of the contraction
  /// reaches. False if that is no box, or if a stage needs, or makes, more in
  /// it than the stages before have made.
  bool narrow(ArrayRef<LoopLevel> levels);

  /// The loops of an epilogue of which a block has a part, outermost first.
  SmallVector<int64_t> getNarrowed(unsigned epilogue) const;

  const Stage *contraction;
  SmallVector<const Stage *> epilogues;
  /// The sums that are in memory at a time, in the loops of each epilogue.
  SmallVector<SharedBlock> blocks;

private:
  bool findBlock(unsigned epilogue);
  bool isClosed() const;
};

/// The schedules of the stages behind a contraction of this schedule; none
/// where they cannot share its loops, or should not. Where that is forced,
/// blocks may be small.
std::optional<SmallVector<ScheduleAttr>>
chooseEpilogues(const Stage &contraction, ScheduleAttr schedule,
                ArrayRef<Stage> epilogues, const Processor &processor,
                bool isForced);

/// Returns whether a kernel stands before all others that read what the
/// producer makes: both can become one there.
bool isFirstReader(KernelOp kernel, KernelOp producer);

/// Returns the reads of a stage of the result that another stage of its kernel
/// writes.
SmallVector<const StageRead *>
findReads(const Stage &reader, const Stage &writer, const StageWrite &write);

/// Returns how many of the contraction's levels stand outside of an epilogue
/// that shares `shared` of them: reduced ones among these are no levels of its
/// own.
unsigned getEpilogueDepth(const Stage &contraction, ScheduleAttr schedule,
                          int64_t shared);

/// Returns whether the first levels have several blocks of the sum: sums are
/// complete in the last one only.
bool haveReducedBlocks(const Stage &contraction, ArrayRef<LoopLevel> levels);

/// The result of an epilogue whose memory can hold the sums while they are not
/// complete: the first of the same type as these.
std::optional<unsigned> findResultForSums(FusedOp contraction,
                                          FusedOp epilogue);

/// Returns whether the memory of a result of an epilogue holds sums before the
/// epilogue writes it. Fails, with a diagnostic, where the contraction is no
/// valid stage.
FailureOr<bool> holdsSums(FusedOp epilogue, unsigned result);

/// The sums that one iteration of the shared levels makes are kept on the stack
/// up to here.
constexpr int64_t kMaxSumsBytes = 1 << 17;

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_EPILOGUES_H
