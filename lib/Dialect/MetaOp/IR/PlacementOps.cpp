//===- PlacementOps.cpp - Tensors put into others -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In canonical form nothing is computed: an insert that combines becomes a
// slice of the destination, an element-wise op, which fuse, and an insert that
// overwrites.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

/// Adds the part's extents to `shape`: along `dim` they add up, all others
/// agree. Says what does not fit.
static LogicalResult extendShape(std::optional<Location> loc,
                                 SmallVectorImpl<int64_t> &shape,
                                 ArrayRef<int64_t> part, unsigned number,
                                 int64_t dim) {
  for (auto [k, extent] : llvm::enumerate(part)) {
    int64_t &sum = shape[k];
    if (static_cast<int64_t>(k) == dim) {
      if (ShapedType::isDynamic(sum) || ShapedType::isDynamic(extent)) {
        sum = ShapedType::kDynamic;
        continue;
      }
      // (C5)
      std::optional<int64_t> total = llvm::checkedAdd(sum, extent);
      if (!total)
        return emitOptionalError(loc, "expects extents along dimension ", dim,
                                 " that add up to less than 2^63");
      sum = *total;
      continue;
    }
    // (C4)
    if (failed(verifyCompatibleShape({sum}, {extent})))
      return emitOptionalError(
          loc, "expects parts that differ along dimension ", dim,
          " only, given extents ", sum, " and ", extent, " of dimension ", k,
          " in part ", number);
    if (ShapedType::isDynamic(sum))
      sum = extent;
  }
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferredReturnTypes) {
  Adaptor adaptor(operands, attributes, properties, regions);
  // (C1)
  if (adaptor.getParts().empty())
    return emitOptionalError(location, "expects a part");
  auto first = dyn_cast<RankedTensorType>(adaptor.getParts()[0].getType());
  if (!first || !adaptor.getDimAttr())
    return failure();
  // (C3)
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(location, "expects `dim` to lie in [0, ",
                             first.getRank(), "), given ", dim);
  SmallVector<int64_t> shape(first.getShape());
  for (auto [number, part] : llvm::enumerate(adaptor.getParts().drop_front())) {
    auto type = dyn_cast<RankedTensorType>(part.getType());
    if (!type)
      return failure();
    // (C2)
    if (type.getRank() != first.getRank() ||
        type.getElementType() != first.getElementType())
      return emitOptionalError(
          location, "expects parts of one rank and one element type, given ",
          first, " and ", type);
    if (failed(extendShape(location, shape, type.getShape(), number + 1, dim)))
      return failure();
  }
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, first.getElementType()));
  return success();
}

// Inferring the result's type verifies (C1) to (C5).
LogicalResult ConcatOp::verify() { return success(); }

SmallVector<Placement> ConcatOp::getPlacements() {
  SmallVector<Placement> placements;
  int64_t begin = 0;
  for (auto [number, part] : llvm::enumerate(getParts())) {
    Placement &placement = placements.emplace_back();
    placement.operand = number;
    placement.starts.assign(getTensorType(part).getRank(), 0);
    placement.starts[getDim()] = begin;
    begin += getTensorType(part).getDimSize(getDim());
  }
  return placements;
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  // In a graph region an op may read itself.
  if (getParts().size() == 1 && getParts()[0] != getResult() &&
      getParts()[0].getType() == getType())
    return getParts()[0];
  TypedAttr splat = getSplatValue(adaptor.getParts().front());
  if (splat && llvm::all_of(adaptor.getParts(), [&](Attribute part) {
        return getSplatValue(part) == splat;
      }))
    return getSplat(getType(), splat);
  return {};
}

namespace {
// Pattern: concat a, empty, b -> concat a, b
//          concat a, (concat b, c) -> concat a, b, c
struct FlattenConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value part : op.getParts()) {
      auto inner = part.getDefiningOp<ConcatOp>();
      if (inner && inner != op && inner.getDim() == op.getDim() &&
          inner->hasOneUse() && inner->getBlock() == op->getBlock())
        parts.append(inner.getParts().begin(), inner.getParts().end());
      else if (getTensorType(part).getDimSize(op.getDim()) != 0)
        parts.push_back(part);
    }
    if (parts.empty())
      parts.push_back(op.getParts().front());
    if (parts.size() == op.getParts().size() &&
        llvm::equal(parts, op.getParts()))
      return rewriter.notifyMatchFailure(op, "no part is empty or nested");
    auto flat = ConcatOp::create(rewriter, op.getLoc(), parts, op.getDim());
    if (flat.getType() != op.getType()) {
      rewriter.eraseOp(flat);
      return rewriter.notifyMatchFailure(op, "an extent is known otherwise");
    }
    rewriter.replaceOp(op, flat);
    return success();
  }
};
} // namespace

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<FlattenConcat>(context);
}

//===----------------------------------------------------------------------===//
// InsertOp
//===----------------------------------------------------------------------===//

LogicalResult InsertOp::verify() {
  RankedTensorType part = getPart().getType(), dest = getDest().getType();
  // (C1)
  if (static_cast<int64_t>(getStarts().size()) != dest.getRank())
    return emitOpError() << "expects one start for each of the "
                         << dest.getRank()
                         << " dimensions of the destination, given "
                         << getStarts().size();
  // (C2)
  if (part.getRank() != dest.getRank())
    return emitOpError() << "expects the part to have rank " << dest.getRank()
                         << " as the destination, given " << part.getRank();
  if (failed(verifySameElementType(*this, part, dest)))
    return failure();
  // (C3)
  for (int64_t dim = 0; dim < dest.getRank(); ++dim) {
    int64_t extent = part.getDimSize(dim), room = dest.getDimSize(dim);
    if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(room) &&
        extent > room)
      return emitOpError() << "expects dimension " << dim
                           << " of the part to have an extent of at most "
                           << room << ", given " << extent;
  }
  // (C4)
  return verifyCombiner(*this, CombinerUse::Insertion, getKind(),
                        dest.getElementType());
}

SmallVector<Placement> InsertOp::getPlacements() {
  SmallVector<int64_t> zeros(getDest().getType().getRank(), 0);
  unsigned part = 0, dest = 1;
  return {{dest, zeros, {}}, {part, zeros, llvm::to_vector(getStarts())}};
}

OpFoldResult InsertOp::fold(FoldAdaptor) {
  if (llvm::is_contained(getPart().getType().getShape(), 0) &&
      getDest() != getResult())
    return getDest();
  return {};
}

/// The window of `tensor` that the part lies in.
static Value emitWindow(TensorEmitter &emit, InsertOp op, Value tensor) {
  SmallVector<int64_t> strides(op.getStarts().size(), 1);
  return emit.create<SliceOp>(op.getPart().getType(), tensor, op.getStarts(),
                              emit.extents(op.getPart()), strides);
}

/// Returns what a part leaves in its window.
static Value combineWindow(TensorEmitter &emit, Combiner kind, Value window,
                           Value part) {
  if (kind == Combiner::None)
    return part;
  return getCombinerInfo(kind).emitTensors(emit, window, part);
}

namespace {
// Pattern: insert add p into d[s] -> insert none (slice d[s] + p) into d[s]
struct ExpandInsert : OpRewritePattern<InsertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(InsertOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getKind() == Combiner::None)
      return rewriter.notifyMatchFailure(op, "it combines nothing");
    TensorEmitter emit(rewriter, op.getLoc());
    Value window = emitWindow(emit, op, op.getDest());
    Value combined = combineWindow(emit, op.getKind(), window, op.getPart());
    rewriter.replaceOpWithNewOp<InsertOp>(op, Combiner::None, combined,
                                          op.getDest(), op.getStarts());
    return success();
  }
};
} // namespace

void InsertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<ExpandInsert>(context);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

using Products = SmallVector<Value>;

Products ConcatOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products result(getNumOperands());
  if (!isFloatTensor(getResult()) || !getType().hasStaticShape())
    return result;
  TensorEmitter emit(builder, getLoc());
  auto emitNumber = [&](int64_t number) {
    auto type = RankedTensorType::get({}, builder.getI64Type());
    return emit.create<ConstantOp>(
        type, DenseElementsAttr::get(type, ArrayRef<int64_t>(number)));
  };
  Value zero = emitNumber(0);
  SmallVector<int64_t> strides(getType().getRank(), 1);
  for (const Placement &placement : getPlacements()) {
    SmallVector<Value> starts(strides.size(), zero);
    if (int64_t begin = placement.starts[getDim()])
      starts[getDim()] = emitNumber(begin);
    Value part = getOperand(placement.operand);
    result[placement.operand] = emit.create<SliceOp>(
        part.getType(), cotangents[0], starts, ValueRange(), strides);
  }
  return result;
}

/// The tangents of operands, zeros where there is none.
static Products withZeros(TensorEmitter &emit, OperandRange operands,
                          ArrayRef<Value> tangents) {
  Products filled;
  for (auto [operand, tangent] : llvm::zip(operands, tangents))
    filled.push_back(tangent ? tangent : emit.splat(operand, 0.0));
  return filled;
}

Products ConcatOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  return {emit.create<ConcatOp>(
      getType(), withZeros(emit, getOperands(), tangents), getDim())};
}

Products InsertOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  Products result(getNumOperands());
  if (!isFloatTensor(getResult()))
    return result;
  Value &toPart = result[0], &toDest = result[1];
  TensorEmitter emit(builder, getLoc());
  toPart = emitWindow(emit, *this, cotangents[0]);
  if (getKind() == Combiner::Add) {
    toDest = cotangents[0];
    return result;
  }
  Value toWindow = emit.splat(toPart, 0.0);
  if (getKind() != Combiner::None) {
    Value combined = combineWindow(
        emit, getKind(), emitWindow(emit, *this, getDest()), getPart());
    auto op = cast<DifferentiableOpInterface>(combined.getDefiningOp());
    Products toBoth = op.vjp(builder, toPart);
    toWindow = toBoth[0];
    toPart = toBoth[1];
  }
  toDest = emit.create<InsertOp>(Combiner::None, toWindow, cotangents[0],
                                 getStarts());
  return result;
}

/// Returns the tangent of the combined window, inserted, where parts are
/// combined.
Products InsertOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  TensorEmitter emit(builder, getLoc());
  Products both =
      withZeros(emit, getOperands().take_front(2), tangents.take_front(2));
  Value part = both[0], dest = both[1];
  Combiner kind = getKind();
  if (kind != Combiner::None && kind != Combiner::Add) {
    Value combined = combineWindow(
        emit, kind, emitWindow(emit, *this, getDest()), getPart());
    auto op = cast<DifferentiableOpInterface>(combined.getDefiningOp());
    part = op.jvp(builder, {emitWindow(emit, *this, dest), part}).front();
    kind = Combiner::None;
  }
  return {emit.create<InsertOp>(kind, part, dest, getStarts())};
}
