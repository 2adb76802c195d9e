//===- ValueEmitter.h - Values of a body, and conditions --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_VALUEEMITTER_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_VALUEEMITTER_H

#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// Whether both hold, where null holds always.
Value emitAnd(OpBuilder &b, Location loc, Value lhs, Value rhs);

/// Emits something under a condition; null holds always.
void emitIf(OpBuilder &b, Location loc, Value condition,
            llvm::function_ref<void()> emit);

/// The value of an element-wise operation of a stage's body, from scalars and
/// vectors of `lanes`: a vector if any operand is one.
Value emitElementwise(OpBuilder &b, Location loc, Operation *op,
                      SmallVector<Value> operands, int64_t lanes);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_VALUEEMITTER_H
