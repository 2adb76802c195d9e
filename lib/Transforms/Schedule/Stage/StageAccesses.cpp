//===- StageAccesses.cpp - Shapes and places of a stage -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Step 1 of building a stage (see Stage.cpp): extents of values, symbols,
// and where reads and writes reach.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "StageBuilder.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Shapes and symbols
//===----------------------------------------------------------------------===//

AffineExpr StageBuilder::getSymbol(StageSymbol symbol) {
  for (auto [i, other] : llvm::enumerate(stage.symbols))
    if (other.kind == symbol.kind && other.value == symbol.value &&
        other.dim == symbol.dim)
      return getAffineSymbolExpr(i, ctx);
  stage.symbols.push_back(symbol);
  return getAffineSymbolExpr(stage.symbols.size() - 1, ctx);
}

/// The operand whose shape an op has that reads it in place, or null.
static Value getShapeSource(Operation *op) {
  if (isa<ElementwiseOpInterface, PrefixOp>(op) && op->getNumOperands())
    return op->getOperand(0);
  if (auto gather = dyn_cast<GatherOp>(op))
    return gather.getIndices().front();
  return nullptr;
}

SmallVector<AffineExpr> StageBuilder::getShape(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> shape;
  if (type.hasStaticShape()) {
    for (int64_t extent : type.getShape())
      shape.push_back(constant(extent));
    return shape;
  }
  Operation *def = value.getDefiningOp();
  if (def)
    if (Value source = getShapeSource(def))
      return getShape(source);
  // A dynamic extent is an index operand of the op that makes the value, the
  // extent of a kept dimension of a reduction, or that of an argument.
  SmallVector<Value> indices;
  if (def)
    for (Value operand : def->getOperands())
      if (operand.getType().isIndex())
        indices.push_back(operand);
  auto reduce = dyn_cast_or_null<ReindexReduceOpInterface>(def);
  auto reindex = dyn_cast_or_null<ReindexOpInterface>(def);
  unsigned next = 0;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      shape.push_back(constant(extent));
    } else if (!def) {
      shape.push_back(getSymbol(
          {StageSymbol::Kind::Extent, value, static_cast<unsigned>(dim)}));
    } else if (next < indices.size()) {
      shape.push_back(
          getSymbol({StageSymbol::Kind::Operand, indices[next++], 0}));
    } else if (reduce) {
      auto kept =
          cast<AffineDimExpr>(reduce.getIndexAccess().map.getResult(dim));
      shape.push_back(getShape(reduce.getSource())[kept.getPosition()]);
    } else if (auto pad = dyn_cast<PadOp>(def)) {
      shape.push_back(getShape(pad.getSource())[dim] + pad.getLow()[dim] +
                      pad.getHigh()[dim]);
    } else {
      // A transposition: of the reindexes with implied extents the other one.
      AffineMap map = reindex.getIndexAccess().map;
      unsigned source = *map.getResultPosition(getAffineDimExpr(dim, ctx));
      shape.push_back(getShape(reindex.getSource())[source]);
    }
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// Returns the expression in simplest terms.
AffineExpr StageBuilder::simplify(AffineExpr expr) {
  // The flat form of one term is that term.
  if (!isa<AffineBinaryOpExpr>(expr))
    return expr;
  return flattenExpr(expr, stage.extents.size(), stage.symbols.size());
}

bool StageBuilder::isProvablyNonNegative(AffineExpr expr) {
  SmallVector<int64_t> extents;
  for (unsigned loop = 0; loop < stage.extents.size(); ++loop)
    extents.push_back(stage.getStaticExtent(loop));
  // Nothing needs to be proven of no iterations; no interval describes them.
  if (llvm::is_contained(extents, 0))
    return true;
  IndexInterval interval = getInterval(expr, extents);
  return interval.lower && *interval.lower >= 0;
}

/// Returns whether the expression is extent(i) - 1 - i for a symbolic extent.
bool StageBuilder::isDistanceToEnd(AffineExpr expr) {
  for (auto [loop, extent] : llvm::enumerate(stage.extents))
    if (!isa<AffineConstantExpr>(extent) &&
        simplify(expr - (extent - 1 - getAffineDimExpr(loop, ctx))) ==
            constant(0))
      return true;
  return false;
}

void StageBuilder::addCheck(SmallVectorImpl<AffineExpr> &checks,
                            AffineExpr expr) {
  // Most are proven as they stand, which is cheap to see.
  if (isProvablyNonNegative(expr))
    return;
  expr = simplify(expr);
  if (!isProvablyNonNegative(expr) && !isDistanceToEnd(expr) &&
      !llvm::is_contained(checks, expr))
    checks.push_back(expr);
}

SmallVector<AffineExpr> StageBuilder::getStrides(ArrayRef<AffineExpr> shape,
                                                 RowsAttr rows) {
  SmallVector<AffineExpr> strides(shape.size());
  if (rows) {
    // Only static shapes have rows.
    auto extents = llvm::map_to_vector(shape, [](AffineExpr extent) {
      return cast<AffineConstantExpr>(extent).getValue();
    });
    for (auto [stride, value] :
         llvm::zip_equal(strides, *rows.getStrides(extents)))
      stride = constant(value);
    return strides;
  }
  AffineExpr stride = constant(1);
  for (unsigned dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride = stride * shape[dim];
  }
  return strides;
}

/// The rows in which what is read lies.
RowsAttr StageBuilder::getRows(Value source) {
  auto argument = dyn_cast<BlockArgument>(source);
  return argument ? stage.op.getRowsOfInput(argument.getArgNumber())
                  : RowsAttr();
}

/// Returns whether an index is a loop that is no longer than the dimension.
bool StageBuilder::isWithin(AffineExpr index, AffineExpr extent) {
  auto loop = dyn_cast<AffineDimExpr>(index);
  auto most = dyn_cast<AffineConstantExpr>(extent);
  if (!loop || !most)
    return false;
  int64_t iterations = stage.getStaticExtent(loop.getPosition());
  return !ShapedType::isDynamic(iterations) && iterations <= most.getValue();
}

/// Returns the element of some indices, in simplest terms.
AffineExpr StageBuilder::makeOffset(AffineMap map,
                                    ArrayRef<AffineExpr> strides) {
  LinearForm sum;
  sum.factors.resize(stage.extents.size());
  AffineExpr offset = constant(0);
  bool isLinear = true;
  for (auto [index, stride] : llvm::zip_equal(map.getResults(), strides)) {
    auto step = dyn_cast<AffineConstantExpr>(stride);
    isLinear = isLinear && step && sum.add(index, step.getValue());
    if (!isLinear)
      break;
  }
  if (isLinear)
    return sum.getExpr(ctx);
  for (auto [index, stride] : llvm::zip_equal(map.getResults(), strides))
    offset = offset + index * stride;
  return simplify(offset);
}

StagePlace StageBuilder::makePlace(AffineMap map, ArrayRef<AffineExpr> shape,
                                   ArrayRef<AffineExpr> strides) {
  StagePlace place;
  for (auto [index, extent] : llvm::zip_equal(map.getResults(), shape)) {
    if (isWithin(index, extent))
      continue;
    addCheck(place.rangeChecks, index);
    addCheck(place.rangeChecks, extent - 1 - index);
  }
  place.offset = makeOffset(map, strides);
  return place;
}

/// An expression of an access with the stage's own symbols, in simplest terms.
AffineExpr StageBuilder::withSymbols(AffineExpr expr,
                                     ArrayRef<AffineExpr> symbols) {
  return simplify(symbols.empty() ? expr : expr.replaceSymbols(symbols));
}

/// The symbols of an access as the stage's own.
SmallVector<AffineExpr> StageBuilder::getSymbols(Operation *op,
                                                 const IndexAccess &access) {
  auto kind = isa_and_nonnull<IndirectOpInterface>(op)
                  ? StageSymbol::Kind::Indirect
                  : StageSymbol::Kind::Scalar;
  return llvm::map_to_vector(access.symbols, [&](Value symbol) {
    return getSymbol({kind, symbol, 0});
  });
}

void StageBuilder::addRead(Value value, Value source,
                           const IndexAccess &access) {
  SmallVector<AffineExpr> symbols = getSymbols(value.getDefiningOp(), access);
  SmallVector<AffineExpr> results;
  for (AffineExpr result : access.map.getResults())
    results.push_back(withSymbols(result, symbols));
  StageRead read{value, source, {}, {}, access.fill};
  SmallVector<AffineExpr> shape = getShape(source);
  read.map =
      AffineMap::get(stage.extents.size(), stage.symbols.size(), results, ctx);
  read.place = makePlace(read.map, shape, getStrides(shape, getRows(source)));
  if (access.conditions != IntegerSet())
    for (unsigned i = 0; i < access.conditions.getNumConstraints(); ++i) {
      AffineExpr expr =
          withSymbols(access.conditions.getConstraint(i), symbols);
      addCheck(read.place.conditions, expr);
      if (access.conditions.isEq(i))
        addCheck(read.place.conditions, -expr);
    }
  stage.reads.push_back(std::move(read));
}

void StageBuilder::addWrite(unsigned result, Value yielded) {
  unsigned numLoops = stage.extents.size();
  StageWrite write;
  write.result = result;
  write.value = yielded;
  IndexAccess access;
  access.map = AffineMap::getMultiDimIdentityMap(numLoops, ctx);
  if (auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>()) {
    access = reduce.getIndexAccess();
    write.value = reduce.getSource();
    write.kind = reduce.getReduceKind();
  }
  if (auto scatter = yielded.getDefiningOp<ScatterOp>()) {
    access = scatter.getIndexAccess();
    write.value = scatter.getSource();
    write.kind = scatter.getReduceKind();
  }
  SmallVector<AffineExpr> symbols = getSymbols(yielded.getDefiningOp(), access);
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : access.map.getResults())
    results.push_back(withSymbols(expr, symbols));
  write.shape = getShape(yielded);
  write.map = AffineMap::get(numLoops, stage.symbols.size(), results, ctx);
  write.strides = getStrides(write.shape, stage.op.getRowsOfResult(result));
  write.place = makePlace(write.map, write.shape, write.strides);
  if (access.conditions != IntegerSet())
    for (unsigned i = 0; i < access.conditions.getNumConstraints(); ++i) {
      AffineExpr expr =
          withSymbols(access.conditions.getConstraint(i), symbols);
      addCheck(write.place.conditions, expr);
      if (access.conditions.isEq(i))
        addCheck(write.place.conditions, -expr);
    }
  stage.writes.push_back(std::move(write));
}
