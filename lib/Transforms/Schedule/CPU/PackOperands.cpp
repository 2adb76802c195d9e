//===- PackOperands.cpp - Panels for contractions -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel that is one contraction, its plan (ContractionPlan.cpp) says
// what has to be packed. The contraction is then built anew over its loops, as
// the stage's model has them: scatters have become gathers, and neighbours over
// which all is contiguous are one. Tensors whose dimensions were collapsed are
// seen through reshapes, which are views.
//
//   * Vectors: a panel tensor with a dimension for each loop that the factor
//     depends on, in the order of the loops inside of the tile, those of the
//     batch and of panels outside. The lanes' loop n becomes n1 * width + n0.
//     Where its extent varies it stays one, and lies innermost: all extents
//     have one code then, and no lanes but the last vector's are in vain.
//   * Rows that are several dimensions, as of a batch and of a sequence, are
//     these again where they are read in place: the result has the type that it
//     had, and what follows can become an epilogue.
//   * The other factor: each index of its tensor is an expression e of the
//     loops, which lies in [low, high]; the box has high - low + 1 elements
//     along that dimension, and the contraction reads it at e - low. Of an
//     index in steps, s * i + c, the box has one element for each i.
//   * Where rows are moved, the box has their dimensions innermost, and around
//     them those of the sum.
//   * The result, where it consists of phases, or rows are moved: see
//     PackedResult.cpp.
//
// Factors that are slices are copied before that (SlicedFactors.h).
//
// A factor that loops around the kernel leave as it is, as the weights of a
// recurrence, is copied before these loops.
//
// A condition on the iterations of a tile has to be one that the box makes
// unnecessary (the plan has seen to that). Others stay, and leave out
// iterations that would multiply by zeros around the tensor.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "PackedResult.h"
#include "SlicedFactors.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PACKOPERANDSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
class Packer {
public:
  Packer(KernelOp kernel, FusedOp fused, const Stage &stage,
         const Contraction &contraction, const ContractionPlan &plan)
      : kernel(kernel), fused(fused), stage(stage), contraction(contraction),
        plan(plan), b(kernel), loc(fused.getLoc()) {}

  /// Whether this pass knows all that the stage does.
  bool isSupported();
  void replace();

private:
  using Factor = Contraction::Factor;
  AffineExpr dim(unsigned number) const {
    return getAffineDimExpr(number, stage.getContext());
  }
  bool canFillBox() const;
  bool staysInside() const;
  CollapsedTensor collapse(const StageRead &read) const {
    return CollapsedTensor::get(stage, read);
  }
  Value getInput(const StageRead &read, ArrayRef<int64_t> shape);
  bool splitsLanes() const {
    return plan.packsVectors && !stage.isVarying(plan.lanesDim);
  }
  IndexAccess getAccess(const StageRead &read, ArrayRef<AffineExpr> loops,
                        unsigned numDims);
  Value clone(Value value, ArrayRef<int64_t> space,
              llvm::function_ref<Value(const StageRead &)> read);
  KernelOp buildCopy(const Factor &factor, ArrayRef<int64_t> shape,
                     llvm::function_ref<IndexAccess(const StageRead &)> access);
  SmallVector<unsigned> getPanelLoops() const;
  SmallVector<int64_t> getRowExtents(unsigned loop) const;
  void openLoops();
  void separateRows(CollapsedTensor &tensor, ArrayRef<int64_t> whole) const;
  void packVectors();
  void packBroadcast();
  IntegerSet getRemaining();
  SmallVector<unsigned> orderBox(const CollapsedTensor &tensor) const;
  CollapsedTensor separateLanes(const CollapsedTensor &tensor) const;
  PackedResult getResult() const {
    return {stage, plan,
            separateLanes(CollapsedTensor::get(stage, stage.writes.front()))};
  }
  Value contract(const PackedResult &result);

  KernelOp kernel;
  FusedOp fused;
  const Stage &stage;
  const Contraction &contraction;
  const ContractionPlan &plan;
  OpBuilder b;
  Location loc;
  /// The loops of the new contraction, and the old ones in terms of them; of
  /// each old one the new ones, outermost first.
  SmallVector<int64_t> space;
  SmallVector<AffineExpr> oldLoops;
  SmallVector<SmallVector<unsigned, 2>> newLoops;
  /// What each factor is read from, and where.
  struct Source {
    Value tensor;
    IndexAccess access;
  };
  std::array<Source, 2> sources;
};
} // namespace

/// Returns true if a kernel does nothing but a stage, and that on tensors as
/// they lie.
static bool isWholeKernel(KernelOp kernel, FusedOp fused) {
  return kernel.getYield().getOperands() == fused.getResults() &&
         !fused.getInputRowsAttr() && !fused.getResultRowsAttr();
}

bool Packer::isSupported() {
  if (!isWholeKernel(kernel, fused))
    return false;
  for (const Factor &factor : contraction.factors)
    for (const StageRead *read : factor.reads)
      if (!isa<BlockArgument>(read->source))
        return false;
  return canFillBox() && staysInside();
}

/// Returns true if the box is known, and zeros are around what it is copied
/// from.
bool Packer::canFillBox() const {
  if (!plan.packsBroadcast)
    return true;
  const Factor &other = contraction.factors[1 - plan.vectors];
  const StageRead &read = *other.reads.front();
  CollapsedTensor tensor = collapse(read);
  return tensor.impliesChecks(stage, read.place) &&
         llvm::all_of(tensor.indices, [&](AffineExpr index) {
           IndexInterval range = getIndexRange(stage, index);
           return range.lower && range.upper;
         });
}

/// Returns true if iterations that have no result are outside of the tensor
/// that is written: those that its checks leave out, and lanes that go beyond
/// their extent to fill a panel.
bool Packer::staysInside() const {
  const StageWrite &write = stage.writes.front();
  if (!CollapsedTensor::get(stage, write).impliesChecks(stage, write.place))
    return false;
  int64_t extent = stage.getStaticExtent(plan.lanesDim);
  if (!splitsLanes() || extent % plan.width == 0)
    return true;
  CollapsedTensor tensor = getResult().getWritten();
  return llvm::any_of(
      llvm::zip_equal(tensor.shape, tensor.indices), [&](auto dim) {
        auto [size, index] = dim;
        auto step = getConstantCoefficient(index, plan.lanesDim);
        if (!step || *step <= 0)
          return false;
        AffineExpr beyond = index + (extent - this->dim(plan.lanesDim)) * *step;
        IndexInterval range = getIndexRange(
            stage, simplifyAffineExpr(beyond, stage.getNumLoops(), 0));
        return range.lower && *range.lower >= size;
      });
}

//===----------------------------------------------------------------------===//
// Tensors and places
//===----------------------------------------------------------------------===//

static bool isZero(AffineExpr index) {
  auto constant = dyn_cast<AffineConstantExpr>(index);
  return constant && constant.getValue() == 0;
}

/// Returns the kernel's input that is read.
static Value getKernelInput(KernelOp kernel, FusedOp fused,
                            const StageRead &read) {
  Value inner =
      fused.getInputs()[cast<BlockArgument>(read.source).getArgNumber()];
  return kernel.getInputs()[cast<BlockArgument>(inner).getArgNumber()];
}

/// Returns the kernel's input that is read, in this shape.
Value Packer::getInput(const StageRead &read, ArrayRef<int64_t> shape) {
  Value input = getKernelInput(kernel, fused, read);
  auto type = cast<RankedTensorType>(input.getType());
  if (type.getShape() == shape)
    return input;
  return ReshapeOp::create(b, loc, type.clone(shape), input, ValueRange());
}

/// The access of a read where `loops` are the stage's loops.
IndexAccess Packer::getAccess(const StageRead &read, ArrayRef<AffineExpr> loops,
                              unsigned numDims) {
  MLIRContext *ctx = b.getContext();
  auto type = cast<RankedTensorType>(read.source.getType());
  CollapsedTensor tensor = collapse(read);
  auto rewrite = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr.replaceDims(loops), numDims, 0);
  };
  SmallVector<AffineExpr> checks(read.place.conditions);
  // In a collapsed dimension more is in range than was.
  if (tensor.shape.size() != type.getShape().size())
    checks.append(read.place.rangeChecks);
  IndexAccess access;
  access.map = AffineMap::get(
      numDims, 0, llvm::map_to_vector(tensor.indices, rewrite), ctx);
  if (!checks.empty())
    access.conditions =
        IntegerSet::get(numDims, 0, llvm::map_to_vector(checks, rewrite),
                        SmallVector<bool>(checks.size(), false));
  access.fill = read.fill ? read.fill : b.getZeroAttr(type.getElementType());
  return access;
}

/// The expression of a factor over another space.
Value Packer::clone(Value value, ArrayRef<int64_t> space,
                    llvm::function_ref<Value(const StageRead &)> read) {
  if (const StageRead *found = stage.findRead(value);
      found != stage.reads.end())
    return read(*found);
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, clone(operand, space, read));
  auto type = RankedTensorType::get(space, getElementTypeOrSelf(value));
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    return ConstantOp::create(b, op->getLoc(), type, splat.resizeSplat(type));
  }
  Operation *copy = b.clone(*op, mapping);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Returns the outermost of the loops around a kernel, one in another, that
/// leave a factor as it is: null if the innermost does not.
static Operation *findLoopOfFactor(KernelOp kernel, FusedOp fused,
                                   const Contraction::Factor &factor) {
  Operation *outermost = nullptr;
  for (Operation *parent = kernel->getParentOp();
       auto loop = dyn_cast<LoopLikeOpInterface>(parent);
       parent = parent->getParentOp()) {
    if (llvm::any_of(factor.reads, [&](const StageRead *read) {
          return !isa<BlockArgument>(read->source) ||
                 !loop.isDefinedOutsideOfLoop(
                     getKernelInput(kernel, fused, *read));
        }))
      break;
    outermost = loop;
  }
  return outermost;
}

/// Returns a kernel that computes a factor over `shape`, before the loops that
/// leave the factor as it is.
KernelOp
Packer::buildCopy(const Factor &factor, ArrayRef<int64_t> shape,
                  llvm::function_ref<IndexAccess(const StageRead &)> access) {
  OpBuilder::InsertionGuard guard(b);
  if (Operation *loop = findLoopOfFactor(kernel, fused, factor))
    b.setInsertionPoint(loop);
  SmallVector<Value> inputs;
  for (const StageRead *read : factor.reads)
    inputs.push_back(getInput(*read, collapse(*read).shape));
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(factor.value));
  KernelOp copy = buildStageKernel(
      b, factor.reads.front()->value.getLoc(), type, inputs,
      [&](ValueRange arguments) {
        auto read = [&](const StageRead &read) -> Value {
          unsigned number =
              llvm::find(factor.reads, &read) - factor.reads.begin();
          return ReindexOp::create(
              b, read.value.getLoc(),
              RankedTensorType::get(shape, getElementTypeOrSelf(read.value)),
              arguments[number], access(read));
        };
        return SmallVector<Value>{clone(factor.value, shape, read)};
      });
  inheritRewrites(kernel, copy, /*andForced=*/false);
  return copy;
}

//===----------------------------------------------------------------------===//
// Panels and boxes
//===----------------------------------------------------------------------===//

/// Returns the extents of the dimensions that a loop is made of, where these
/// are rows which are read in place; else its own.
SmallVector<int64_t> Packer::getRowExtents(unsigned loop) const {
  SmallVector<int64_t> own = {stage.getStaticExtent(loop)};
  if (!contraction.factors[1 - plan.vectors].own.test(loop) ||
      plan.packsBroadcast || plan.splitsPhases)
    return own;
  SmallVector<int64_t> extents;
  int64_t product = 1;
  for (auto [index, extent] : llvm::zip_equal(
           stage.toIterationSpace.getResults(), stage.spaceExtents)) {
    if (!index.isFunctionOfDim(loop))
      continue;
    auto number = dyn_cast<AffineConstantExpr>(extent);
    if (!number)
      return own;
    extents.push_back(number.getValue());
    product *= number.getValue();
  }
  return product == own.front() ? extents : own;
}

/// The loop of the lanes becomes two, the inner one of a panel's width, if that
/// does not vary; one of rows those of its dimensions.
void Packer::openLoops() {
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    AffineExpr old = b.getAffineConstantExpr(0);
    newLoops.emplace_back();
    for (int64_t extent : getRowExtents(loop)) {
      old = old * extent + dim(space.size());
      newLoops.back().push_back(space.size());
      space.push_back(extent);
    }
    oldLoops.push_back(old);
  }
  if (!splitsLanes())
    return;
  int64_t &extent = space[newLoops[plan.lanesDim].front()];
  extent = llvm::divideCeilSigned(extent, plan.width);
  oldLoops[plan.lanesDim] =
      oldLoops[plan.lanesDim] * plan.width + dim(space.size());
  newLoops[plan.lanesDim].push_back(space.size());
  space.push_back(plan.width);
}

/// Gives each loop of the same rows a dimension of its own in a tensor whose
/// indices are of the new loops, if `whole`, its shape before loops were
/// collapsed, has that.
void Packer::separateRows(CollapsedTensor &tensor,
                          ArrayRef<int64_t> whole) const {
  CollapsedTensor result;
  for (auto [size, index] : llvm::zip_equal(tensor.shape, tensor.indices)) {
    size_t count = 0;
    int64_t product = 1;
    while (count < whole.size() && (count == 0 || product < size))
      product *= whole[count++];
    if (product != size)
      return;
    ArrayRef<int64_t> dims = whole.take_front(count);
    whole = whole.drop_front(count);
    const auto *old = llvm::find(oldLoops, index);
    if (old == oldLoops.end() ||
        llvm::map_to_vector(newLoops[old - oldLoops.begin()],
                            [&](unsigned loop) { return space[loop]; }) !=
            dims) {
      result.shape.push_back(size);
      result.indices.push_back(index);
      continue;
    }
    result.shape.append(dims.begin(), dims.end());
    for (unsigned loop : newLoops[old - oldLoops.begin()])
      result.indices.push_back(dim(loop));
  }
  tensor = std::move(result);
}

/// The new loops that the vectors depend on, in the order in which panels hold
/// them, the lanes' last.
SmallVector<unsigned> Packer::getPanelLoops() const {
  const Factor &factor = contraction.factors[plan.vectors];
  SmallVector<unsigned> batch, own, reduced;
  llvm::SmallBitVector loops = stage.getLoopsOf(factor.value);
  for (unsigned loop : loops.set_bits()) {
    if (contraction.reduced.test(loop))
      reduced.push_back(loop);
    else if (contraction.batch.test(loop))
      batch.push_back(loop);
    else if (static_cast<int64_t>(loop) != plan.lanesDim)
      own.push_back(loop);
  }
  // As the scheduler would order them: checked ones outside, then by step.
  AffineExpr place = factor.reads.front()->place.offset;
  auto getRank = [&](unsigned loop) {
    return std::make_tuple(
        !isTested(stage.writes.front(), loop),
        -std::abs(stage.getStep(place, loop).value_or(INT64_MAX)), loop);
  };
  llvm::sort(reduced,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  batch.append(own);
  batch.append(reduced);
  SmallVector<unsigned> panel;
  for (unsigned loop : batch)
    panel.push_back(newLoops[loop].front());
  ArrayRef<unsigned> lanes = newLoops[plan.lanesDim];
  panel.insert(panel.end() - static_cast<ptrdiff_t>(reduced.size()),
               lanes.begin(), lanes.end() - 1);
  panel.push_back(lanes.back());
  return panel;
}

void Packer::packVectors() {
  const Factor &factor = contraction.factors[plan.vectors];
  SmallVector<unsigned> loops = getPanelLoops();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices;
  // The new loops in terms of the panels' dimensions.
  SmallVector<AffineExpr> inPanel(space.size(), b.getAffineConstantExpr(0));
  for (auto [i, loop] : llvm::enumerate(loops)) {
    shape.push_back(space[loop]);
    indices.push_back(dim(loop));
    inPanel[loop] = dim(i);
  }
  SmallVector<AffineExpr> old;
  for (AffineExpr loop : oldLoops)
    old.push_back(loop.replaceDims(inPanel));
  KernelOp copy = buildCopy(factor, shape, [&](const StageRead &read) {
    return getAccess(read, old, shape.size());
  });
  Source &source = sources[plan.vectors];
  source.tensor = copy.getResult(0);
  source.access.map = AffineMap::get(space.size(), 0, indices, b.getContext());
}

/// Returns the dimensions of the broadcast factor's tensor in the order in
/// which the box has them: as they are, or those that are summed, and then
/// rows, innermost. What conditions leave out of a sum is not there: windows
/// stay outside.
SmallVector<unsigned> Packer::orderBox(const CollapsedTensor &tensor) const {
  auto order = llvm::to_vector(llvm::seq<unsigned>(tensor.indices.size()));
  if (!plan.movesRows)
    return order;
  auto isSummed = [&](AffineExpr index) {
    return llvm::any_of(contraction.reduced.set_bits(), [&](unsigned loop) {
      return index.isFunctionOfDim(loop) &&
             !isTested(stage.writes.front(), loop);
    });
  };
  auto getRank = [&](unsigned position) {
    AffineExpr index = tensor.indices[position];
    return std::tuple(dependsOnRows(plan, index), isSummed(index), position);
  };
  llvm::sort(order,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  return order;
}

void Packer::packBroadcast() {
  const Factor &factor = contraction.factors[1 - plan.vectors];
  const StageRead &read = *factor.reads.front();
  CollapsedTensor tensor = collapse(read);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices, inTensor;
  inTensor.resize(tensor.indices.size());
  for (unsigned position : orderBox(tensor)) {
    AffineExpr index = tensor.indices[position];
    // Of what is read in steps, the rest is left out.
    if (auto step = findOnlyStep(stage, index)) {
      auto [loop, size] = *step;
      AffineExpr first =
          simplifyAffineExpr(index - dim(loop) * size, stage.getNumLoops(), 0);
      inTensor[position] = dim(shape.size()) * size + first;
      shape.push_back(stage.getStaticExtent(loop));
      indices.push_back(oldLoops[loop]);
      continue;
    }
    IndexInterval range = getIndexRange(stage, index);
    int64_t low = *range.lower, high = *range.upper;
    inTensor[position] = dim(shape.size()) + low;
    shape.push_back(high - low + 1);
    indices.push_back(simplifyAffineExpr((index - low).replaceDims(oldLoops),
                                         space.size(), 0));
  }
  KernelOp copy = buildCopy(factor, shape, [&](const StageRead &read) {
    IndexAccess access;
    access.map = AffineMap::get(shape.size(), 0, inTensor, b.getContext());
    access.fill =
        read.fill ? read.fill : b.getZeroAttr(getElementTypeOrSelf(read.value));
    return access;
  });
  Source &source = sources[1 - plan.vectors];
  source.tensor = copy.getResult(0);
  source.access.map = AffineMap::get(space.size(), 0, indices, b.getContext());
}

//===----------------------------------------------------------------------===//
// The contraction
//===----------------------------------------------------------------------===//

/// The conditions that are tested: those of loops around the tile, where
/// nothing is computed in vain then, and those that the box of the broadcast
/// factor does not imply.
IntegerSet Packer::getRemaining() {
  const StageRead &read = *contraction.factors[1 - plan.vectors].reads.front();
  SmallVector<AffineExpr> remaining;
  for (AffineExpr check : stage.writes.front().place.conditions)
    if (!plan.packsBroadcast || !dependsOnTile(plan, check) ||
        !impliesCheck(read, check))
      remaining.push_back(
          simplifyAffineExpr(check.replaceDims(oldLoops), space.size(), 0));
  if (remaining.empty())
    return IntegerSet();
  return IntegerSet::get(space.size(), 0, remaining,
                         SmallVector<bool>(remaining.size(), false));
}

void Packer::replace() {
  openLoops();
  for (auto [source, factor] : llvm::zip_equal(sources, contraction.factors)) {
    bool isVectors = &factor == &contraction.factors[plan.vectors];
    if (isVectors ? plan.packsVectors : plan.packsBroadcast) {
      isVectors ? packVectors() : packBroadcast();
      source.access.fill = b.getZeroAttr(getElementTypeOrSelf(factor.value));
      continue;
    }
    const StageRead &read = *factor.reads.front();
    source.access = getAccess(read, oldLoops, space.size());
    CollapsedTensor tensor{collapse(read).shape,
                           llvm::to_vector(source.access.map.getResults())};
    separateRows(tensor,
                 cast<RankedTensorType>(read.source.getType()).getShape());
    source.tensor = getInput(read, tensor.shape);
    source.access.map =
        AffineMap::get(space.size(), 0, tensor.indices, stage.getContext());
  }

  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  PackedResult result = getResult();
  Value value = result.restore(b, kernel, contract(result));
  if (value.getType() != type)
    value = ReshapeOp::create(b, loc, type, value, ValueRange());
  kernel.getResult(0).replaceAllUsesWith(value);
  kernel.erase();
}

/// Gives lanes that do not fill their panels a dimension of the result: what
/// goes beyond the filters of one group is none of the next one.
CollapsedTensor Packer::separateLanes(const CollapsedTensor &tensor) const {
  int64_t extent = stage.getStaticExtent(plan.lanesDim);
  if (!splitsLanes() || extent % plan.width == 0)
    return tensor;
  CollapsedTensor result;
  for (auto [size, index] : llvm::zip_equal(tensor.shape, tensor.indices)) {
    AffineExpr lanes = dim(plan.lanesDim);
    AffineExpr groups =
        simplifyAffineExpr(index - lanes, stage.getNumLoops(), 0);
    if (!isZero(groups) && !groups.isFunctionOfDim(plan.lanesDim) &&
        groups.isMultipleOf(extent) && size % extent == 0) {
      result.shape.push_back(size / extent);
      result.indices.push_back(groups.floorDiv(extent));
      result.shape.push_back(extent);
      result.indices.push_back(lanes);
      continue;
    }
    result.shape.push_back(size);
    result.indices.push_back(index);
  }
  return result;
}

/// The kernel of the contraction over the new loops.
Value Packer::contract(const PackedResult &result) {
  const StageWrite &write = stage.writes.front();
  CollapsedTensor tensor = result.getWritten();
  for (AffineExpr &index : tensor.indices)
    index = simplifyAffineExpr(index.replaceDims(oldLoops), space.size(), 0);
  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  separateRows(tensor, type.getShape());
  type = type.clone(tensor.shape);
  IndexAccess access;
  access.map = AffineMap::get(space.size(), 0, tensor.indices, b.getContext());
  access.conditions = getRemaining();
  KernelOp contracted = buildStageKernel(
      b, loc, type, {sources[0].tensor, sources[1].tensor},
      [&](ValueRange arguments) {
        auto wide =
            RankedTensorType::get(space, getElementTypeOrSelf(write.value));
        SmallVector<Value, 2> factors;
        for (auto [source, argument] : llvm::zip_equal(sources, arguments))
          factors.push_back(
              ReindexOp::create(b, loc, wide, argument, source.access));
        Value product =
            MulOp::create(b, write.value.getLoc(), factors[0], factors[1]);
        return SmallVector<Value>{ReindexReduceOp::create(
            b, loc, type, *write.kind, product, access)};
      });
  inheritRewrites(kernel, contracted, /*andForced=*/true);
  return contracted.getResult(0);
}

/// Returns true if a tile fits the only stage of a kernel.
static bool hasTile(KernelOp kernel, const Processor &processor) {
  FailureOr<Stage> stage =
      Stage::build(*kernel.getBody().getOps<FusedOp>().begin());
  return succeeded(stage) && hasTile(*stage, processor);
}

/// What the plan packs, in words.
static SmallVector<StringRef> getPacked(const ContractionPlan &plan) {
  SmallVector<StringRef> packed;
  if (plan.packsVectors)
    packed.push_back("the vectors");
  if (plan.packsBroadcast)
    packed.push_back("the broadcast factor");
  if (plan.splitsPhases)
    packed.push_back("each phase of the result");
  if (plan.movesRows)
    packed.push_back("rows inside of what is tested");
  return packed;
}

namespace {
struct PackOperandsPass : metaop::impl::PackOperandsPassBase<PackOperandsPass> {
  using PackOperandsPassBase::PackOperandsPassBase;

  LogicalResult pack(KernelOp kernel) {
    StringRef reason;
    FusedOp fused = findStageToRewrite(kernel, reason);
    if (!fused)
      return keep(kernel, reason);
    StringRef isNone = "it is no contraction";
    // Most stages are none by their bodies alone.
    if (!sumsProducts(fused))
      return keep(kernel, isNone);
    FailureOr<Stage> stage = Stage::build(fused);
    if (failed(stage))
      return failure();
    auto contraction = Contraction::match(*stage);
    if (!contraction)
      return keep(kernel, isNone);
    if (isWorthSlicing(*stage, *contraction))
      return slice(kernel, fused);
    Packing packing{/*isAllowed=*/true, {}};
    for (auto [isBefore, factor] :
         llvm::zip_equal(packing.isBeforeLoops, contraction->factors))
      isBefore = findLoopOfFactor(kernel, fused, factor) != nullptr;
    auto plan = planContraction(*stage, *contraction, processor, packing);
    if (!plan)
      return keep(kernel, "no tile fits it");
    // Vectors that are read in place are copied as they lie.
    if (plan->isPacked() && isForced(kernel, kPackOperands))
      plan->packsVectors = true;
    if (plan->isPacked())
      return success();
    Packer packer(kernel, fused, *stage, *contraction, *plan);
    if (!packer.isSupported())
      return keep(kernel, "its factors are not tensors as they lie");
    if (report)
      fused.emitRemark("packs ")
          << llvm::join(getPacked(*plan), " and ") << ", lanes along loop "
          << plan->lanesDim << ", predicted "
          << static_cast<int64_t>(plan->cycles) << " cycles"
          << (isForced(kernel, kPackOperands) ? ", as is forced" : "");
    packer.replace();
    return success();
  }

  /// Copies the slices that a kernel reads if that leads to a tile, and packs
  /// what there is then.
  LogicalResult slice(KernelOp kernel, FusedOp fused) {
    if (!isWholeKernel(kernel, fused))
      return keep(kernel, "its stage is not all of it");
    SmallVector<KernelOp> built = copySlices(kernel, fused);
    if (built.empty() || !hasTile(built.back(), processor)) {
      for (KernelOp each : llvm::reverse(built))
        each.erase();
      return keep(kernel, "no tile fits it");
    }
    if (report)
      fused.emitRemark("copies ")
          << built.size() - 1 << " of its factors, which are slices";
    kernel.replaceAllUsesWith(built.back());
    kernel.erase();
    return pack(built.back());
  }

  LogicalResult keep(KernelOp kernel, StringRef reason) {
    return keepKernel(kernel, kPackOperands, reason);
  }

  void runOnOperation() override {
    auto kernels = collectOps<KernelOp>(getOperation().getBody());
    for (KernelOp kernel : kernels)
      if (!isForbidden(kernel, kPackOperands) && failed(pack(kernel)))
        return signalPassFailure();
  }
};
} // namespace
