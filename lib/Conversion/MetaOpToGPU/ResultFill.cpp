//===- ResultFill.cpp - What atomic results start from --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread of the grid sets one element, and then those a grid further on. A
// result that lies in rows that are apart is numbered as if they were not.
//
//===----------------------------------------------------------------------===//

#include "ResultFill.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// More blocks than any GPU runs at a time only wait.
static constexpr int64_t kMaxFillBlocks = 4096;

int64_t metaop::getFillGrid(ArrayRef<FilledResult> results) {
  int64_t blocks = 1;
  for (const FilledResult &result : results) {
    auto type = cast<RankedTensorType>(
        result.stage->op->getResult(result.write->result).getType());
    int64_t wanted = kMaxFillBlocks;
    if (type.hasStaticShape())
      wanted = llvm::divideCeil(type.getNumElements(), kFillThreads);
    blocks = std::max(blocks, wanted);
  }
  return std::min(blocks, kMaxFillBlocks);
}

/// Returns whether the elements follow each other in memory.
static bool isContiguous(const StageWrite &write) {
  AffineExpr stride = getAffineConstantExpr(1, write.place.offset.getContext());
  for (auto [extent, found] :
       llvm::reverse(llvm::zip_equal(write.shape, write.strides))) {
    if (found != stride && extent != 1)
      return false;
    stride = stride * extent;
  }
  return true;
}

/// The place of an element by its number.
static Value emitPlace(GpuFunction &function, const StageWrite &write,
                       ArrayRef<Value> symbols, Value number) {
  if (isContiguous(write))
    return number;
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  Value place = function.emitIndex(0);
  for (auto [extent, stride] :
       llvm::reverse(llvm::zip_equal(write.shape, write.strides))) {
    Value count = emitAffine(b, loc, extent, {}, symbols);
    Value at = function.emitCoordinate(number, Value(), count);
    number = function.emitCoordinate(number, count, Value());
    at = arith::MulIOp::create(b, loc, at,
                               emitAffine(b, loc, stride, {}, symbols));
    place = arith::AddIOp::create(b, loc, place, at);
  }
  return place;
}

void metaop::emitForElements(GpuFunction &function, const StageWrite &write,
                             ArrayRef<Value> symbols,
                             llvm::function_ref<void(Value place)> emit) {
  AffineExpr count = getAffineConstantExpr(1, write.place.offset.getContext());
  for (AffineExpr extent : write.shape)
    count = count * extent;
  Value number =
      emitAffine(function.getBuilder(), function.getLoc(), count, {}, symbols);
  function.emitGridLoop(
      number, [&](Value at) { emit(emitPlace(function, write, symbols, at)); });
}

void metaop::emitResultFill(GpuFunction &function, const FilledResult &result,
                            const StageBindings &bindings) {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  const StageWrite &write = *result.write;
  Type element =
      getElementTypeOrSelf(result.stage->op->getResult(write.result).getType());
  Reduction reduction(*write.kind, element);
  Value identity =
      reduction.emitNarrow(b, loc, reduction.emitIdentity(b, loc, /*lanes=*/1));
  identity = toMemoryType(b, loc, identity, element);
  emitForElements(function, write, bindings.symbols, [&](Value place) {
    memref::StoreOp::create(b, loc, identity, bindings.results[write.result],
                            place);
  });
}
