//===- PtxArithmetic.cpp - Arithmetic with instructions of PTX ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The quotient is Markstein's (Muller et al., Handbook of Floating-Point
// Arithmetic, on division by Newton-Raphson iterations): 1 / b of the special
// function unit has one more step of Newton's method, and what a quotient by it
// leaves of a, which is exact, is divided as well, twice.
//
//===----------------------------------------------------------------------===//

#include "PtxArithmetic.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using metaop::PtxArithmetic;

Value PtxArithmetic::normalQuotient(Value a, Value b) {
  Value minusB = negate(b);
  Value inverse = reciprocal(b);
  inverse = fma(fma(minusB, inverse, constant(1.0)), inverse, inverse);
  Value result = mul(a, inverse);
  for (int step = 0; step < 2; ++step)
    result = fma(fma(minusB, result, a), inverse, result);
  return result;
}

Value PtxArithmetic::call(StringRef intrinsic, ValueRange operands) {
  Type type = operands.front().getType();
  auto emit = [&](ValueRange lanes) {
    return LLVM::CallIntrinsicOp::create(
               builder, loc, getElementTypeOrSelf(type),
               builder.getStringAttr(intrinsic), lanes)
        .getResult(0);
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return emit(operands);
  SmallVector<SmallVector<Value>> elements;
  for (Value operand : operands)
    elements.emplace_back(
        vector::ToElementsOp::create(builder, loc, operand).getResults());
  SmallVector<Value> results;
  for (int64_t lane : llvm::seq(vector.getNumElements()))
    results.push_back(emit(llvm::map_to_vector(
        elements, [&](const SmallVector<Value> &each) { return each[lane]; })));
  return vector::FromElementsOp::create(builder, loc, vector, results);
}
