//===- MarkGrowing.cpp - Which dimensions of stages are growing -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop that generates a sequence runs a program for each length. The session
// marks the dimensions of @main's arguments that are growing; this pass follows
// them, in program order, through whatever reads them. An extent alone would
// not tell: a sequence of 64 in a model of width 64 is a square.
//
//   * a dimension d of a stage's iteration space is growing where something is
//     read at d, or next to it, along a growing dimension of about that extent;
//   * a dimension along which nothing is read, as of an iota, is growing where
//     its extent is one of those that are;
//   * a dimension of a stage's result is what the one that numbers it is;
//   * a reshape hands the mark on to a dimension of the same extent, or else to
//     the outermost of those among which it divides the elements;
//   * all else (concat, insert) keeps the dimensions of its operands.
//
// A dimension that is missed costs kernels, one that is marked in vain some
// speed; neither changes a result.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/GrowingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_MARKGROWINGPASS
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

namespace {
/// The growing dimensions of each value of a function.
class GrowingDims {
public:
  explicit GrowingDims(func::FuncOp function)
      : function(function), extents(function.getBody().front()) {}

  void run();

private:
  bool markArguments();
  void visit(Operation *op);
  void visitKernel(KernelOp op);
  void visitFused(FusedOp op);
  void visitReshape(ReshapeOp op);
  SmallBitVector findSpace(FusedOp op);
  std::optional<unsigned> findReshaped(ArrayRef<int64_t> shape, unsigned begin,
                                       unsigned end, int64_t length) const;
  SmallBitVector findResult(Value yielded, const SmallBitVector &space);

  bool isGrowing(Value value, unsigned dim) const {
    auto found = marks.find(value);
    return found != marks.end() && found->second.test(dim);
  }
  void copy(Value from, Value to) {
    if (auto found = marks.find(from); found != marks.end()) {
      SmallBitVector dims = found->second;
      marks[to] = dims;
    }
  }

  func::FuncOp function;
  llvm::DenseMap<Value, SmallBitVector> marks;
  GrowingExtents extents;
};
} // namespace

static ArrayRef<int64_t> getShape(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

bool GrowingDims::markArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), kGrowingAttr);
    ArrayRef<int64_t> shape = getShape(argument);
    for (int64_t dim : dims ? dims.asArrayRef() : ArrayRef<int64_t>()) {
      if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
        continue;
      marks.try_emplace(argument, SmallBitVector(shape.size()))
          .first->second.set(dim);
    }
  }
  return !marks.empty();
}

/// Extents of one sequence, of which one may lack an end.
static bool areClose(int64_t a, int64_t b) {
  return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) &&
         std::abs(a - b) <= 1;
}

SmallBitVector GrowingDims::findSpace(FusedOp op) {
  ArrayRef<int64_t> space = op.getIterationValue().getType().getShape();
  SmallBitVector growing(space.size()), isRead(space.size());
  auto read = [&](Value source, AffineMap map) {
    for (auto [dim, index] : llvm::enumerate(map.getResults()))
      for (unsigned i = 0; i < space.size(); ++i) {
        if (!index.isFunctionOfDim(i))
          continue;
        isRead.set(i);
        if (getConstantCoefficient(index, i) == 1 && isGrowing(source, dim) &&
            areClose(space[i], getShape(source)[dim]))
          growing.set(i);
      }
  };
  auto identity =
      AffineMap::getMultiDimIdentityMap(space.size(), op.getContext());
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (auto reindex = dyn_cast<ReindexOpInterface>(inner)) {
      read(reindex.getSource(), reindex.getIndexAccess().map);
      continue;
    }
    if (auto gather = dyn_cast<GatherOp>(inner))
      read(gather.getSource(), gather.getIndexAccess().map);
    for (Value operand : inner.getOperands())
      if (isa<BlockArgument>(operand) &&
          getShape(operand).size() == space.size())
        read(operand, identity);
  }
  for (unsigned i = 0; i < space.size(); ++i)
    if (!isRead.test(i) && extents.contains(space[i]))
      growing.set(i);
  // A loop of one iteration is none.
  for (unsigned i : growing.set_bits())
    if (space[i] < 2)
      growing.reset(i);
  return growing;
}

SmallBitVector GrowingDims::findResult(Value yielded,
                                       const SmallBitVector &space) {
  Operation *op = yielded.getDefiningOp();
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(space.size(), yielded.getContext());
  if (auto reduce = dyn_cast_or_null<ReindexReduceOpInterface>(op))
    map = reduce.getIndexAccess().map;
  else if (auto scatter = dyn_cast_or_null<ScatterOp>(op))
    map = scatter.getIndexAccess().map;
  SmallBitVector result(map.getNumResults());
  for (auto [dim, index] : llvm::enumerate(map.getResults()))
    for (unsigned i : space.set_bits())
      if (getConstantCoefficient(index, i) == 1)
        result.set(dim);
  return result;
}

void GrowingDims::visitFused(FusedOp op) {
  for (auto [argument, input] :
       llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    copy(input, argument);
  SmallBitVector space = findSpace(op);
  if (space.none())
    return;
  op->setAttr(kGrowingAttr,
              DenseI64ArrayAttr::get(op.getContext(),
                                     SmallVector<int64_t>(space.set_bits())));
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), op.getYield().getOperands()))
    marks[result] = findResult(yielded, space);
}

void GrowingDims::visitKernel(KernelOp op) {
  for (auto [argument, input] :
       llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    copy(input, argument);
  for (Operation &inner : op.getBody().front().without_terminator())
    visit(&inner);
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), op.getYield().getOperands()))
    copy(yielded, result);
}

/// Of the dimensions [begin, end) of a reshape's result, the one that is a
/// growing dimension of extent `length`.
std::optional<unsigned> GrowingDims::findReshaped(ArrayRef<int64_t> shape,
                                                  unsigned begin, unsigned end,
                                                  int64_t length) const {
  std::optional<unsigned> known, outermost;
  for (unsigned dim = begin; dim < end; ++dim) {
    if (shape[dim] == length)
      return dim;
    if (!known && extents.contains(shape[dim]))
      known = dim;
    if (!outermost && shape[dim] > 1)
      outermost = dim;
  }
  return known ? known : outermost;
}

/// Goes over the groups of dimensions that hold the same elements.
void GrowingDims::visitReshape(ReshapeOp op) {
  ArrayRef<int64_t> from = getShape(op.getSource()), to = getShape(op);
  if (!marks.contains(op.getSource()) || ShapedType::isDynamicShape(from) ||
      ShapedType::isDynamicShape(to))
    return;
  SmallBitVector result(to.size());
  unsigned i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    unsigned firstFrom = i, firstTo = j;
    int64_t before = from[i++], after = to[j++];
    while (before != after &&
           (before < after ? i < from.size() : j < to.size()))
      before < after ? before *= from[i++] : after *= to[j++];
    for (unsigned dim = firstFrom; dim < i; ++dim)
      if (isGrowing(op.getSource(), dim))
        if (auto found = findReshaped(to, firstTo, j, from[dim]))
          result.set(*found);
  }
  marks[op] = result;
}

void GrowingDims::visit(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return visitKernel(kernel);
  if (auto fused = dyn_cast<FusedOp>(op))
    return visitFused(fused);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return visitReshape(reshape);
  for (Value result : op->getResults())
    for (Value operand : op->getOperands())
      if (marks.contains(operand) &&
          getShape(operand).size() == getShape(result).size()) {
        SmallBitVector dims = marks[operand];
        marks.try_emplace(result, SmallBitVector(dims.size())).first->second |=
            dims;
      }
}

void GrowingDims::run() {
  if (!markArguments())
    return;
  walkBlocks(function.getBody(), [&](Block &block) {
    for (Operation &op : block.without_terminator())
      visit(&op);
  });
}

namespace {
struct MarkGrowing : metaop::impl::MarkGrowingPassBase<MarkGrowing> {
  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      GrowingDims(getOperation()).run();
  }
};
} // namespace
