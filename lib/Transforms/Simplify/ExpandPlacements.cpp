//===- ExpandPlacements.cpp - Placements as meta-operators ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A concat stands outside of kernels, so that its result is in memory. Where
// nothing needs it there, since all that reads it reads each element at its own
// place, the readers' kernel can choose each element from the part that has it:
// each part is reindexed to the whole space, and a chain of selects takes the
// one whose place it is. That asks once per part at each element, so it is for
// few parts; and it saves the copies of parts only, since what kernels make
// lies in its place without one. So it is done where these are half of the
// bytes, or more. A chain of inserts into what is not in memory is expanded
// likewise.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/Producers.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EXPANDPLACEMENTSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether a kernel can have each of the value's elements where it
/// needs it.
static bool isReadInPlaceOnly(Value value) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    return isPointwiseUse(use) &&
           use.getOwner()->getBlock() == value.getParentBlock();
  });
}

//===----------------------------------------------------------------------===//
// What is worth it
//===----------------------------------------------------------------------===//

static bool isWorthExpanding(ConcatOp op, unsigned maxParts) {
  if (op.getParts().size() > maxParts || !op.getType().hasStaticShape() ||
      !isReadInPlaceOnly(op.getResult()))
    return false;
  int64_t copied = 0;
  for (Value part : op.getParts())
    if (!part.getDefiningOp<MetaOpInterface>())
      copied = addCounts(copied, countBytes(part.getType()));
  return copied >= countBytes(op.getType()) / 2;
}

/// The last of a chain of inserts is looked at.
/// The insert of the same block that makes `dest`, which `op` or others that it
/// writes over write over.
static InsertOp getInner(InsertOp op, Value dest) {
  auto inner = dest.getDefiningOp<InsertOp>();
  return inner && inner->getBlock() == op->getBlock() ? inner : InsertOp();
}

static bool isWorthExpanding(InsertOp op, unsigned maxParts) {
  if (!op.getType().hasStaticShape() || !isReadInPlaceOnly(op.getResult()) ||
      llvm::any_of(op->getUsers(), llvm::IsaPred<InsertOp>))
    return false;
  Value dest = op.getDest();
  unsigned length = 1;
  for (; InsertOp inner = getInner(op, dest); dest = inner.getDest())
    if (++length > maxParts || !inner->hasOneUse())
      return false;
  // The result of a reduction, say, can be written over.
  auto meta = dest.getDefiningOp<MetaOpInterface>();
  return !meta || meta.getMetaOpClass() != MetaOpClass::ReindexReduce;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {
class Expander {
public:
  Expander(OpBuilder &builder, Location loc, RankedTensorType type)
      : builder(builder), loc(loc), type(type) {}

  Value choose(Value condition, Value onTrue, Value onFalse) {
    return SelectOp::create(builder, loc, type, condition, onTrue, onFalse);
  }
  /// `part` in its window, and zeros elsewhere. `symbols` are the window's
  /// starts, or there are none and `starts` are.
  Value place(Value part, ArrayRef<int64_t> starts, ValueRange symbols);
  /// Returns whether an element's index along `dim` is less than `end`.
  Value isBefore(int64_t dim, int64_t end);
  /// Returns whether an element lies in a window of the shape of `part`.
  Value isInside(Value part, ValueRange symbols);

private:
  IndexAccess access(ArrayRef<int64_t> starts, ValueRange symbols);

  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
};
} // namespace

IndexAccess Expander::access(ArrayRef<int64_t> starts, ValueRange symbols) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr expr = builder.getAffineDimExpr(dim);
    exprs.push_back(symbols.empty() ? expr - starts[dim]
                                    : expr - builder.getAffineSymbolExpr(dim));
  }
  IndexAccess access;
  access.map = AffineMap::get(type.getRank(), symbols.size(), exprs,
                              builder.getContext());
  llvm::append_range(access.symbols, symbols);
  return access;
}

Value Expander::place(Value part, ArrayRef<int64_t> starts,
                      ValueRange symbols) {
  return ReindexOp::create(builder, loc, type, part, access(starts, symbols));
}

Value Expander::isBefore(int64_t dim, int64_t end) {
  auto indices = type.clone(builder.getI64Type());
  Value index = IotaOp::create(builder, loc, indices, dim, ValueRange());
  Value bound = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(indices, builder.getI64IntegerAttr(end)));
  return CmpOp::create(builder, loc, ComparePredicate::Lt, index, bound);
}

Value Expander::isInside(Value part, ValueRange symbols) {
  auto window =
      cast<RankedTensorType>(part.getType()).clone(builder.getI1Type());
  Value inside =
      ConstantOp::create(builder, loc, DenseElementsAttr::get(window, true));
  return ReindexOp::create(builder, loc, type.clone(builder.getI1Type()),
                           inside, access({}, symbols));
}

static void expand(ConcatOp op) {
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc(), op.getType());
  Value result;
  for (const Placement &placement : op.getPlacements()) {
    Value placed = expander.place(op.getOperand(placement.operand),
                                  placement.starts, ValueRange());
    int64_t begin = placement.starts[op.getDim()];
    result = result ? expander.choose(expander.isBefore(op.getDim(), begin),
                                      result, placed)
                    : placed;
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

static void expand(InsertOp op) {
  if (InsertOp inner = getInner(op, op.getDest()))
    expand(inner);
  OpBuilder builder(op);
  Expander expander(builder, op.getLoc(), op.getType());
  Value placed = expander.place(op.getPart(), {}, op.getStarts());
  Value inside = expander.isInside(op.getPart(), op.getStarts());
  op.replaceAllUsesWith(expander.choose(inside, placed, op.getDest()));
  op.erase();
}

namespace {
struct ExpandPlacements
    : metaop::impl::ExpandPlacementsPassBase<ExpandPlacements> {
  using ExpandPlacementsPassBase::ExpandPlacementsPassBase;

  void runOnOperation() override {
    walkBlocks(getOperation().getBody(), [&](Block &block) {
      SmallVector<ConcatOp> concats(block.getOps<ConcatOp>());
      for (ConcatOp op : concats)
        if (isWorthExpanding(op, maxParts))
          expand(op);
      SmallVector<InsertOp> inserts;
      for (auto op : block.getOps<InsertOp>())
        if (isWorthExpanding(op, maxParts))
          inserts.push_back(op);
      for (InsertOp op : inserts)
        expand(op);
    });
  }
};
} // namespace
