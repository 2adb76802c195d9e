//===- SpaceRewriter.cpp - A stage over another space ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/SpaceRewriter.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"

using namespace mlir;
using namespace mlir::metaop;

void metaop::addConditions(IndexAccess &access,
                           ArrayRef<AffineExpr> conditions) {
  if (conditions.empty())
    return;
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> isEq;
  if (access.conditions != IntegerSet()) {
    llvm::append_range(constraints, access.conditions.getConstraints());
    llvm::append_range(isEq, access.conditions.getEqFlags());
  }
  llvm::append_range(constraints, conditions);
  isEq.resize(constraints.size(), false);
  access.conditions = IntegerSet::get(
      access.map.getNumDims(), access.map.getNumSymbols(), constraints, isEq);
}

SpaceRewriter::SpaceRewriter(OpBuilder &b, FusedOp fused,
                             const SpaceChange &change, ValueRange arguments)
    : b(b), fused(fused), change(change) {
  mapping.map(fused.getBody().getArguments(), arguments);
}

bool SpaceRewriter::isSupported(FusedOp fused) {
  return llvm::all_of(
      fused.getBody().front().without_terminator(), [](Operation &op) {
        auto constantOp = dyn_cast<ConstantOp>(op);
        return llvm::all_of(
                   op.getResultTypes(),
                   [](Type type) {
                     return cast<RankedTensorType>(type).hasStaticShape();
                   }) &&
               (isa<ReindexOpInterface, ReindexReduceOpInterface,
                    ElementwiseOpInterface, RandomOp, IotaOp>(op) ||
                (constantOp && isa<SplatElementsAttr>(constantOp.getValue())));
      });
}

IndexAccess SpaceRewriter::compose(IndexAccess access) const {
  MLIRContext *ctx = b.getContext();
  // The symbols of the map between the spaces follow those of the access.
  unsigned numDims = change.space.size(), own = access.map.getNumSymbols();
  unsigned numSymbols = own + change.symbols.size();
  auto oldDims = llvm::map_to_vector(change.oldDims, [&](AffineExpr dim) {
    return dim.shiftSymbols(change.symbols.size(), own);
  });
  SmallVector<AffineExpr> results, constraints;
  for (AffineExpr expr : access.map.getResults())
    results.push_back(
        flattenExpr(expr.replaceDims(oldDims), numDims, numSymbols));
  access.map = AffineMap::get(numDims, numSymbols, results, ctx);
  if (access.conditions != IntegerSet()) {
    for (AffineExpr expr : access.conditions.getConstraints())
      constraints.push_back(expr.replaceDims(oldDims));
    access.conditions = IntegerSet::get(numDims, numSymbols, constraints,
                                        access.conditions.getEqFlags());
  }
  llvm::append_range(access.symbols, change.symbols);
  for (Value &symbol : access.symbols)
    symbol = mapping.lookup(symbol);
  return access;
}

Value SpaceRewriter::read(Location loc, Value source, Type type,
                          IndexAccess access) {
  if (!access.fill)
    access.fill = b.getZeroAttr(getElementTypeOrSelf(type));
  return ReindexOp::create(b, loc, getType(type), mapping.lookup(source),
                           compose(std::move(access)));
}

/// An argument that is read as it lies is read through the map between the
/// spaces.
Value SpaceRewriter::lookUp(Value value) {
  if (!isa<BlockArgument>(value))
    return mapping.lookup(value);
  Value &read = whole[value];
  if (!read) {
    IndexAccess access;
    access.map = AffineMap::getMultiDimIdentityMap(change.oldDims.size(),
                                                   b.getContext());
    read = this->read(fused.getLoc(), value, value.getType(), access);
  }
  return read;
}

/// A number for each point of the space, of an expression without symbols.
Value SpaceRewriter::buildIndex(Location loc, AffineExpr index,
                                RankedTensorType type) {
  if (auto dim = dyn_cast<AffineDimExpr>(index))
    return IotaOp::create(b, loc, type, dim.getPosition(), ValueRange());
  if (auto number = dyn_cast<AffineConstantExpr>(index))
    return ConstantOp::create(
        b, loc, type,
        SplatElementsAttr::get(type, b.getI64IntegerAttr(number.getValue())));
  auto binary = cast<AffineBinaryOpExpr>(index);
  Value lhs = buildIndex(loc, binary.getLHS(), type);
  Value rhs = buildIndex(loc, binary.getRHS(), type);
  switch (index.getKind()) {
  case AffineExprKind::Add:
    return AddOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return MulOp::create(b, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return FloorDivOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return ModOp::create(b, loc, lhs, rhs);
  default:
    llvm_unreachable("maps between spaces round downwards");
  }
}

/// The index along a dimension of the space before, computed in i64, so that a
/// counter of floats is rounded once.
Value SpaceRewriter::buildCounter(IotaOp op) {
  RankedTensorType type = getType(op.getType());
  AffineExpr index = change.oldDims[op.getDimension()];
  if (isa<AffineDimExpr>(index))
    return buildIndex(op.getLoc(), index, type);
  RankedTensorType wide = type.clone(b.getI64Type());
  Value number = buildIndex(op.getLoc(), index, wide);
  return wide == type ? number : CastOp::create(b, op.getLoc(), type, number);
}

void SpaceRewriter::cloneBody() {
  for (Operation &op : fused.getBody().front().without_terminator()) {
    if (auto reindex = dyn_cast<ReindexOpInterface>(op)) {
      mapping.map(op.getResult(0),
                  read(op.getLoc(), reindex.getSource(),
                       op.getResult(0).getType(), reindex.getIndexAccess()));
    } else if (auto constantOp = dyn_cast<ConstantOp>(op)) {
      auto value = cast<SplatElementsAttr>(constantOp.getValue());
      RankedTensorType type = getType(constantOp.getType());
      mapping.map(op.getResult(0), ConstantOp::create(b, op.getLoc(), type,
                                                      value.resizeSplat(type)));
    } else if (auto counter = dyn_cast<IotaOp>(op)) {
      mapping.map(op.getResult(0), buildCounter(counter));
    } else if (isa<RandomOp>(op)) {
      Operation *clone = b.clone(op, mapping);
      clone->getResult(0).setType(getType(op.getResult(0).getType()));
    } else if (isa<ElementwiseOpInterface>(op)) {
      IRMapping operands;
      for (Value operand : op.getOperands())
        operands.map(operand, lookUp(operand));
      Operation *clone = b.clone(op, operands);
      clone->getResult(0).setType(getType(op.getResult(0).getType()));
      mapping.map(op.getResult(0), clone->getResult(0));
    }
  }
}
