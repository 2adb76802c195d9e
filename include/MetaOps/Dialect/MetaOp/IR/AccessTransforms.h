//===- AccessTransforms.h - Rewriting index accesses ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_ACCESSTRANSFORMS_H
#define METAOPS_DIALECT_METAOP_IR_ACCESSTRANSFORMS_H

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/IndexAccess.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::metaop {

/// The values of the symbols of an access that are known, else nothing.
using ConstantSymbolFn =
    llvm::function_ref<std::optional<int64_t>(Value symbol)>;

/// The value of a 0-d integer tensor that a `metaop.constant` defines.
std::optional<int64_t> getConstantSymbol(Value symbol);

/// An access with the same meaning: known symbols are constants, equal symbols
/// one, unused symbols gone, expressions simple in the range of the dims, and
/// conditions that always hold, or follow from others, dropped.
IndexAccess simplifyAccess(const IndexAccess &access,
                           ArrayRef<int64_t> iterationExtents,
                           ArrayRef<int64_t> accessedExtents,
                           ConstantSymbolFn constantSymbol = getConstantSymbol);

/// The access of `reindex outer (reindex inner (x))` in one step, given what
/// the two need and the shapes of the result and of x. Fails where the guards
/// and the two fills cannot be put into one.
FailureOr<IndexAccess>
composeReindexes(const IndexAccess &outer, const AccessBounds &outerBounds,
                 const IndexAccess &inner, const AccessBounds &innerBounds,
                 ArrayRef<int64_t> iteration, ArrayRef<int64_t> source);

/// Returns the access of the reindex that reads, for each element of the result
/// of a reindex-reduce with `access`, the element written there, and `identity`
/// where there is none. Fails unless `access` writes each element at most once,
/// and each written index is a multiple of one dim plus an offset.
FailureOr<IndexAccess> invertAccess(const IndexAccess &access,
                                    ArrayRef<int64_t> iteration,
                                    TypedAttr identity);

/// Splits a write whose indices move in steps of 2 or more, such as
/// `2 * d0 + 4 * d1 + 1`, into one without steps, `d0 + 2 * d1`, to a tensor of
/// the shape that is returned, and the access `spread` that reads that tensor
/// for each element of `shape`, its fill left out. Fails, and leaves `access`
/// as it is, if there are no such indices.
FailureOr<llvm::SmallVector<int64_t>>
splitSteps(IndexAccess &access, llvm::ArrayRef<int64_t> iteration,
           llvm::ArrayRef<int64_t> shape, IndexAccess &spread);

/// Which dimension of `from` each dimension of `to` is, where two static shapes
/// differ by dimensions of extent 1 only; -1 for those of extent 1. Fails for
/// other shapes.
FailureOr<SmallVector<int64_t>> matchUnitDims(ArrayRef<int64_t> from,
                                              ArrayRef<int64_t> to);

/// Returns whether result k of `map` is dim k, or 0 where that dim has extent
/// 1.
bool isIdentityOver(AffineMap map, ArrayRef<int64_t> iterationExtents);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_ACCESSTRANSFORMS_H
