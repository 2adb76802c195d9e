//===- BlockedKernel.h - Contractions and what is around them ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_BLOCKEDKERNEL_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_BLOCKEDKERNEL_H

#include "ContractionEmitter.h"
#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "StageEmitter.h"

namespace mlir::metaop {

/// Emits a contraction in blocks, with the stages around it.
class BlockedKernel {
public:
  /// Gives the buffers of a stage; fails with a diagnostic.
  using BindFn =
      llvm::function_ref<FailureOr<StageBindings>(const ScheduledStage &)>;

  BlockedKernel(OpBuilder &b, Location loc, BlockedStages stages)
      : b(b), loc(loc), stages(stages) {}

  /// Adds the buffers of what passes between the stages.
  void bindBuffers(llvm::DenseMap<Value, Value> &buffers);
  /// Binds the stages; emits iterations [begin, end) of the parallel range.
  LogicalResult emit(Value begin, Value end, BindFn bind);

private:
  using Spans = ArrayRef<ContractionEmitter::Span>;

  void bindEpilogues(llvm::DenseMap<Value, Value> &buffers);
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
  /// The block that each packing makes.
  SmallVector<SharedBlock, 2> panels;
  /// The epilogues, and inside of blocks their loops and what these know.
  std::optional<EpilogueChain> chain;
  SmallVector<ScheduledStage, 1> inside;
  SmallVector<StageBindings, 1> insideBindings;
  /// Sums have memory for a block, and do not lie in a result.
  bool hasSumsBuffer = false;
  /// The element at which the open block of them begins.
  Value sumsOrigin;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_BLOCKEDKERNEL_H
