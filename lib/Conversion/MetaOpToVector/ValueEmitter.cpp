//===- ValueEmitter.cpp - Values of a body, and conditions ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueEmitter.h"
#include "AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/MetaOpInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::metaop;

Value metaop::emitAnd(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::AndIOp::create(b, loc, lhs, rhs);
}

void metaop::emitIf(OpBuilder &b, Location loc, Value condition,
                    llvm::function_ref<void()> emit) {
  if (!condition) {
    emit();
    return;
  }
  auto ifOp = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  emit();
}

Value metaop::emitElementwise(OpBuilder &b, Location loc, Operation *op,
                              SmallVector<Value> operands, int64_t lanes) {
  if (llvm::any_of(operands, [](Value operand) {
        return isa<VectorType>(operand.getType());
      }))
    for (Value &operand : operands)
      operand = broadcastTo(b, loc, operand, lanes);
  return cast<ElementwiseOpInterface>(op).emitScalar(b, operands);
}
