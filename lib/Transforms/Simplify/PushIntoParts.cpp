//===- PushIntoParts.cpp - Concats after element-wise ops -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element-wise op of a concat is the concat of the op of each part. The
// concat that it reads then need not be in memory: the kernels that make the
// parts go on, and what would be copied is read by kernels instead. For each
// concat,
//
// 1. the element-wise ops are taken, in order, that read it or each other, as
//    long as all else that they read can be had for a part: numbers, reindexes,
//    and arguments through a reindex;
// 2. they end with the last one of which nothing but the value is read by
//    others, and that has to be in memory anyway, since something reads it
//    otherwise than element by element;
// 3. they move into the parts if these are few, and half of the bytes or more
//    are parts that fuse with them or would be copied. What a reduction makes
//    does neither, nor does a concat.
//
// Concats that are not to be in memory at all are another pass's
// (ExpandPlacements.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PUSHINTOPARTSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// More ops than this are not moved together.
static constexpr size_t kMaxOps = 64;

/// Returns whether a window of the value can be had without the value.
static bool hasWindows(Value value) {
  if (auto op = value.getDefiningOp<ConstantOp>())
    return isa<SplatElementsAttr>(op.getValue());
  return isa<BlockArgument>(value) || value.getDefiningOp<ReindexOp>();
}

/// Element-wise ops that read `value` or what others of them make of it, in
/// order: kMaxOps at most.
static SmallVector<Operation *> collectReaders(Value value) {
  llvm::SmallSetVector<Operation *, 16> readers;
  auto add = [&](Value read) {
    for (Operation *user : read.getUsers())
      if (isa<ElementwiseOpInterface>(user) && user->getNumResults() == 1 &&
          user->getBlock() == value.getParentBlock() &&
          readers.size() < kMaxOps)
        readers.insert(user);
  };
  add(value);
  for (size_t i = 0; i < readers.size(); ++i)
    add(readers[i]->getResult(0));
  SmallVector<Operation *> sorted = readers.takeVector();
  llvm::sort(sorted, [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  });
  return sorted;
}

/// The ops to move into the parts, in order.
static SmallVector<Operation *> findOps(ConcatOp concat) {
  SmallVector<Operation *> ops;
  size_t length = 0;
  llvm::SmallDenseSet<Value> inside = {concat.getResult()};
  llvm::SmallPtrSet<Operation *, 16> taken;
  for (Operation *op : collectReaders(concat.getResult())) {
    auto isInside = [&](Value value) { return inside.contains(value); };
    if (llvm::none_of(op->getOperands(), isInside) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return isInside(operand) || hasWindows(operand);
        }))
      continue;
    ops.push_back(op);
    taken.insert(op);
    bool isEnd = llvm::all_of(inside, [&](Value value) {
      return llvm::all_of(value.getUsers(), [&](Operation *user) {
        return taken.contains(user);
      });
    });
    Value result = op->getResult(0);
    inside.insert(result);
    if (isEnd && !llvm::all_of(result.getUses(), isPointwiseUse))
      length = ops.size();
  }
  ops.truncate(length);
  return ops;
}

static bool isWorthPushing(ConcatOp concat, unsigned maxParts) {
  if (concat.getParts().size() > maxParts || !concat.getType().hasStaticShape())
    return false;
  int64_t saved = 0;
  for (Value part : concat.getParts()) {
    auto op = part.getDefiningOp<MetaOpInterface>();
    bool isReduced = op && op.getMetaOpClass() == MetaOpClass::ReindexReduce;
    if (!isReduced && !part.getDefiningOp<PlacementOpInterface>())
      saved = addCounts(saved, countBytes(part.getType()));
  }
  return saved >= countBytes(concat.getType()) / 2;
}

/// The window of `value` that begins at `start` along `dim`.
static Value getWindow(OpBuilder &b, Value value, RankedTensorType type,
                       int64_t dim, int64_t start) {
  type = type.clone(getElementTypeOrSelf(value.getType()));
  if (auto op = value.getDefiningOp<ConstantOp>()) {
    auto splat = cast<SplatElementsAttr>(op.getValue());
    return ConstantOp::create(b, op.getLoc(), type, splat.resizeSplat(type));
  }
  unsigned rank = type.getRank();
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(b.getAffineDimExpr(i));
  dims[dim] = dims[dim] + start;
  IndexAccess access;
  access.map = AffineMap::getMultiDimIdentityMap(rank, b.getContext());
  Value source = value;
  if (auto op = value.getDefiningOp<ReindexOp>()) {
    access = op.getIndexAccess();
    source = op.getSource();
  }
  access.map =
      access.map.replaceDimsAndSymbols(dims, {}, rank, access.symbols.size());
  if (access.conditions != IntegerSet())
    access.conditions = access.conditions.replaceDimsAndSymbols(
        dims, {}, rank, access.symbols.size());
  return ReindexOp::create(b, value.getLoc(), type, source, access);
}

static void push(ConcatOp concat, ArrayRef<Operation *> ops) {
  Operation *last = ops.back();
  OpBuilder b(last);
  int64_t dim = concat.getDim();
  SmallVector<Value> parts;
  for (const Placement &placement : concat.getPlacements()) {
    Value part = concat.getOperand(placement.operand);
    auto type = cast<RankedTensorType>(part.getType());
    IRMapping mapping;
    mapping.map(concat.getResult(), part);
    for (Operation *op : ops) {
      for (Value operand : op->getOperands())
        if (!mapping.contains(operand))
          mapping.map(operand,
                      getWindow(b, operand, type, dim, placement.starts[dim]));
      Value value = b.clone(*op, mapping)->getResult(0);
      value.setType(type.clone(getElementTypeOrSelf(value.getType())));
    }
    parts.push_back(mapping.lookup(last->getResult(0)));
  }
  auto result = ConcatOp::create(b, concat.getLoc(),
                                 last->getResult(0).getType(), parts, dim);
  last->replaceAllUsesWith(result);
  llvm::SmallSetVector<Operation *, 4> windowed;
  for (Operation *op : llvm::reverse(ops)) {
    for (Value operand : op->getOperands())
      if (isa_and_nonnull<ConstantOp, ReindexOp>(operand.getDefiningOp()))
        windowed.insert(operand.getDefiningOp());
    op->erase();
  }
  concat.erase();
  for (Operation *op : windowed)
    if (op->use_empty())
      op->erase();
}

namespace {
struct PushIntoParts : metaop::impl::PushIntoPartsPassBase<PushIntoParts> {
  using PushIntoPartsPassBase::PushIntoPartsPassBase;

  void runOnOperation() override {
    walkBlocks(getOperation().getBody(), [&](Block &block) {
      SmallVector<ConcatOp> concats(block.getOps<ConcatOp>());
      for (ConcatOp concat : concats) {
        if (!isWorthPushing(concat, maxParts))
          continue;
        SmallVector<Operation *> ops = findOps(concat);
        if (!ops.empty())
          push(concat, ops);
      }
    });
  }
};
} // namespace
