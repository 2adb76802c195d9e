//===- BlockedKernel.h - Contractions and what is around them ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_BLOCKEDKERNEL_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_BLOCKEDKERNEL_H

#include "LoopTree.h"
#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"

namespace mlir::metaop {

/// The stages of a kernel that is a contraction with blocks or a tile: some
/// before it that pack its factors, some behind it that compute from its sums.
/// They share its outer levels.
struct BlockedStages {
  SmallVector<ScheduledStage *, 2> packings;
  ScheduledStage *contraction = nullptr;
  SmallVector<ScheduledStage *, 1> epilogues;

  /// None where the kernel is another one.
  static std::optional<BlockedStages>
  find(MutableArrayRef<ScheduledStage> stages);

  /// The contraction's levels outside of a packing, and of the epilogues. The
  /// last packing shares as many as the contraction says; one before it as many
  /// of these as it depends on.
  ArrayRef<LoopLevel> getPackingLevels(const ScheduledStage &packing) const;
  ArrayRef<LoopLevel> getEpilogueLevels() const;

  /// What is packed at a time, and the sums between two runs of the epilogues.
  /// They fail, with a diagnostic, where the schedules do not share the same
  /// blocks, or share too much.
  FailureOr<SharedBlock> buildPanel(const ScheduledStage &packing) const;
  FailureOr<EpilogueChain> buildChain() const;

  /// The epilogues inside of the blocks that they share with the contraction: a
  /// loop tree of its own.
  SmallVector<ScheduledStage, 1> getInside(const EpilogueChain &chain) const;

  LogicalResult verify() const;
};

/// Emits such a kernel.
class BlockedKernel {
public:
  /// Gives the buffers of a stage; fails with a diagnostic.
  using BindFn =
      llvm::function_ref<FailureOr<StageBindings>(const ScheduledStage &)>;

  BlockedKernel(OpBuilder &b, Location loc, BlockedStages stages)
      : b(b), loc(loc), stages(stages) {}

  /// Adds the buffers of what passes between the stages.
  LogicalResult bindBuffers(llvm::DenseMap<Value, Value> &buffers);
  /// Binds the stages; emits iterations [begin, end) of the parallel range.
  LogicalResult emit(Value begin, Value end, BindFn bind);

private:
  using Spans = ArrayRef<ContractionEmitter::Span>;

  LogicalResult bindEpilogues(llvm::DenseMap<Value, Value> &buffers);
  std::pair<Value, Value> getRange(const SharedBlock::Index &index,
                                   Spans spans);
  Value emitOrigin(const SharedBlock &block, Spans spans);
  void restrict(StageEmitter &emitter, const SharedBlock &block, Spans spans);
  void emitPacking(const ScheduledStage &scheduled, ArrayRef<LoopLevel> outer,
                   const SharedBlock &block, StageBindings bindings,
                   Spans spans);
  void emitEpilogues(Spans spans);

  OpBuilder &b;
  Location loc;
  BlockedStages stages;
  /// What each packing makes.
  SmallVector<SharedBlock, 2> panels;
  /// The epilogues, and inside of blocks their loops and what these know.
  std::optional<EpilogueChain> chain;
  SmallVector<ScheduledStage, 1> inside;
  SmallVector<StageBindings, 1> insideBindings;
  /// Sums have memory for a block, and do not lie in a result.
  bool hasSumsBuffer = false;
  /// Where the open block of them begins.
  Value sumsOrigin;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_BLOCKEDKERNEL_H
