//===- Conditions.cpp - Which iterations and lanes take part --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A condition that is the same in all lanes is a scalar, under which a branch
// stands; one that tells lanes apart is a mask. Most of these are linear in the
// lane: then they hold from some lane on, or up to one, and comparing the
// lanes' numbers with that one is enough.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

Value metaop::emitConstantMask(OpBuilder &b, Location loc, bool value,
                               int64_t lanes) {
  auto type = VectorType::get(lanes, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

Value metaop::emitTailMask(OpBuilder &b, Location loc, Value number,
                           int64_t lanes) {
  return vector::CreateMaskOp::create(
      b, loc, VectorType::get(lanes, b.getI1Type()), ValueRange{number});
}

Value metaop::emitLinearMask(OpBuilder &b, Location loc, Value first,
                             int64_t factor, int64_t lanes) {
  // first + factor * lane >= 0 bounds the lane number from below (factor > 0)
  // or from above (factor < 0).
  bool isLower = factor > 0;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value bound =
      isLower ? arith::SubIOp::create(b, loc, zero, first).getResult() : first;
  if (std::abs(factor) != 1) {
    Value divisor = arith::ConstantIndexOp::create(b, loc, std::abs(factor));
    bound =
        isLower
            ? arith::CeilDivSIOp::create(b, loc, bound, divisor).getResult()
            : arith::FloorDivSIOp::create(b, loc, bound, divisor).getResult();
  }
  // Lane numbers are compared in 32 bits: clamp first.
  Value low = arith::ConstantIndexOp::create(b, loc, isLower ? 0 : -1);
  Value high = arith::ConstantIndexOp::create(b, loc, lanes);
  bound = arith::MaxSIOp::create(b, loc, bound, low);
  bound = arith::MinSIOp::create(b, loc, bound, high);
  bound = arith::IndexCastOp::create(b, loc, b.getI32Type(), bound);
  SmallVector<int32_t> numbers(lanes);
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers[lane] = lane;
  auto type = VectorType::get(lanes, b.getI32Type());
  Value lane = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(numbers)));
  Value bounds = vector::BroadcastOp::create(b, loc, type, bound);
  return arith::CmpIOp::create(
      b, loc, isLower ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
      lane, bounds);
}
