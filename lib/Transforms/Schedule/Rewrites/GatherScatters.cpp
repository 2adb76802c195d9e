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
// A scatter into memory becomes a gather into an accumulator. The loop i is
// replaced by k, and i's bounds become conditions.
//
// With a stride, the result's index k = s * i + j is split into k1 and its
// remainder k0 by s: k = s * k1 + k0. For one k0, the taps j are s apart, and i
// moves with k1 in unit steps, i = k1 - t and j = k0 + s * t. With a dilation
// too, k = s * i + d * j without a factor that s and d share, the taps of one
// k0 start at the b for which d * b leaves k0: j = b + s * t and i = k1 + (k0 -
// d * b) / s - d * t. A factor that both share has gone before: the result is
// reduced without the elements between.
//
// Both are done while the new loops do not run over much more than the old
// ones, and of both the one that runs over less: few steps of a window leave as
// few taps of each phase, but of each element of the result all steps. One
// index of the result after the other is looked at; of several loops in an
// index, the longest changes least.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/SpaceRewriter.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::metaop {
#define GEN_PASS_DEF_GATHERSCATTERSPASS
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h.inc"
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
  /// The same, as far as the stage tells without its model.
  static StringRef getObstacle(FusedOp fused);

  /// Changes the loops of as many indices as it can; false if of none.
  bool change();
  void replace();

private:
  /// A loop of a window and its factor in an index.
  struct WindowLoop {
    bool isUnit() const { return std::abs(factor) == 1; }

    unsigned loop;
    int64_t factor;
  };
  /// The loops of a window, and the extents of those that replace them.
  struct StridedGather {
    /// Counts its iterations: each tap belongs to one phase.
    int64_t getPoints() const { return numSteps * tapExtent; }

    WindowLoop steps;
    std::optional<WindowLoop> taps;
    int64_t stride = 1, dilation = 1, tapExtent = 1, numSteps = 1, numTaps = 1;
  };

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
  std::optional<unsigned> findUnitLoop(unsigned position) const;
  int64_t countPoints(unsigned position, unsigned replaced) const;
  void replaceByIndex(unsigned position, unsigned loop);
  std::optional<int64_t> getOrigin(unsigned position) const;
  SmallVector<WindowLoop, 2> findWindow(unsigned position) const;
  std::optional<StridedGather>
  makeStridedGather(unsigned position, WindowLoop steps,
                    std::optional<WindowLoop> taps) const;
  std::optional<StridedGather> findStridedGather(unsigned position) const;
  std::pair<AffineExpr, AffineExpr> getOldLoops(const StridedGather &gather,
                                                int64_t rest, AffineExpr k1,
                                                AffineExpr k0,
                                                AffineExpr t) const;
  void replaceByPhases(unsigned position, const StridedGather &gather);
  bool gather(unsigned position);
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

StringRef Gatherer::getObstacle(FusedOp fused) {
  OperandRange yielded = fused.getYield().getOperands();
  auto reduce = yielded.size() == 1
                    ? yielded.front().getDefiningOp<ReindexReduceOpInterface>()
                    : ReindexReduceOpInterface();
  if (!reduce)
    return "it has a result that is not reduced, or several";
  bool hasSum = llvm::any_of(
      reduce.getIndexAccess().map.getResults(), [](AffineExpr index) {
        return !isa<AffineDimExpr, AffineConstantExpr>(index);
      });
  return hasSum ? "" : "its result's indices are loops";
}

StringRef Gatherer::getObstacle(FusedOp fused, const Stage &stage) {
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

/// Returns whether the loop moves along another index of the result as well.
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

/// Returns the loop that the result's index may replace: of those in unit
/// steps the longest, which changes least.
std::optional<unsigned> Gatherer::findUnitLoop(unsigned position) const {
  std::optional<unsigned> longest;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (!indices[position].isFunctionOfDim(loop) || isElsewhere(position, loop))
      continue;
    auto factor = getConstantCoefficient(indices[position], loop);
    if (factor && std::abs(*factor) == 1 &&
        (!longest || extents[loop] > extents[*longest]))
      longest = loop;
  }
  bool isMuch =
      longest && resultShape[position] > kMaxGrowth * extents[*longest];
  return isMuch && !isForced ? std::nullopt : longest;
}

/// Counts the iterations of the loops in an index, where the result's replaces
/// one of them.
int64_t Gatherer::countPoints(unsigned position, unsigned replaced) const {
  int64_t points = resultShape[position];
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    if (loop != replaced && indices[position].isFunctionOfDim(loop))
      points *= extents[loop];
  return points;
}

void Gatherer::replaceByIndex(unsigned position, unsigned loop) {
  // index = c * i + rest = k, so i = c * (k - rest) where c is 1 or -1.
  AffineExpr index = indices[position];
  SmallVector<AffineExpr> loops = getLoops();
  AffineExpr k = loops[loop];
  AffineExpr rest = index.replace(k, constant(0));
  AffineExpr i = (k - rest) * *getConstantCoefficient(index, loop);
  loops[loop] = i;
  int64_t oldExtent = std::exchange(extents[loop], resultShape[position]);
  substitute(loops);
  // The old bounds of i become conditions; k is in range by construction.
  addCondition(i);
  addCondition(constant(oldExtent - 1) - i);
}

/// Counts a loop downwards, which changes the sign of its factors.
void Gatherer::reverse(unsigned loop) {
  SmallVector<AffineExpr> loops = getLoops();
  loops[loop] = constant(extents[loop] - 1) - loops[loop];
  substitute(loops);
}

/// Returns the loops i and j of `stride * i + dilation * j`, the longer one
/// first; there may be no j. None if the index is no window.
SmallVector<Gatherer::WindowLoop, 2>
Gatherer::findWindow(unsigned position) const {
  SmallVector<WindowLoop, 2> loops;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (!indices[position].isFunctionOfDim(loop))
      continue;
    auto factor = getConstantCoefficient(indices[position], loop);
    if (!factor || *factor == 0 || isElsewhere(position, loop))
      return {};
    loops.push_back({loop, *factor});
  }
  // A window neither wraps nor is moved by a symbol.
  IndexInterval interval = getInterval(indices[position], extents);
  if (loops.size() > 2 || !interval.lower || !interval.upper ||
      !getOrigin(position))
    return {};
  if (loops.size() == 2 && extents[loops[1].loop] > extents[loops[0].loop])
    std::swap(loops[0], loops[1]);
  return loops;
}

/// The index where all loops are 0, if it is known.
std::optional<int64_t> Gatherer::getOrigin(unsigned position) const {
  SmallVector<AffineExpr> zeros(extents.size(), constant(0));
  auto origin = dyn_cast<AffineConstantExpr>(
      simplify(indices[position].replaceDims(zeros)));
  return origin ? std::optional(origin.getValue()) : std::nullopt;
}

/// The number x in [0, modulus) for which `number * x` leaves 1, by Euclid's
/// algorithm; they share no factor.
static int64_t getInverse(int64_t number, int64_t modulus) {
  int64_t rest = modulus, next = number % modulus;
  int64_t inverse = 0, nextInverse = 1;
  while (next != 0) {
    int64_t quotient = rest / next;
    rest = std::exchange(next, rest - quotient * next);
    inverse = std::exchange(nextInverse, inverse - quotient * nextInverse);
  }
  return llvm::mod(inverse, modulus);
}

/// Returns the gather by phases of a loop's steps, of one window; none if its
/// factors share one, or the loops would run over too much.
std::optional<Gatherer::StridedGather>
Gatherer::makeStridedGather(unsigned position, WindowLoop steps,
                            std::optional<WindowLoop> taps) const {
  StridedGather gather{steps, taps};
  gather.stride = std::abs(steps.factor);
  gather.dilation = taps ? std::abs(taps->factor) : 1;
  gather.tapExtent = taps ? extents[taps->loop] : 1;
  gather.numSteps = llvm::divideCeil(resultShape[position], gather.stride);
  gather.numTaps = llvm::divideCeil(gather.tapExtent, gather.stride);
  int64_t points = gather.numSteps * gather.stride * gather.numTaps;
  bool isMuch =
      points > kMaxStridedGrowth * extents[steps.loop] * gather.tapExtent;
  // If both move in steps of more than 1, a graph is simplified to neither.
  if (std::gcd(gather.stride, gather.dilation) != 1 || (isMuch && !isForced))
    return std::nullopt;
  return gather;
}

/// Returns how a window is gathered by the phases of one of its loops, of both
/// the one that leaves fewer iterations.
std::optional<Gatherer::StridedGather>
Gatherer::findStridedGather(unsigned position) const {
  SmallVector<WindowLoop, 2> window = findWindow(position);
  std::optional<StridedGather> best;
  for (auto [number, steps] : llvm::enumerate(window)) {
    if (steps.isUnit())
      continue;
    std::optional<WindowLoop> taps;
    if (window.size() == 2)
      taps = window[1 - number];
    auto gather = makeStridedGather(position, steps, taps);
    if (gather && (!best || gather->getPoints() < best->getPoints()))
      best = gather;
  }
  return best;
}

/// Returns i and j of index = stride * i + dilation * j + rest = k with k =
/// stride * k1 + k0, where k1 and t are the loops of i and j now. The taps of
/// one k0 are those j that leave b, dilation * b = k0 - rest modulo stride; so
/// j = b + stride * t and, with k0 - rest - dilation * b = stride * a, i = k1 +
/// a
/// - dilation * t.
std::pair<AffineExpr, AffineExpr>
Gatherer::getOldLoops(const StridedGather &gather, int64_t rest, AffineExpr k1,
                      AffineExpr k0, AffineExpr t) const {
  int64_t stride = gather.stride, dilation = gather.dilation;
  AffineExpr b =
      (k0 - llvm::mod(rest, stride)) * getInverse(dilation, stride) % stride;
  AffineExpr a = (k0 - rest - (dilation == 1 ? constant(0) : b * dilation))
                     .floorDiv(stride);
  return {k1 + a - t * dilation, b + t * stride};
}

void Gatherer::replaceByPhases(unsigned position, const StridedGather &gather) {
  WindowLoop steps = gather.steps;
  std::optional<WindowLoop> taps = gather.taps;
  if (steps.factor < 0)
    reverse(steps.loop);
  if (taps && taps->factor < 0)
    reverse(taps->loop);

  SmallVector<AffineExpr> loops = getLoops();
  AffineExpr k1 = loops[steps.loop], t = taps ? loops[taps->loop] : constant(0);
  AffineExpr k0 = getAffineDimExpr(extents.size(), ctx);
  auto [i, j] = getOldLoops(gather, *getOrigin(position), k1, k0, t);
  loops[steps.loop] = i;
  if (taps)
    loops[taps->loop] = j;
  int64_t oldExtent = std::exchange(extents[steps.loop], gather.numSteps);
  if (taps)
    extents[taps->loop] = gather.numTaps;
  extents.push_back(gather.stride);
  substitute(loops);
  indices[position] = k1 * gather.stride + k0;
  addCondition(i);
  addCondition(constant(oldExtent - 1) - i);
  addCondition(constant(gather.tapExtent - 1) - j);
}

/// Gathers an index in the one of both ways that leaves fewer iterations.
bool Gatherer::gather(unsigned position) {
  std::optional<unsigned> loop = findUnitLoop(position);
  std::optional<StridedGather> strided = findStridedGather(position);
  if (strided &&
      (!loop || strided->getPoints() < countPoints(position, *loop))) {
    replaceByPhases(position, *strided);
    return true;
  }
  if (loop)
    replaceByIndex(position, *loop);
  return loop.has_value();
}

bool Gatherer::change() {
  bool isChanged = false;
  for (unsigned position = 0; position < indices.size(); ++position)
    if (!isa<AffineDimExpr, AffineConstantExpr>(indices[position]))
      isChanged |= gather(position);
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
    StringRef obstacle = Gatherer::getObstacle(fused);
    if (!obstacle.empty())
      return keep(kernel, obstacle);
    FailureOr<Stage> stage = Stage::build(fused);
    if (failed(stage))
      return failure();
    obstacle = Gatherer::getObstacle(fused, *stage);
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
