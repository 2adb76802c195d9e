//===- SiblingResults.h - Results that are made of each other ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of an operation with regions are beside each other, though a
// region may have made one of another one. A derivative by a result then misses
// what flows inside.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_SIBLINGRESULTS_H
#define METAOPS_TRANSFORMS_AUTODIFF_SIBLINGRESULTS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::metaop {

/// Returns the value in a checkpoint that becomes a result; null where that is
/// one from outside.
Value getValueInside(OpResult result);

/// Returns those results of an operation that its regions make of `result`, as
/// far as derivatives flow. Rows of a loop are apart from what its trips make.
SmallVector<OpResult> findMadeOf(OpResult result);

/// Returns those results of an operation that are made of others of it which
/// are in `values`.
SmallVector<OpResult> findMadeOf(Operation *op,
                                 const llvm::DenseSet<Value> &values);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_SIBLINGRESULTS_H
