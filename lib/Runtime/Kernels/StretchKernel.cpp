//===- StretchKernel.cpp - Kernels of another length ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which numbers of a lowered kernel depend on the length of what varies is
// seen by lowering it for other lengths, too. So that the loops are the same,
// all extents follow: the smallest that varies is taken for the length; its
// multiples and neighbours remain such, and others change by themselves. Where
// the loops are others, as for a length of another class, nothing is learnt.
//
// Along a dimension that is read or written at an index, the extent changes by
// as much as the index does from the first to the last iteration.
//
//===----------------------------------------------------------------------===//

#include "StretchKernel.h"
#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
using Shape = SmallVector<int64_t, 4>;

class Stretcher {
public:
  Stretcher(func::FuncOp function, int64_t other)
      : function(function), other(other) {}

  LogicalResult run();

private:
  void findLength();
  int64_t stretch(int64_t extent) const;
  LogicalResult visit(FusedOp op);
  LogicalResult follow(Value value, AffineMap map, const Shape &space,
                       const Shape &wanted);
  LogicalResult setShape(Value value, const Shape &shape);
  void applyShapes();

  func::FuncOp function;
  /// The smallest extent that varies, and what it becomes.
  int64_t length = 0, other;
  /// The new shapes of values outside of stages.
  llvm::MapVector<Value, Shape> shapes;
};
} // namespace

static Shape getShape(Value value) {
  return Shape(cast<RankedTensorType>(value.getType()).getShape());
}

static void setShapeOf(Value value, ArrayRef<int64_t> shape) {
  value.setType(cast<RankedTensorType>(value.getType()).clone(shape));
}

static ArrayRef<int64_t> getVarying(FusedOp op) {
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>(kVaryingAttr);
  return dims ? dims.asArrayRef() : ArrayRef<int64_t>();
}

/// Returns the number of a constant that follows an extent.
static std::optional<int64_t> getVaryingNumber(ConstantOp op) {
  return op->hasAttr(kVaryingAttr) ? getWholeNumber(op) : std::nullopt;
}

/// Returns a constant's value with another number in it.
static SplatElementsAttr replaceNumber(SplatElementsAttr splat,
                                       int64_t number) {
  Type type = splat.getElementType();
  Attribute element =
      isa<IntegerType>(type)
          ? Attribute(IntegerAttr::get(type, number))
          : Attribute(FloatAttr::get(type, static_cast<double>(number)));
  return cast<SplatElementsAttr>(
      DenseElementsAttr::get(splat.getType(), element));
}

/// Finds the smallest extent that varies, or number that follows one.
void Stretcher::findLength() {
  length = INT64_MAX;
  function.walk([&](Operation *op) {
    if (auto fused = dyn_cast<FusedOp>(op))
      for (int64_t dim : getVarying(fused))
        length = std::min(length, getShape(fused.getIterationValue())[dim]);
    if (auto constant = dyn_cast<ConstantOp>(op))
      if (auto number = getVaryingNumber(constant))
        length = std::min(length, *number);
  });
}

int64_t Stretcher::stretch(int64_t extent) const {
  if (extent % length == 0)
    return extent / length * other;
  if (std::abs(extent - length) <= 1)
    return extent + other - length;
  return extent + other + 1;
}

/// The value outside of stages that a stage's or a kernel's argument is.
static Value getOutside(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto fused = dyn_cast<FusedOp>(parent))
      value = fused.getInputs()[number];
    else if (auto kernel = dyn_cast<KernelOp>(parent))
      value = kernel.getInputs()[number];
    else
      break;
  }
  return value;
}

LogicalResult Stretcher::setShape(Value value, const Shape &shape) {
  auto [found, isNew] = shapes.try_emplace(getOutside(value), shape);
  return success(isNew || found->second == shape);
}

/// Changes the extents of what is read or written at `map` of the iterations.
LogicalResult Stretcher::follow(Value value, AffineMap map, const Shape &space,
                                const Shape &wanted) {
  Shape shape = getShape(value);
  for (auto [dim, index] : llvm::enumerate(map.getResults()))
    for (unsigned loop = 0; loop < space.size(); ++loop) {
      if (space[loop] == wanted[loop] || !index.isFunctionOfDim(loop))
        continue;
      auto step = getConstantCoefficient(index, loop);
      if (!step)
        return failure();
      shape[dim] += std::abs(*step) * (wanted[loop] - space[loop]);
    }
  return setShape(value, shape);
}

LogicalResult Stretcher::visit(FusedOp op) {
  if (op.getInputRowsAttr() || op.getResultRowsAttr())
    return failure();
  Shape space = getShape(op.getIterationValue()), wanted = space;
  for (int64_t dim : getVarying(op))
    wanted[dim] = stretch(space[dim]);
  auto identity =
      AffineMap::getMultiDimIdentityMap(space.size(), op.getContext());
  for (Operation &inner : op.getBody().front().without_terminator()) {
    std::optional<AffineMap> map;
    Value moved;
    if (auto reindex = dyn_cast<ReindexOpInterface>(inner)) {
      map = reindex.getIndexAccess().map;
      moved = reindex.getSource();
    } else if (auto gather = dyn_cast<GatherOp>(inner)) {
      map = gather.getIndexAccess().map;
      moved = gather.getSource();
    }
    if (map && isa<BlockArgument>(moved) &&
        failed(follow(moved, *map, space, wanted)))
      return failure();
    for (Value operand : inner.getOperands())
      if (isa<BlockArgument>(operand) && operand != moved &&
          getShape(operand) == space &&
          failed(follow(operand, identity, space, wanted)))
        return failure();
  }
  for (auto [result, yielded] :
       llvm::zip_equal(op->getResults(), op.getYield().getOperands())) {
    AffineMap map = identity;
    if (auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>())
      map = reduce.getIndexAccess().map;
    else if (auto scatter = yielded.getDefiningOp<ScatterOp>())
      map = scatter.getIndexAccess().map;
    if (failed(follow(result, map, space, wanted)))
      return failure();
  }
  for (auto constant : op.getBody().front().getOps<ConstantOp>())
    if (auto number = getVaryingNumber(constant))
      constant.setValueAttr(replaceNumber(
          cast<SplatElementsAttr>(constant.getValue()), stretch(*number)));
  for (Operation &inner : op.getBody().front().without_terminator())
    for (Value value : inner.getResults())
      if (getShape(value) == space) {
        auto constant = dyn_cast<ConstantOp>(inner);
        if (constant && !isa<SplatElementsAttr>(constant.getValue()))
          return failure();
        setShapeOf(value, wanted);
        if (constant)
          constant.setValueAttr(
              cast<SplatElementsAttr>(constant.getValue())
                  .resizeSplat(cast<ShapedType>(value.getType())));
      }
  return success();
}

void Stretcher::applyShapes() {
  for (auto &[value, shape] : shapes)
    setShapeOf(value, shape);
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      for (auto [argument, input] :
           llvm::zip_equal(kernel.getBody().getArguments(), kernel.getInputs()))
        argument.setType(input.getType());
    auto fused = dyn_cast<FusedOp>(op);
    if (!fused)
      return;
    for (auto [argument, input] :
         llvm::zip_equal(fused.getBody().getArguments(), fused.getInputs()))
      argument.setType(input.getType());
    // Reductions have the types of what they are yielded as.
    for (auto [result, yielded] :
         llvm::zip_equal(op->getResults(), fused.getYield().getOperands()))
      yielded.setType(result.getType());
  });
  function.walk([&](KernelOp kernel) {
    for (auto [result, yielded] :
         llvm::zip_equal(kernel->getResults(), kernel.getYield().getOperands()))
      result.setType(yielded.getType());
  });
  Operation *end = function.getBody().front().getTerminator();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     end->getOperandTypes()));
}

LogicalResult Stretcher::run() {
  findLength();
  if (length < 2 || length == INT64_MAX || length == other)
    return failure();
  auto stretched =
      function.walk([&](FusedOp op) { return WalkResult(visit(op)); });
  if (stretched.wasInterrupted())
    return failure();
  applyShapes();
  return success();
}

LogicalResult metaops::stretchKernel(func::FuncOp function, int64_t length) {
  return Stretcher(function, length).run();
}
