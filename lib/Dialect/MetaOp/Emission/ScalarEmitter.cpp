//===- ScalarEmitter.cpp - Roundings and loops ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value that is rounded to a half is marked, if there are shorter ways to
// compute it in fewer digits (VectorToLLVM/ApproximateFunctions.cpp). That is
// decided here, where the operation's type is known: a conversion that is fused
// with a function of f32 looks the same later.
//
// A loop whose end depends on its values runs until the last lane has come to
// its end; lanes that have come to theirs change no more, which is up to the
// body.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::metaop;

Value ScalarEmitter::narrow(Value value, Type type) {
  if (value.getType() == type)
    return value;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<arith::DivFOp, math::ErfOp, math::Exp2Op, math::ExpOp,
                      math::Log2Op, math::LogOp, math::RsqrtOp, math::SqrtOp,
                      math::TanhOp>(op)) {
    auto function = cast<arith::ArithFastMathInterface>(op);
    op->setAttr(function.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(),
                                              arith::FastMathFlags::afn));
  }
  return create<arith::TruncFOp>(type, value);
}

SmallVector<Value> ScalarEmitter::loopWhileNonZero(ValueRange start,
                                                   unsigned counter,
                                                   LoopBody body) {
  auto isGoing = [&](OpBuilder &builder, Location loc, ValueRange state) {
    ScalarEmitter emit(builder, loc);
    Value value = state[counter];
    Value isNonZero = emit.compare(arith::CmpIPredicate::ne, value,
                                   emit.constant(value.getType(), 0));
    if (isa<VectorType>(value.getType()))
      isNonZero = emit.create<vector::ReductionOp>(vector::CombiningKind::OR,
                                                   isNonZero);
    scf::ConditionOp::create(builder, loc, isNonZero, state);
  };
  auto step = [&](OpBuilder &builder, Location loc, ValueRange state) {
    ScalarEmitter emit(builder, loc);
    scf::YieldOp::create(builder, loc, body(emit, state));
  };
  auto loop = scf::WhileOp::create(builder, loc, start.getTypes(), start,
                                   isGoing, step);
  return SmallVector<Value>(loop.getResults());
}
