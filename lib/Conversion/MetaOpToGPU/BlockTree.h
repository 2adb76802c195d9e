//===- BlockTree.h - Stages in a tree of levels -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKTREE_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKTREE_H

#include "BlockStage.h"
#include "MetaOps/Conversion/StageBody/KernelFrame.h"

namespace mlir::metaop {

/// Blocks of the grid that the stages share; ShapedType::kDynamic if not known.
int64_t getGridSize(MutableArrayRef<GpuStage> stages);

/// Emits what a block does of all stages.
class BlockTree {
public:
  /// Gives the buffers of a stage; fails with a diagnostic.
  using BindFn = llvm::function_ref<FailureOr<StageBindings>(const Stage &)>;

  BlockTree(GpuFunction &function, MutableArrayRef<GpuStage> stages,
            const llvm::DenseMap<Value, Value> &buffers)
      : function(function), stages(stages), locals(function, stages, buffers) {}

  /// Emits the body at the insertion point. Fails, with a diagnostic, where
  /// values of a stage have no place.
  LogicalResult emit(BindFn bind);

private:
  LogicalResult createEmitters(BindFn bind);
  unsigned getNumOpened(unsigned stage) const;
  void openGrid();
  void emitRun(unsigned first, unsigned count, unsigned depth);
  void emitStage(unsigned stage, unsigned depth);
  void emitMeeting(Meeting meeting);

  GpuFunction &function;
  MutableArrayRef<GpuStage> stages;
  LocalValues locals;
  SmallVector<std::unique_ptr<ThreadLevels>> levels;
  SmallVector<std::unique_ptr<BlockStage>> emitters;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_BLOCKTREE_H
