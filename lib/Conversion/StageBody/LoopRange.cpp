//===- LoopRange.cpp - A part of a loop -----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::metaop;

LoopRange metaop::splitOff(OpBuilder &b, Location loc, LoopRange &range,
                           int64_t step) {
  LoopRange prefix = range;
  if (range.extent) {
    int64_t covered = *range.extent / step * step;
    prefix.extent = covered;
    Value length = arith::ConstantIndexOp::create(b, loc, covered);
    prefix.end = arith::AddIOp::create(b, loc, range.begin, length,
                                       arith::IntegerOverflowFlags::nsw);
    range.extent = *range.extent - covered;
  } else {
    Value length = arith::SubIOp::create(b, loc, range.end, range.begin);
    Value size = arith::ConstantIndexOp::create(b, loc, step);
    Value rest = arith::RemSIOp::create(b, loc, length, size);
    prefix.end = arith::SubIOp::create(b, loc, range.end, rest);
  }
  range.begin = prefix.end;
  return prefix;
}

void metaop::disableUnrolling(scf::ForOp loop) {
  MLIRContext *ctx = loop.getContext();
  auto yes = BoolAttr::get(ctx, true);
  auto unroll =
      LLVM::LoopUnrollAttr::get(ctx, /*disable=*/yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       ctx, {}, {}, {}, unroll, {}, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}));
}

void metaop::emitFor(OpBuilder &b, Location loc, const LoopRange &range,
                     Value step, llvm::function_ref<void(Value)> emit) {
  emitFor(b, loc, range, step, {}, [&](Value variable, ValueRange) {
    emit(variable);
    return SmallVector<Value>();
  });
}

SmallVector<Value> metaop::emitFor(
    OpBuilder &b, Location loc, const LoopRange &range, Value step,
    ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> emit) {
  auto loop = scf::ForOp::create(b, loc, range.begin, range.end, step, carried);
  if (!range.mayUnroll)
    disableUnrolling(loop);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      emit(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop that carries nothing has its terminator.
  if (!carried.empty())
    scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}
