//===- Conditions.h - Which iterations and lanes take part ---- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_CONDITIONS_H
#define METAOPS_CONVERSION_STAGEBODY_CONDITIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// Under which condition something is done: one for all lanes, and a mask of
/// lanes. Null holds always.
struct Condition {
  Value scalar, lanes;
};

/// Returns whether both hold, of two scalars or two masks; null holds always.
Value emitAnd(OpBuilder &b, Location loc, Value lhs, Value rhs);

/// Emits something under a condition; null holds always.
void emitIf(OpBuilder &b, Location loc, Value condition,
            llvm::function_ref<void()> emit);

/// A mask that is the same in all lanes.
Value emitConstantMask(OpBuilder &b, Location loc, bool value, int64_t lanes);

/// The first `number` lanes.
Value emitTailMask(OpBuilder &b, Location loc, Value number, int64_t lanes);

/// Which of `lanes` neighbouring values of a loop satisfy `check >= 0`, where
/// `first` is the check's value in lane 0 and `factor` its step from lane to
/// lane. One comparison of lane numbers, whatever the check.
Value emitLinearMask(OpBuilder &b, Location loc, Value first, int64_t factor,
                     int64_t lanes);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_CONDITIONS_H
