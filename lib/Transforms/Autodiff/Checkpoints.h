//===- Checkpoints.h - What is computed again for a gradient ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_CHECKPOINTS_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_CHECKPOINTS_H

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::metaop {

/// Emits a barrier in front of the gradient of a checkpoint, and maps what this
/// reads to its results: inputs, results in `read`, and cotangents.
BarrierOp emitBarrier(OpBuilder &builder, scf::ExecuteRegionOp checkpoint,
                      ArrayRef<Value> cotangents, ArrayRef<OpResult> read,
                      IRMapping &mapping);

/// Replaces the barrier by one of what the gradient reads and waits for, if it
/// reads any input.
void tightenBarrier(OpBuilder &builder, BarrierOp barrier,
                    ArrayRef<Value> cotangents, scf::ExecuteRegionOp gradient);

/// Results of a checkpoint that derivatives read instead of making them again.
/// While derivatives are emitted, a copy of what is made stands for each, so
/// that they go on from there.
class StandIns {
public:
  /// Results that are mapped become what they are mapped to.
  StandIns(OpBuilder &builder, IRMapping &mapping, ArrayRef<OpResult> read);

  /// Copies the operations of a block to the builder's place, and returns what
  /// becomes of the values that it yields.
  SmallVector<Value> cloneBody(Block &block);
  /// Returns what stands for a result, or what any other value is mapped to.
  Value operator[](Value value) const;
  /// Returns whether a value stands for a result.
  bool contains(Value value) const {
    return llvm::any_of(copies,
                        [&](const auto &copy) { return copy.second == value; });
  }
  /// Has all that has been emitted, and the values, read the results.
  void replace(MutableArrayRef<Value> values);

private:
  OpBuilder &builder;
  IRMapping &mapping;
  ArrayRef<OpResult> read;
  /// By the value that the block makes, which may be several results.
  llvm::SmallMapVector<Value, Value, 2> copies;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_CHECKPOINTS_H
