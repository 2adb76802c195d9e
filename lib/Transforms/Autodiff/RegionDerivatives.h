//===- RegionDerivatives.h - Derivatives of control flow --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_REGIONDERIVATIVES_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_REGIONDERIVATIVES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::metaop {

struct DerivativeOptions;

/// Returns whether derivatives are known of an operation: of itself, or of what
/// is in its regions.
bool hasDerivatives(Operation *op);

/// Returns the values that an operation computes its results from: its operands
/// and captures.
SmallVector<Value> getInputs(Operation *op);

/// Copies the operations of a block to the builder's place, and returns what
/// becomes of the values that the block hands on.
SmallVector<Value> cloneBody(OpBuilder &builder, Block &block,
                             IRMapping &mapping, ValueRange handedOn);

/// Returns the results of a checkpoint that its derivatives read: those that
/// derivatives are by, and those that may be asked for later. Of other
/// operations there are none.
SmallVector<OpResult> findRead(Operation *op,
                               llvm::function_ref<bool(Value)> isTarget,
                               const DerivativeOptions &options);

/// Emits the gradients by some inputs of an operation with regions, given the
/// cotangents of its results. Null stands for zeros. The gradients take the
/// results in `read` for what the region makes, and may be by these, too.
SmallVector<Value> differentiateRegions(OpBuilder &builder, Operation *op,
                                        ArrayRef<Value> cotangents,
                                        ArrayRef<Value> inputs,
                                        int64_t savedBytes,
                                        ArrayRef<OpResult> read);

/// Emits the tangents of the results of an operation with regions; null for
/// those that are no floats. `getTangent` gives those of its inputs, or null;
/// of results in `read` what they move by beside that.
SmallVector<Value>
pushForwardRegions(OpBuilder &builder, Operation *op,
                   llvm::function_ref<Value(Value)> getTangent,
                   int64_t savedBytes, ArrayRef<OpResult> read);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_REGIONDERIVATIVES_H
