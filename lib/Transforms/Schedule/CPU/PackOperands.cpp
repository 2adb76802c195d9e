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
//   * The other factor: each index of its tensor is an expression e of the
//     loops, which lies in [low, high]; the box has high - low + 1 elements
//     along that dimension, and the contraction reads it at e - low. Of an
//     index in steps, s * i + c, the box has one element for each i.
//   * The result, where it consists of phases: a tensor with a dimension for
//     each phase outside of all others. A kernel behind the contraction
//     interleaves them.
//
// A condition on the iterations of a tile has to be one that the box makes
// unnecessary (the plan has seen to that). Others stay.
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
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PACKOPERANDSPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
/// A tensor of which collapsed dimensions are one, and the indices that are
/// left of a map to it.
struct CollapsedTensor {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices;
};

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
  AffineExpr dim(unsigned number) { return b.getAffineDimExpr(number); }
  IndexInterval getRange(AffineExpr index) const;
  CollapsedTensor collapse(RankedTensorType type, AffineMap map) const;
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
  void splitLanes();
  void packVectors();
  void packBroadcast();
  IntegerSet getRemaining();
  CollapsedTensor splitPhases(ArrayRef<ResultPhase> phases);
  Value contract(RankedTensorType type, ArrayRef<AffineExpr> indices);
  Value interleave(ArrayRef<ResultPhase> phases, Value value);

  KernelOp kernel;
  FusedOp fused;
  const Stage &stage;
  const Contraction &contraction;
  const ContractionPlan &plan;
  OpBuilder b;
  Location loc;
  /// The loops of the new contraction, and the old ones in terms of them.
  SmallVector<int64_t> space;
  SmallVector<AffineExpr> oldLoops;
  /// What each factor is read from, and where.
  struct Source {
    Value tensor;
    IndexAccess access;
  };
  std::array<Source, 2> sources;
};
} // namespace

/// The values that an index takes.
IndexInterval Packer::getRange(AffineExpr index) const {
  SmallVector<int64_t> extents;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    extents.push_back(stage.getStaticExtent(loop));
  return getInterval(index, extents);
}

bool Packer::isSupported() {
  if (kernel.getYield().getOperands() != fused.getResults() ||
      fused.getInputRowsAttr() || fused.getResultRowsAttr())
    return false;
  for (const Factor &factor : contraction.factors)
    for (const StageRead *read : factor.reads)
      if (!isa<BlockArgument>(read->source))
        return false;
  // The box is known.
  const Factor &other = contraction.factors[1 - plan.vectors];
  if (plan.packsBroadcast)
    for (AffineExpr index : other.reads.front()->map.getResults())
      if (IndexInterval range = getRange(index); !range.lower || !range.upper)
        return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors and places
//===----------------------------------------------------------------------===//

/// Indices of collapsed dimensions are 0 but for the last, which goes on
/// beyond its end.
CollapsedTensor Packer::collapse(RankedTensorType type, AffineMap map) const {
  CollapsedTensor result;
  int64_t extent = 1;
  for (auto [i, index] : llvm::enumerate(map.getResults())) {
    extent *= type.getDimSize(i);
    auto constant = dyn_cast<AffineConstantExpr>(index);
    if (constant && constant.getValue() == 0 && i + 1 < map.getNumResults())
      continue;
    result.shape.push_back(extent);
    result.indices.push_back(index);
    extent = 1;
  }
  return result;
}

/// The kernel's input that is read, in this shape.
Value Packer::getInput(const StageRead &read, ArrayRef<int64_t> shape) {
  Value inner =
      fused.getInputs()[cast<BlockArgument>(read.source).getArgNumber()];
  Value input = kernel.getInputs()[cast<BlockArgument>(inner).getArgNumber()];
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
  CollapsedTensor tensor = collapse(type, read.map);
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

/// A kernel that computes a factor over `shape`.
KernelOp
Packer::buildCopy(const Factor &factor, ArrayRef<int64_t> shape,
                  llvm::function_ref<IndexAccess(const StageRead &)> access) {
  SmallVector<Value> inputs;
  for (const StageRead *read : factor.reads)
    inputs.push_back(
        getInput(*read, collapse(cast<RankedTensorType>(read->source.getType()),
                                 read->map)
                            .shape));
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

/// The loop of the lanes becomes two, the inner one of a panel's width, if that
/// does not vary.
void Packer::splitLanes() {
  unsigned numLoops = stage.getNumLoops();
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    oldLoops.push_back(dim(loop));
    space.push_back(stage.getStaticExtent(loop));
  }
  if (!splitsLanes())
    return;
  int64_t &extent = space[plan.lanesDim];
  extent = llvm::divideCeilSigned(extent, plan.width);
  oldLoops[plan.lanesDim] = dim(plan.lanesDim) * plan.width + dim(numLoops);
  space.push_back(plan.width);
}

/// The loops that the vectors depend on, in the order in which panels hold
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
    bool isChecked = llvm::any_of(
        stage.writes.front().place.conditions,
        [&](AffineExpr check) { return check.isFunctionOfDim(loop); });
    return std::make_tuple(
        !isChecked, -std::abs(stage.getStep(place, loop).value_or(INT64_MAX)),
        loop);
  };
  llvm::sort(reduced,
             [&](unsigned a, unsigned b) { return getRank(a) < getRank(b); });
  batch.append(own);
  if (splitsLanes())
    batch.push_back(plan.lanesDim);
  batch.append(reduced);
  batch.push_back(splitsLanes() ? stage.getNumLoops() : plan.lanesDim);
  return batch;
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

void Packer::packBroadcast() {
  const Factor &factor = contraction.factors[1 - plan.vectors];
  const StageRead &read = *factor.reads.front();
  CollapsedTensor tensor =
      collapse(cast<RankedTensorType>(read.source.getType()), read.map);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices, inTensor;
  for (AffineExpr index : tensor.indices) {
    // Of what is read in steps, the rest is left out.
    if (auto step = findOnlyStep(stage, index)) {
      auto [loop, size] = *step;
      AffineExpr first =
          simplifyAffineExpr(index - dim(loop) * size, stage.getNumLoops(), 0);
      inTensor.push_back(dim(shape.size()) * size + first);
      shape.push_back(stage.getStaticExtent(loop));
      indices.push_back(oldLoops[loop]);
      continue;
    }
    IndexInterval range = getRange(index);
    int64_t low = *range.lower, high = *range.upper;
    inTensor.push_back(dim(shape.size()) + low);
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

/// The conditions that the box of the broadcast factor does not imply.
IntegerSet Packer::getRemaining() {
  const StageRead &read = *contraction.factors[1 - plan.vectors].reads.front();
  SmallVector<AffineExpr> remaining;
  for (AffineExpr check : stage.writes.front().place.conditions)
    if (!plan.packsBroadcast || !impliesCheck(read, check))
      remaining.push_back(
          simplifyAffineExpr(check.replaceDims(oldLoops), space.size(), 0));
  if (remaining.empty())
    return IntegerSet();
  return IntegerSet::get(space.size(), 0, remaining,
                         SmallVector<bool>(remaining.size(), false));
}

void Packer::replace() {
  splitLanes();
  for (auto [source, factor] : llvm::zip_equal(sources, contraction.factors)) {
    bool isVectors = &factor == &contraction.factors[plan.vectors];
    if (isVectors ? plan.packsVectors : plan.packsBroadcast) {
      isVectors ? packVectors() : packBroadcast();
      source.access.fill = b.getZeroAttr(getElementTypeOrSelf(factor.value));
      continue;
    }
    const StageRead &read = *factor.reads.front();
    source.access = getAccess(read, oldLoops, space.size());
    source.tensor = getInput(
        read, collapse(cast<RankedTensorType>(read.source.getType()), read.map)
                  .shape);
  }

  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  SmallVector<ResultPhase> phases;
  if (plan.splitsPhases)
    phases = findPhases(stage);
  CollapsedTensor result = splitPhases(phases);
  Value value = contract(type.clone(result.shape), result.indices);
  if (!phases.empty())
    value = interleave(phases, value);
  if (value.getType() != type)
    value = ReshapeOp::create(b, loc, type, value, ValueRange());
  kernel.getResult(0).replaceAllUsesWith(value);
  kernel.erase();
}

/// The tensor of results: dimensions of phases stand before all others.
CollapsedTensor Packer::splitPhases(ArrayRef<ResultPhase> phases) {
  const StageWrite &write = stage.writes.front();
  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  if (phases.empty())
    return collapse(type, write.map);
  CollapsedTensor result;
  for (const ResultPhase &phase : phases) {
    result.shape.push_back(phase.stride);
    result.indices.push_back(getAffineDimExpr(phase.phase, b.getContext()));
  }
  for (auto [position, index] : llvm::enumerate(write.map.getResults())) {
    result.shape.push_back(type.getDimSize(position));
    result.indices.push_back(index);
  }
  for (const ResultPhase &phase : phases) {
    unsigned position = phases.size() + phase.position;
    result.shape[position] = stage.getStaticExtent(phase.steps);
    result.indices[position] = getAffineDimExpr(phase.steps, b.getContext());
  }
  return result;
}

/// A kernel that puts each phase in its place.
Value Packer::interleave(ArrayRef<ResultPhase> phases, Value value) {
  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  unsigned numDims = type.getRank() + phases.size();
  SmallVector<AffineExpr> indices;
  for (unsigned i = phases.size(); i < numDims; ++i)
    indices.push_back(dim(i));
  for (auto [i, phase] : llvm::enumerate(phases))
    indices[phase.position] = indices[phase.position] * phase.stride + dim(i);
  IndexAccess access;
  access.map = AffineMap::get(numDims, 0, indices, b.getContext());
  KernelOp interleaved =
      buildStageKernel(b, loc, type, value, [&](ValueRange arguments) {
        return SmallVector<Value>{ReindexReduceOp::create(
            b, loc, type, Combiner::Add, arguments[0], access)};
      });
  inheritRewrites(kernel, interleaved, /*andForced=*/false);
  return interleaved.getResult(0);
}

/// The kernel of the contraction over the new loops; its result is at `indices`
/// of the old ones.
Value Packer::contract(RankedTensorType type, ArrayRef<AffineExpr> indices) {
  const StageWrite &write = stage.writes.front();
  IndexAccess access;
  access.map = AffineMap::get(
      space.size(), 0,
      llvm::map_to_vector(indices,
                          [&](AffineExpr index) {
                            return simplifyAffineExpr(
                                index.replaceDims(oldLoops), space.size(), 0);
                          }),
      b.getContext());
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

/// What the plan packs, in words.
static SmallVector<StringRef> getPacked(const ContractionPlan &plan) {
  SmallVector<StringRef> packed;
  if (plan.packsVectors)
    packed.push_back("the vectors");
  if (plan.packsBroadcast)
    packed.push_back("the broadcast factor");
  if (plan.splitsPhases)
    packed.push_back("each phase of the result");
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
    auto plan = planContraction(*stage, *contraction, processor,
                                /*mayPack=*/true);
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
