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
//     batch and of panels outside. The lanes' loop is one of panels, and one of
//     a panel's width (PackedLoops.h).
//   * The other factor: each index of its tensor is an expression e of the
//     loops, which lies in [low, high]; the box has high - low + 1 elements
//     along that dimension, and the contraction reads it at e - low. Of an
//     index in steps, s * i + c, the box has one element for each i.
//   * Where rows are moved, the box has their dimensions innermost, and around
//     them those of the sum.
//   * The result, where it consists of phases, or rows are moved: see
//     PackedResult.cpp.
//
// Factors that are slices are copied before that (SlicedFactors.h), and those
// that loops around the kernel leave as they are before these (FactorCopy.h).
//
// A condition on the iterations of a tile has to be one that the box makes
// unnecessary (the plan has seen to that). Others stay, and leave out
// iterations that would multiply by zeros around the tensor.
//
//===----------------------------------------------------------------------===//

#include "FactorCopy.h"
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
#include "PackedLoops.h"
#include "PackedResult.h"
#include "SlicedFactors.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

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
        plan(plan), b(kernel), loc(fused.getLoc()),
        loops(stage, contraction, plan) {}

  /// Returns whether this pass knows all that the stage does.
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
  void packVectors();
  void packBroadcast();
  IntegerSet getRemaining();
  SmallVector<unsigned> orderBox(const CollapsedTensor &tensor) const;
  PackedResult getResult() const {
    return {
        stage, plan,
        loops.separateLanes(CollapsedTensor::get(stage, stage.writes.front()))};
  }
  Value contract(const PackedResult &result);

  KernelOp kernel;
  FusedOp fused;
  const Stage &stage;
  const Contraction &contraction;
  const ContractionPlan &plan;
  OpBuilder b;
  Location loc;
  /// The loops of the new contraction.
  PackedLoops loops;
  /// Source from which each factor is read.
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
  if (!loops.splitsLanes() || extent % plan.width == 0)
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
// Panels and boxes
//===----------------------------------------------------------------------===//

void Packer::packVectors() {
  const Factor &factor = contraction.factors[plan.vectors];
  SmallVector<unsigned> panel = loops.getPanel();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> indices;
  // The new loops in terms of the panels' dimensions.
  SmallVector<AffineExpr> inPanel(loops.size(), b.getAffineConstantExpr(0));
  for (auto [i, loop] : llvm::enumerate(panel)) {
    shape.push_back(loops.getSpace()[loop]);
    indices.push_back(dim(loop));
    inPanel[loop] = dim(i);
  }
  SmallVector<AffineExpr> old;
  for (AffineExpr loop : loops.getOld())
    old.push_back(loop.replaceDims(inPanel));
  KernelOp copy =
      buildCopy(b, stage, factor, shape, [&](const StageRead &read) {
        return getAccess(stage, read, old, shape.size());
      });
  Source &source = sources[plan.vectors];
  source.tensor = copy.getResult(0);
  source.access.map = AffineMap::get(loops.size(), 0, indices, b.getContext());
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
      indices.push_back(loops.getOld()[loop]);
      continue;
    }
    IndexInterval range = getIndexRange(stage, index);
    int64_t low = *range.lower, high = *range.upper;
    inTensor[position] = dim(shape.size()) + low;
    shape.push_back(high - low + 1);
    indices.push_back(simplifyAffineExpr(
        (index - low).replaceDims(loops.getOld()), loops.size(), 0));
  }
  KernelOp copy =
      buildCopy(b, stage, factor, shape, [&](const StageRead &read) {
        IndexAccess access;
        access.map = AffineMap::get(shape.size(), 0, inTensor, b.getContext());
        access.fill = read.fill
                          ? read.fill
                          : b.getZeroAttr(getElementTypeOrSelf(read.value));
        return access;
      });
  Source &source = sources[1 - plan.vectors];
  source.tensor = copy.getResult(0);
  source.access.map = AffineMap::get(loops.size(), 0, indices, b.getContext());
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
      remaining.push_back(simplifyAffineExpr(check.replaceDims(loops.getOld()),
                                             loops.size(), 0));
  if (remaining.empty())
    return IntegerSet();
  return IntegerSet::get(loops.size(), 0, remaining,
                         SmallVector<bool>(remaining.size(), false));
}

void Packer::replace() {
  for (auto [source, factor] : llvm::zip_equal(sources, contraction.factors)) {
    bool isVectors = &factor == &contraction.factors[plan.vectors];
    if (isVectors ? plan.packsVectors : plan.packsBroadcast) {
      isVectors ? packVectors() : packBroadcast();
      source.access.fill = b.getZeroAttr(getElementTypeOrSelf(factor.value));
      continue;
    }
    const StageRead &read = *factor.reads.front();
    source.access = getAccess(stage, read, loops.getOld(), loops.size());
    CollapsedTensor tensor{collapse(read).shape,
                           llvm::to_vector(source.access.map.getResults())};
    loops.separateRows(
        tensor, cast<RankedTensorType>(read.source.getType()).getShape());
    source.tensor = getInput(b, stage, read, tensor.shape);
    source.access.map =
        AffineMap::get(loops.size(), 0, tensor.indices, stage.getContext());
  }

  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  PackedResult result = getResult();
  Value value = result.restore(b, kernel, contract(result));
  if (value.getType() != type)
    value = ReshapeOp::create(b, loc, type, value, ValueRange());
  kernel.getResult(0).replaceAllUsesWith(value);
  kernel.erase();
}

/// The kernel of the contraction over the new loops.
Value Packer::contract(const PackedResult &result) {
  const StageWrite &write = stage.writes.front();
  CollapsedTensor tensor = result.getWritten();
  for (AffineExpr &index : tensor.indices)
    index =
        simplifyAffineExpr(index.replaceDims(loops.getOld()), loops.size(), 0);
  auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
  loops.separateRows(tensor, type.getShape());
  type = type.clone(tensor.shape);
  IndexAccess access;
  access.map = AffineMap::get(loops.size(), 0, tensor.indices, b.getContext());
  access.conditions = getRemaining();
  KernelOp contracted = buildStageKernel(
      b, loc, type, {sources[0].tensor, sources[1].tensor},
      [&](ValueRange arguments) {
        auto wide = RankedTensorType::get(loops.getSpace(),
                                          getElementTypeOrSelf(write.value));
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

/// Names what the plan packs.
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
      isBefore = findLoopOfFactor(*stage, factor) != nullptr;
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
