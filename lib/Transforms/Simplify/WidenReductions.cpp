//===- WidenReductions.cpp - Sums of half floats in f32 -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every reduction of f16 or bf16 that rounds and combines with memory, as sums
// and products do, is replaced by one in f32 between two casts. The first cast
// fuses with the reduction.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/WidenReductions.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_WIDENREDUCTIONSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether each element of the result is the whole of one line of the
/// source.
static bool isProjection(ReindexReduceOpInterface op) {
  AffineMap map = op.getIndexAccess().map;
  ArrayRef<int64_t> source = op.getSource().getType().getShape();
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  return map.isProjectedPermutation(/*allowZeroInResults=*/true) &&
         llvm::all_of(llvm::zip_equal(map.getResults(), result.getShape()),
                      [&](auto pair) {
                        auto [index, extent] = pair;
                        auto dim = dyn_cast<AffineDimExpr>(index);
                        return extent == (dim ? source[dim.getPosition()] : 1);
                      });
}

/// Returns whether partial results of the reduction are rounded to half floats.
static bool combinesHalves(ReindexReduceOpInterface op) {
  Type element = op.getSource().getType().getElementType();
  return roundsHalves(op.getReduceKind(), element) && !isProjection(op);
}

/// The same for a scatter, which always combines with what is in memory.
static bool combinesHalves(ScatterOp op) {
  Type element = op.getSource().getType().getElementType();
  return roundsHalves(op.getReduceKind(), element);
}

Value metaop::createWidened(OpBuilder &b, Location loc, Value halves) {
  auto type = cast<RankedTensorType>(halves.getType());
  return CastOp::create(b, loc, type.clone(b.getF32Type()), halves);
}

/// The source is operand 0 of all reductions.
void metaop::replaceByWide(Operation *reduction, Value source) {
  OpBuilder b(reduction);
  Value result = reduction->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  IRMapping mapping;
  mapping.map(reduction->getOperand(0), source);
  Value wide = b.clone(*reduction, mapping)->getResult(0);
  wide.setType(type.clone(b.getF32Type()));
  result.replaceAllUsesWith(CastOp::create(b, reduction->getLoc(), type, wide));
  reduction->erase();
}

namespace {
struct WidenReductionsPass
    : metaop::impl::WidenReductionsPassBase<WidenReductionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> reductions;
    getOperation().walk([&](Operation *op) {
      auto reduce = dyn_cast<ReindexReduceOpInterface>(op);
      auto scatter = dyn_cast<ScatterOp>(op);
      if ((reduce && combinesHalves(reduce)) ||
          (scatter && combinesHalves(scatter)))
        reductions.push_back(op);
    });
    for (Operation *reduction : reductions) {
      OpBuilder b(reduction);
      replaceByWide(reduction, createWidened(b, reduction->getLoc(),
                                             reduction->getOperand(0)));
    }
  }
};
} // namespace
