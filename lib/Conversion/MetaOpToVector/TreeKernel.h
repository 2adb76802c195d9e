//===- TreeKernel.h - Stages in a tree of loops -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_TREEKERNEL_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_TREEKERNEL_H

#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"
#include "StageEmitter.h"

namespace mlir::metaop {

/// Emits a kernel of stages that are no contractions in blocks.
class TreeKernel {
public:
  /// Gives the buffers of a stage; fails with a diagnostic.
  using BindFn =
      llvm::function_ref<FailureOr<StageBindings>(const ScheduledStage &)>;

  /// Sets which loops are opened around each stage.
  TreeKernel(OpBuilder &b, Location loc,
             SmallVectorImpl<ScheduledStage> &stages);

  /// Binds the stages, and then emits them all: what `emit` does for a range.
  LogicalResult createEmitters(BindFn bind);
  void emitStages() { emitTree(stages, parallel); }
  /// Returns what emits the loops of a stage that is bound.
  StageEmitter &getEmitter(const ScheduledStage &scheduled) {
    return *emitters[&scheduled - stages.begin()];
  }

  /// Iterations of the parallel range; ShapedType::kDynamic if not known.
  int64_t getRange() const;
  /// Binds the stages; emits iterations [begin, end) of the parallel range.
  LogicalResult emit(Value begin, Value end, BindFn bind);

private:
  int64_t getStep(unsigned depth) const;
  void emitRange(Value begin, Value end);
  Value emitCount(unsigned depth, int64_t step);
  void emitTree(MutableArrayRef<ScheduledStage> run, unsigned depth);

  OpBuilder &b;
  Location loc;
  SmallVectorImpl<ScheduledStage> &stages;
  /// Emitters of the loops of each.
  std::vector<std::unique_ptr<StageEmitter>> emitters;
  /// Leading loops that are the parallel range.
  unsigned parallel = 0;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_TREEKERNEL_H
