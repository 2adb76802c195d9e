//===- ReshapeCanonicalization.cpp - Views after element-wise ops ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape commutes with element-wise ops. Reshapes are moved behind them, so
// that runs of element-wise ops stand on one iteration space and can be fused.
// A cast of halves to a wider type is left behind: what reads it converts what
// it reads, and memory between the two holds halves.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether all elements of `value` are one value that can be made in
/// any shape.
static bool isUniform(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return getSplatValue(constant.getValue()) != nullptr;
  auto reindex = value.getDefiningOp<ReindexOpInterface>();
  return reindex && reindex.getSource().getType().getRank() == 0 &&
         isInBounds(reindex);
}

/// `value`, for which `isUniform` holds, in another static shape.
static Value createUniform(OpBuilder &builder, Value value,
                           ArrayRef<int64_t> shape) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    TypedAttr splat = getSplatValue(constant.getValue());
    return ConstantOp::create(builder, loc, type,
                              cast<ElementsAttr>(getSplat(type, splat)));
  }
  auto reindex = value.getDefiningOp<ReindexOpInterface>();
  IndexAccess access;
  access.map = AffineMap::get(shape.size(), 0, {}, builder.getContext());
  access.fill = reindex.getIndexAccess().fill;
  return ReindexOp::create(builder, loc, type, reindex.getSource(), access);
}

/// Returns whether the op makes wider numbers of f16 or bf16.
static bool widensHalves(Operation *op) {
  auto convert = dyn_cast<CastOp>(op);
  if (!convert)
    return false;
  Type from = convert.getOperand().getType().getElementType();
  Type to = convert.getType().getElementType();
  return (from.isF16() || from.isBF16()) && (to.isF32() || to.isF64());
}

namespace {
// Pattern: elementwise (reshape (a), reshape (b), splat)
//   -> reshape (elementwise (a, b, splat)), for a and b of one shape
struct HoistElementwise : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto result = op->getNumResults() == 1
                      ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                      : RankedTensorType();
    if (!result)
      return rewriter.notifyMatchFailure(op, "not one tensor result");
    if (widensHalves(op))
      return rewriter.notifyMatchFailure(op, "makes wider numbers");

    std::optional<ArrayRef<int64_t>> shape;
    for (Value operand : op->getOperands()) {
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      if (!reshape) {
        if (!isUniform(operand))
          return rewriter.notifyMatchFailure(op, "reads no reshape or splat");
        continue;
      }
      RankedTensorType source = reshape.getSource().getType();
      if (!source.hasStaticShape() || !result.hasStaticShape())
        return rewriter.notifyMatchFailure(op, "dynamic shapes");
      if (shape && *shape != source.getShape())
        return rewriter.notifyMatchFailure(op, "reshapes of several shapes");
      shape = source.getShape();
    }
    if (!shape)
      return rewriter.notifyMatchFailure(op, "reads no reshape");

    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      mapping.map(operand, reshape ? Value(reshape.getSource())
                                   : createUniform(rewriter, operand, *shape));
    }
    Operation *hoisted = op->clone(mapping);
    hoisted->getResult(0).setType(result.clone(*shape));
    rewriter.insert(hoisted);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, hoisted->getResult(0),
                                           ValueRange());
    return success();
  }
};

// Pattern: reshape (reshape (x)) -> reshape (x)
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<ReshapeOp>();
    if (!inner || inner == op)
      return rewriter.notifyMatchFailure(op, "reads no reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getResult().getType(),
                                           inner.getSource(), op.getExtents());
    return success();
  }
};
} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<HoistElementwise, MergeReshapes>(context);
}
