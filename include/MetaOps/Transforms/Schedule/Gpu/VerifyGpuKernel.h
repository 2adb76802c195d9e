//===- VerifyGpuKernel.h - What a GPU can be asked to do --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H

#include "MetaOps/Transforms/Schedule/Gpu/Chip.h"
#include "MetaOps/Transforms/Schedule/Stage.h"

namespace mlir::metaop {

/// A stage of a kernel, and its place in the tree of levels.
struct GpuStage {
  Stage stage;
  ScheduleAttr schedule;
};

/// On a kernel: floats that threads of the whole grid add to one element are
/// added as they come, in an order that may be another in each run.
inline constexpr llvm::StringLiteral kFloatAtomicsAttr = "metaop.float_atomics";

/// Whether threads of the whole grid combine what they have of a result in
/// memory: iterations reach its elements in no order that is known.
inline bool isAtomic(const StageWrite &write) {
  return write.kind && !write.isProjection;
}

/// The value that an argument of a stage's region is: of its kernel, or of what
/// is to become one.
using FindSourceFn = llvm::function_ref<Value(const Stage &, Value argument)>;
Value findSourceInKernel(const Stage &stage, Value argument);

/// Whether the level at this depth is that of the blocks of a cluster.
bool isOfCluster(ScheduleAttr schedule, unsigned depth);

/// The innermost of the shared levels that numbers an index: a grid's, or a
/// loop; none if none does.
std::optional<unsigned> getSharedLevel(AffineExpr index, const GpuStage &each,
                                       unsigned numShared);

/// The elements that a block's memory has room for where a result needs so
/// many: lengths that are near to each other have the same code.
int64_t roundLocalSize(int64_t elements, int64_t elementBytes);

/// What a block takes of a multiprocessor, about: before code is made of it.
struct GpuResources {
  int64_t threads = 1;
  /// Shared memory: staged reads, results that live there, and what warps
  /// exchange of sums.
  int64_t sharedBytes = 0;
  /// Of a thread.
  int64_t registers = 0;

  static GpuResources estimate(ArrayRef<GpuStage> stages,
                               FindSourceFn find = findSourceInKernel);
  /// Blocks that a multiprocessor holds at a time.
  int64_t countBlocks(const Chip &chip) const;
  /// The part of the threads of a multiprocessor that these blocks have.
  double getOccupancy(const Chip &chip) const;
};

/// Whether the threads that have computed an element of a result are those that
/// read it, in registers.
bool staysInThread(const GpuStage &writer, const StageWrite &write,
                   const GpuStage &reader, const StageRead &read);

/// Whether blocks read of a result what they have computed themselves, and not
/// other blocks of their cluster. Both stages share all levels of the grid.
bool staysInBlock(const GpuStage &writer, const StageWrite &write,
                  const GpuStage &reader, const StageRead &read);

/// Whether the blocks of a cluster combine a result: one of them stores it.
bool isSumOfCluster(const GpuStage &each, const StageWrite &write);

/// Whether a read numbers an element by the same dimensions of the tensor as
/// the write does: along others, with which these are collapsed, both have 0.
bool hasSameForm(const StageWrite &write, const StageRead &read);

/// Fails, with a diagnostic that names the constraint, where the schedules of a
/// kernel's stages ask for what the chip has not, or for something else than
/// the stages one after another.
LogicalResult verifyGpuKernel(ArrayRef<GpuStage> stages, const Chip &chip);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_VERIFYGPUKERNEL_H
