//===- MarkVarying.cpp - Dimensions of stages that vary -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of one kind run for many lengths. The session marks the dimensions
// of @main's arguments that vary; this pass follows them, in program order,
// through whatever reads them. An extent alone would not tell: a sequence of 64
// in a model of width 64 is a square.
//
//   * a dimension d of a stage's iteration space varies where something is
//     read at an index that goes along all of a varying dimension, and along d
//     farthest, as at d + k of a window, or 2 * d;
//   * a dimension along which nothing is read, as of an iota, varies where
//     its extent is one of those that are;
//   * a dimension of a stage's result is what the one that numbers it is;
//   * a reshape hands the mark on to a dimension of the same extent, or to the
//     ones of varying extents whose product it is, or else to the outermost of
//     those among which it divides the elements;
//   * a branch or a loop hands marks on to its blocks, and from these to its
//     results; of what a scan goes over, a row has those behind the first;
//   * a dimension of a routine's result varies where its extent is one of those
//     that are;
//   * all else (concat, insert) keeps the dimensions of its operands.
//
// A constant that is an extent that varies, as of what is added to an index
// from behind, is marked, too.
//
// A dimension that is missed costs kernels, one that is marked in vain some
// speed; neither changes a result.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_MARKVARYINGPASS
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

namespace {
/// The varying dimensions of each value of a function.
class VaryingDims {
public:
  explicit VaryingDims(func::FuncOp function)
      : function(function), extents(function.getBody().front()) {}

  void run();

private:
  bool markArguments();
  void visit(Operation *op);
  void visitControlFlow(RegionBranchOpInterface op);
  bool enterRegions(RegionBranchOpInterface op);
  void enterRows(ScanOp op);
  void leaveRows(ScanOp op);
  void markConstants(FusedOp op);
  void visitKernel(KernelOp op);
  void visitFused(FusedOp op);
  void visitReshape(ReshapeOp op);
  void visitRoutine(RoutineOp op);
  SmallBitVector findSpace(FusedOp op);
  void markReshaped(ArrayRef<int64_t> shape, unsigned begin, unsigned end,
                    int64_t length, SmallBitVector &marked) const;
  SmallBitVector findResult(Value yielded, const SmallBitVector &space,
                            ArrayRef<int64_t> extents);

  bool isVarying(Value value, unsigned dim) const {
    auto found = marks.find(value);
    return found != marks.end() && found->second.test(dim);
  }
  void copy(Value from, Value to) {
    if (auto found = marks.find(from); found != marks.end()) {
      SmallBitVector dims = found->second;
      marks[to] = dims;
    }
  }
  bool add(Value value, const SmallBitVector &dims);
  bool add(Value value, Value from) {
    auto found = marks.find(from);
    return found != marks.end() && add(value, SmallBitVector(found->second));
  }

  func::FuncOp function;
  llvm::DenseMap<Value, SmallBitVector> marks;
  VaryingExtents extents;
};
} // namespace

static ArrayRef<int64_t> getShape(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

bool VaryingDims::markArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), kVaryingAttr);
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

/// Returns the loop that an index goes along farthest, `i` in `2 * i + k`, and
/// its step. There is none where a step is not constant.
static std::optional<std::pair<unsigned, int64_t>>
findFarthest(AffineExpr index, ArrayRef<int64_t> space) {
  std::optional<std::pair<unsigned, int64_t>> farthest;
  int64_t most = -1;
  for (unsigned i = 0; i < space.size(); ++i) {
    if (!index.isFunctionOfDim(i))
      continue;
    auto step = getConstantCoefficient(index, i);
    if (!step || ShapedType::isDynamic(space[i]))
      return std::nullopt;
    if (int64_t way = std::abs(*step) * (space[i] - 1); way > most) {
      farthest = {i, std::abs(*step)};
      most = way;
    }
  }
  return farthest;
}

/// Returns whether an index goes along all of an extent but for what a window,
/// or a step, leaves at its ends. Of one sequence an end may lack.
static bool goesAlong(AffineExpr index, ArrayRef<int64_t> space,
                      std::pair<unsigned, int64_t> farthest, int64_t extent) {
  auto [loop, step] = farthest;
  if (ShapedType::isDynamic(extent))
    return false;
  int64_t left = step;
  for (unsigned i = 0; i < space.size(); ++i)
    if (i != loop && index.isFunctionOfDim(i))
      left += std::abs(*getConstantCoefficient(index, i)) * (space[i] - 1);
  return std::abs(step * (space[loop] - 1) + 1 - extent) <= left;
}

SmallBitVector VaryingDims::findSpace(FusedOp op) {
  ArrayRef<int64_t> space = op.getIterationValue().getType().getShape();
  SmallBitVector varying(space.size()), isRead(space.size());
  auto read = [&](Value source, AffineMap map) {
    for (auto [dim, index] : llvm::enumerate(map.getResults())) {
      for (unsigned i = 0; i < space.size(); ++i)
        if (index.isFunctionOfDim(i))
          isRead.set(i);
      if (!isVarying(source, dim))
        continue;
      auto farthest = findFarthest(index, space);
      if (farthest && goesAlong(index, space, *farthest, getShape(source)[dim]))
        varying.set(farthest->first);
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
      varying.set(i);
  // A loop of one iteration is none.
  for (unsigned i : varying.set_bits())
    if (space[i] < 2)
      varying.reset(i);
  return varying;
}

SmallBitVector VaryingDims::findResult(Value yielded,
                                       const SmallBitVector &space,
                                       ArrayRef<int64_t> extents) {
  Operation *op = yielded.getDefiningOp();
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(space.size(), yielded.getContext());
  if (auto reduce = dyn_cast_or_null<ReindexReduceOpInterface>(op))
    map = reduce.getIndexAccess().map;
  else if (auto scatter = dyn_cast_or_null<ScatterOp>(op))
    map = scatter.getIndexAccess().map;
  SmallBitVector result(map.getNumResults());
  for (auto [dim, index] : llvm::enumerate(map.getResults()))
    if (auto farthest = findFarthest(index, extents);
        farthest && space.test(farthest->first))
      result.set(dim);
  return result;
}

/// Adds marks to those of a value; returns whether there is a new one.
bool VaryingDims::add(Value value, const SmallBitVector &dims) {
  if (dims.size() != getShape(value).size())
    return false;
  auto [place, isNew] = marks.try_emplace(value, SmallBitVector(dims.size()));
  SmallBitVector before = place->second;
  place->second |= dims;
  return place->second != before;
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

/// Hands marks on along all ways of control; returns whether any is new.
bool VaryingDims::enterRegions(RegionBranchOpInterface op) {
  SmallVector<RegionSuccessor> successors;
  op.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (Region &region : op->getRegions())
    if (!region.empty())
      op.getSuccessorRegions(region, successors);
  bool isChanged = false;
  for (RegionSuccessor successor : successors)
    for (auto [number, input] :
         llvm::enumerate(successor.getSuccessorInputs())) {
      SmallVector<Value> from;
      op.getPredecessorValues(successor, number, from);
      for (Value value : from)
        isChanged |= add(input, value);
    }
  return isChanged;
}

void VaryingDims::enterRows(ScanOp op) {
  for (auto [row, rows] : llvm::zip_equal(op.getRowArguments(), op.getRows())) {
    SmallBitVector dims(getShape(row).size());
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      dims[dim] = isVarying(rows, dim + 1);
    if (dims.any())
      add(row, dims);
  }
}

/// Marks the rows that a scan makes. There are as many as there are trips.
void VaryingDims::leaveRows(ScanOp op) {
  bool areTripsVarying = llvm::any_of(
      op.getRows(), [&](Value rows) { return isVarying(rows, 0); });
  for (auto [result, row] :
       llvm::zip_equal(op.getStackedRows(), op.getYieldedRows())) {
    SmallBitVector dims(getShape(result).size());
    dims[0] = areTripsVarying;
    for (unsigned dim = 1; dim < dims.size(); ++dim)
      dims[dim] = isVarying(row, dim - 1);
    if (dims.any())
      add(result, dims);
  }
}

/// Visits what is inside until nothing is handed on from trip to trip that was
/// not known before.
void VaryingDims::visitControlFlow(RegionBranchOpInterface op) {
  auto scan = dyn_cast<ScanOp>(*op);
  if (scan)
    enterRows(scan);
  enterRegions(op);
  do {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block.without_terminator())
          visit(&inner);
  } while (enterRegions(op));
  if (scan)
    leaveRows(scan);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void VaryingDims::markConstants(FusedOp op) {
  for (auto constant : op.getBody().front().getOps<ConstantOp>())
    if (auto number = getWholeNumber(constant);
        number && *number > 1 && extents.contains(*number))
      constant->setAttr(kVaryingAttr,
                        DenseI64ArrayAttr::get(op.getContext(), {}));
}

void VaryingDims::visitFused(FusedOp op) {
  markConstants(op);
  for (auto [argument, input] :
       llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    copy(input, argument);
  SmallBitVector space = findSpace(op);
  if (space.none())
    return;
  op->setAttr(kVaryingAttr,
              DenseI64ArrayAttr::get(op.getContext(),
                                     SmallVector<int64_t>(space.set_bits())));
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), op.getYield().getOperands()))
    marks[result] =
        findResult(yielded, space, getShape(op.getIterationValue()));
}

void VaryingDims::visitKernel(KernelOp op) {
  for (auto [argument, input] :
       llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    copy(input, argument);
  for (Operation &inner : op.getBody().front().without_terminator())
    visit(&inner);
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), op.getYield().getOperands()))
    copy(yielded, result);
}

/// Marks, of the dimensions [begin, end) of a reshape's result, those that a
/// varying dimension of extent `length` becomes: the one that is as long, or
/// those of which it is the product, or else the outermost.
void VaryingDims::markReshaped(ArrayRef<int64_t> shape, unsigned begin,
                               unsigned end, int64_t length,
                               SmallBitVector &marked) const {
  SmallVector<unsigned> known;
  std::optional<unsigned> outermost;
  int64_t rest = length;
  for (unsigned dim = begin; dim < end; ++dim) {
    if (shape[dim] == length) {
      marked.set(dim);
      return;
    }
    if (shape[dim] > 1 && extents.contains(shape[dim]) &&
        rest % shape[dim] == 0) {
      known.push_back(dim);
      rest /= shape[dim];
    }
    if (!outermost && shape[dim] > 1)
      outermost = dim;
  }
  if (known.empty() && outermost)
    known.push_back(*outermost);
  for (unsigned dim : known)
    marked.set(dim);
}

/// Goes over the groups of dimensions that hold the same elements.
void VaryingDims::visitReshape(ReshapeOp op) {
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
      if (isVarying(op.getSource(), dim))
        markReshaped(to, firstTo, j, from[dim], result);
  }
  marks[op] = result;
}

void VaryingDims::visitRoutine(RoutineOp op) {
  for (Value output : op.getOutputs()) {
    ArrayRef<int64_t> shape = getShape(output);
    SmallBitVector dims(shape.size());
    for (auto [dim, extent] : llvm::enumerate(shape))
      if (extents.contains(extent))
        dims.set(dim);
    if (dims.any())
      marks[output] = dims;
  }
}

void VaryingDims::visit(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return visitKernel(kernel);
  if (auto fused = dyn_cast<FusedOp>(op))
    return visitFused(fused);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return visitReshape(reshape);
  if (auto routine = dyn_cast<RoutineOp>(op))
    return visitRoutine(routine);
  if (auto inside = dyn_cast<RegionBranchOpInterface>(op))
    return visitControlFlow(inside);
  for (Value result : op->getResults())
    for (Value operand : op->getOperands())
      if (marks.contains(operand) &&
          getShape(operand).size() == getShape(result).size()) {
        SmallBitVector dims = marks[operand];
        marks.try_emplace(result, SmallBitVector(dims.size())).first->second |=
            dims;
      }
}

void VaryingDims::run() {
  if (!markArguments())
    return;
  for (Operation &op : function.getBody().front().without_terminator())
    visit(&op);
}

namespace {
struct MarkVarying : metaop::impl::MarkVaryingPassBase<MarkVarying> {
  void runOnOperation() override {
    if (!getOperation().isDeclaration())
      VaryingDims(getOperation()).run();
  }
};
} // namespace
