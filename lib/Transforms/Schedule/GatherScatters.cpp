//===- GatherScatters.cpp - Scatters that become gathers ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction whose map holds `i + j`, as the gradient of a convolution by its
// image does, reaches each result from several places: it adds to memory, and
// threads cannot share it. It is re-indexed by the result, k = i + j:
//
//   y[i + j] += x[i, j]    becomes    y[k] = sum(x[k - j, j], 0 <= k - j < n)
//
// What was a scatter into memory is a gather into an accumulator. The loop i is
// replaced by k, and i's bounds become conditions.
//
// With a stride, the result's index k = s * i + j is split into k1 and its
// remainder k0 by s: k = s * k1 + k0. For one k0, the taps j are s apart, and i
// moves with k1 in unit steps, i = k1 - t and j = k0 + s * t.
//
// Both are done while the new loops do not run over much more than the old
// ones. One index of the result after the other is looked at; of several loops
// in an index, the longest changes least.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage.h"
#include "SpaceRewriter.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_GATHERSCATTERSPASS
#include "MetaOps/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// The new loops run over at most so many times the points of the old ones;
/// with a stride, where a scatter has no unit steps at all, over so many.
static constexpr int64_t kMaxGrowth = 2, kMaxStridedGrowth = 4;

namespace {
/// The reduction of a stage in loops that change.
class Gatherer {
public:
  Gatherer(FusedOp fused, const Stage &stage, bool isForced)
      : fused(fused), stage(stage), write(stage.writes.front()),
        ctx(fused.getContext()), isForced(isForced),
        resultShape(
            cast<RankedTensorType>(fused.getResult(0).getType()).getShape()),
        indices(write.map.getResults()),
        oldDims(stage.toIterationSpace.getResults()),
        conditions(write.place.conditions) {
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
      extents.push_back(stage.getStaticExtent(loop));
  }

  /// Why this pass does not know the stage; empty if it does.
  static StringRef getObstacle(FusedOp fused, const Stage &stage);

  /// Changes the loops of as many indices as it can; false if of none.
  bool change();
  void replace();

private:
  AffineExpr constant(int64_t value) const {
    return getAffineConstantExpr(value, ctx);
  }
  AffineExpr simplify(AffineExpr expr) const {
    return simplifyInRange(expr, extents.size(), stage.symbols.size(), extents);
  }
  SmallVector<AffineExpr> getLoops() const {
    return llvm::map_to_vector(
        llvm::seq<unsigned>(extents.size()),
        [&](unsigned loop) { return getAffineDimExpr(loop, ctx); });
  }
  bool isElsewhere(unsigned position, unsigned loop) const;
  void substitute(ArrayRef<AffineExpr> loops);
  void addCondition(AffineExpr expr);
  bool tryGather(unsigned position, unsigned loop);
  bool tryStridedGather(unsigned position);
  void reverse(unsigned loop);

  FusedOp fused;
  const Stage &stage;
  const StageWrite &write;
  MLIRContext *ctx;
  bool isForced;
  ArrayRef<int64_t> resultShape;
  SmallVector<int64_t> extents;
  /// Of the result, of the space before, and what has to be at least 0; all in
  /// the loops as they are now and the stage's symbols.
  SmallVector<AffineExpr> indices, oldDims, conditions;
};
} // namespace

StringRef Gatherer::getObstacle(FusedOp fused, const Stage &stage) {
  if (stage.writes.size() != 1 || !stage.writes.front().kind)
    return "it has a result that is not reduced, or several";
  if (stage.isEmpty() ||
      llvm::is_contained(
          cast<RankedTensorType>(fused.getResult(0).getType()).getShape(), 0))
    return "it has no iterations, or no result";
  // Digits of an index, as those of a dimension in panels, are no scatter.
  if (stage.writes.front().isProjection)
    return "it writes each element of its result once";
  if (fused.getInputRowsAttr() || fused.getResultRowsAttr())
    return "its tensors lie in rows";
  if (!stage.symbols.empty() &&
      !fused.getBody().front().getOps<IotaOp>().empty())
    return "it counts, and reads at places that are not known";
  if (!SpaceRewriter::isSupported(fused) ||
      !fused.getBody().front().getOps<RandomOp>().empty() ||
      llvm::any_of(stage.symbols, [](const StageSymbol &symbol) {
        return symbol.kind != StageSymbol::Kind::Scalar;
      }))
    return "it has indices or random numbers, or extents that are not known";
  return "";
}

/// Whether the loop moves along another index of the result as well.
bool Gatherer::isElsewhere(unsigned position, unsigned loop) const {
  return llvm::any_of(llvm::enumerate(indices), [&](auto index) {
    return index.index() != position && index.value().isFunctionOfDim(loop);
  });
}

/// Rewrites all in new loops, of which the old ones are functions.
void Gatherer::substitute(ArrayRef<AffineExpr> loops) {
  for (auto *exprs : {&indices, &oldDims, &conditions})
    for (AffineExpr &expr : *exprs)
      expr = simplify(expr.replaceDims(loops));
}

void Gatherer::addCondition(AffineExpr expr) {
  expr = simplify(expr);
  IndexInterval interval = getInterval(expr, extents);
  if (!(interval.lower && *interval.lower >= 0) &&
      !llvm::is_contained(conditions, expr))
    conditions.push_back(expr);
}

bool Gatherer::tryGather(unsigned position, unsigned loop) {
  AffineExpr index = indices[position];
  auto factor = getConstantCoefficient(index, loop);
  int64_t newExtent = resultShape[position];
  if (!factor || std::abs(*factor) != 1 || isElsewhere(position, loop) ||
      (newExtent > kMaxGrowth * extents[loop] && !isForced))
    return false;

  // index = c * i + rest = k, so i = c * (k - rest) where c is 1 or -1.
  SmallVector<AffineExpr> loops = getLoops();
  AffineExpr k = loops[loop];
  AffineExpr rest = index.replace(k, constant(0));
  AffineExpr i = (k - rest) * *factor;
  loops[loop] = i;
  int64_t oldExtent = std::exchange(extents[loop], newExtent);
  substitute(loops);
  // The old bounds of i become conditions; k is in range by construction.
  addCondition(i);
  addCondition(constant(oldExtent - 1) - i);
  return true;
}

/// Counts a loop downwards, which changes the sign of its factors.
void Gatherer::reverse(unsigned loop) {
  SmallVector<AffineExpr> loops = getLoops();
  loops[loop] = constant(extents[loop] - 1) - loops[loop];
  substitute(loops);
}

bool Gatherer::tryStridedGather(unsigned position) {
  std::optional<unsigned> strided, unit;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (!indices[position].isFunctionOfDim(loop))
      continue;
    auto factor = getConstantCoefficient(indices[position], loop);
    if (!factor || *factor == 0 || isElsewhere(position, loop))
      return false;
    std::optional<unsigned> &role = std::abs(*factor) == 1 ? unit : strided;
    if (role)
      return false;
    role = loop;
  }
  SmallVector<AffineExpr> zeros(extents.size(), constant(0));
  if (!strided ||
      !isa<AffineConstantExpr>(simplify(indices[position].replaceDims(zeros))))
    return false;
  int64_t stride =
      std::abs(*getConstantCoefficient(indices[position], *strided));
  int64_t unitExtent = unit ? extents[*unit] : 1;
  int64_t newExtent = resultShape[position];
  int64_t steps = llvm::divideCeil(newExtent, stride);
  int64_t taps = llvm::divideCeil(unitExtent, stride);
  if (steps * stride * taps >
          kMaxStridedGrowth * extents[*strided] * unitExtent &&
      !isForced)
    return false;
  for (auto loop : {strided, unit})
    if (loop && *getConstantCoefficient(indices[position], *loop) < 0)
      reverse(*loop);

  // index = stride * i + j + rest = k with k = stride * k1 + k0 and
  // k0 - rest = stride * a + b, so i = k1 + a - t and j = b + stride * t.
  AffineExpr rest = simplify(indices[position].replaceDims(zeros));
  SmallVector<AffineExpr> loops = getLoops();
  AffineExpr k1 = loops[*strided], t = unit ? loops[*unit] : constant(0);
  AffineExpr k0 = getAffineDimExpr(extents.size(), ctx);
  AffineExpr i = k1 + (k0 - rest).floorDiv(stride) - t;
  AffineExpr j = (k0 - rest) % stride + t * stride;
  loops[*strided] = i;
  if (unit)
    loops[*unit] = j;
  int64_t oldExtent = std::exchange(extents[*strided], steps);
  if (unit)
    extents[*unit] = taps;
  extents.push_back(stride);
  substitute(loops);
  indices[position] = k1 * stride + k0;
  addCondition(i);
  addCondition(constant(oldExtent - 1) - i);
  addCondition(constant(unitExtent - 1) - j);
  return true;
}

bool Gatherer::change() {
  bool isChanged = false;
  for (unsigned position = 0; position < indices.size(); ++position) {
    AffineExpr index = indices[position];
    if (isa<AffineDimExpr, AffineConstantExpr>(index))
      continue;
    SmallVector<unsigned> loops;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (index.isFunctionOfDim(loop))
        loops.push_back(loop);
    llvm::sort(loops, [&](unsigned a, unsigned b) {
      return std::tie(extents[b], a) < std::tie(extents[a], b);
    });
    isChanged |=
        llvm::any_of(
            loops, [&](unsigned loop) { return tryGather(position, loop); }) ||
        tryStridedGather(position);
  }
  return isChanged;
}

void Gatherer::replace() {
  SpaceChange change{extents, oldDims, {}};
  for (const StageSymbol &symbol : stage.symbols)
    change.symbols.push_back(symbol.value);
  auto reduce = fused.getYield()
                    .getOperand(write.result)
                    .getDefiningOp<ReindexReduceOpInterface>();
  OpBuilder b(fused);
  FusedOp gathered = buildStage(
      b, fused.getLoc(), fused.getResultTypes(), fused.getInputs(),
      [&](ValueRange arguments) {
        SpaceRewriter rewriter(b, fused, change, arguments);
        rewriter.cloneBody();
        // Of the new dims and the symbols, already.
        IndexAccess access;
        access.map =
            AffineMap::get(extents.size(), stage.symbols.size(), indices, ctx);
        for (Value symbol : change.symbols)
          access.symbols.push_back(rewriter.lookUpArgument(symbol));
        addConditions(access, conditions);
        auto type = cast<RankedTensorType>(fused.getResult(0).getType());
        return SmallVector<Value>{ReindexReduceOp::create(
            b, reduce.getLoc(), type, reduce.getReduceKind(),
            rewriter.lookUp(reduce.getSource()), access)};
      });
  fused.replaceAllUsesWith(gathered);
  fused.erase();
}

namespace {
struct GatherScattersPass
    : metaop::impl::GatherScattersPassBase<GatherScattersPass> {
  using GatherScattersPassBase::GatherScattersPassBase;

  LogicalResult gather(KernelOp kernel) {
    StringRef reason;
    FusedOp fused = findStageToRewrite(kernel, reason);
    if (!fused)
      return keep(kernel, reason);
    FailureOr<Stage> stage = Stage::build(fused);
    if (failed(stage))
      return failure();
    StringRef obstacle = Gatherer::getObstacle(fused, *stage);
    if (!obstacle.empty())
      return keep(kernel, obstacle);
    bool isForced = metaop::isForced(kernel, kGatherScatters);
    Gatherer gatherer(fused, *stage, isForced);
    if (!gatherer.change())
      return keep(kernel, "no loop of its result's indices can be replaced");
    if (report)
      fused.emitRemark("gathers what it scattered")
          << (isForced ? ", as is forced" : "");
    gatherer.replace();
    return success();
  }

  LogicalResult keep(KernelOp kernel, StringRef reason) {
    return keepKernel(kernel, kGatherScatters, reason);
  }

  void runOnOperation() override {
    auto kernels = collectOps<KernelOp>(getOperation().getBody());
    for (KernelOp kernel : kernels)
      if (!isForbidden(kernel, kGatherScatters) && failed(gather(kernel)))
        return signalPassFailure();
  }
};
} // namespace
