//===- ReductionSplitter.cpp - Reductions in two steps --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that keeps few elements and reduces many has little for threads to
// share. It is replaced by two: one has a further loop outside, over blocks of
// one reduced dimension, and writes a partial result per block; the other
// combines the partial results (a split reduction; Halide's rfactor).
//
//   y = sum(x[i], i < n)    becomes    t[p] = sum(x[p * B + i], p * B + i < n)
//                                      y = sum(t[p])
//
// Both are ordinary stages in kernels of their own. The number of blocks comes
// from the extents alone, and the order in which they are combined is part of
// a schedule, so the result has the same bits for any number of threads.
//
// Everything that a stage reads is read through the map above. The condition
// is there only where the blocks do not fill the dimension; the lowering makes
// it the end of the loop over i. A stage that reduces everything, and reads
// tensors as they lie, is flattened first: then blocks are long however the
// extents are.
//
// Random numbers depend on their position in the whole, which the blocks keep
// if they are of the outermost dimension or of the flattened space. Counters of
// the cut dimension count blocks and positions in them.
//
// Element-wise results of such a stage are written block by block, and seen
// through a reshape; then the blocks have to fill the outermost dimension.
//
// Sums and products of half floats have partial results in f32, and a third
// kernel rounds them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Rewrites/ReductionSplitter.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Transforms/Schedule/Stage/SpaceRewriter.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// There are more of them where these would be longer, up to a limit: a run can
/// be stopped between two.
static constexpr int64_t kMaxBlock = 1 << 24;
static constexpr int64_t kMostBlocks = 1 << 20;
static constexpr int64_t kMinBlocks = 8;
/// Iterations per partial result, at least.
static constexpr int64_t kMinReduced = 32;
/// The same of a contraction, whose results are many for what it reads: tiles
/// of them are shared rather.
static constexpr int64_t kMinReducedProducts = 2048;
/// Long blocks begin where vectors and cache lines do.
static constexpr int64_t kBlockAlignment = 256;

namespace {

/// Division of a dimension of the iteration space.
struct Split {
  unsigned dim;
  int64_t extent;
  int64_t block;
  /// All dimensions are one before.
  bool isFlat = false;

  int64_t getCount() const { return llvm::divideCeil(extent, block); }
  bool hasRest() const { return extent % block != 0; }
};

/// Replaces the kernel of one stage.
class Splitter {
public:
  Splitter(KernelOp kernel, FusedOp fused)
      : kernel(kernel), fused(fused), b(kernel), loc(fused.getLoc()),
        isForced(metaop::isForced(kernel, kSplitReductions)) {}

  /// Returns whether this pass knows all that the stage does.
  bool isSupported();
  /// Returns true if it reduces as much as is worth a split.
  bool isLong(const Sharers &sharers);
  std::optional<Split> choose(const Stage &stage, const Sharers &sharers);
  /// Returns the kernel of the partial sums.
  KernelOp replace(const Split &split);
  /// Why there is no split.
  StringRef getReason() const { return reason; }

private:
  std::optional<Split> refuse(StringRef why) {
    reason = why;
    return std::nullopt;
  }
  bool canFlatten();
  bool isReduced(unsigned dim);
  bool hasRandom() { return !getStageBody().getOps<RandomOp>().empty(); }
  /// Returns whether a result is not reduced.
  bool hasElementwise();
  int64_t countResults();
  ArrayRef<int64_t> getSpace() {
    return fused.getIterationValue().getType().getShape();
  }
  Block &getStageBody() { return fused.getBody().front(); }

  SmallVector<Value> buildPartial(ValueRange arguments, const Split &split,
                                  TypeRange types);
  Value combine(ReindexReduceOpInterface op, Value partial,
                RankedTensorType type);

  KernelOp kernel;
  FusedOp fused;
  OpBuilder b;
  Location loc;
  bool isForced;
  StringRef reason;
};

/// Partial results of half floats are kept in f32 where rounding would add up.
Type getPartialElement(ReindexReduceOpInterface op) {
  Type element = op.getSource().getType().getElementType();
  return roundsHalves(op.getReduceKind(), element)
             ? Float32Type::get(element.getContext())
             : element;
}

/// A dimension that is kept, or one that was and has extent 1.
bool isDimOrZero(AffineExpr index) {
  auto constant = dyn_cast<AffineConstantExpr>(index);
  return isa<AffineDimExpr>(index) || (constant && constant.getValue() == 0);
}

} // namespace

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

bool Splitter::isSupported() {
  reason = "the stage does what cannot be done block by block";
  if (kernel.getYield().getOperands() != fused.getResults())
    return false;
  if (!SpaceRewriter::isSupported(fused) ||
      !fused.getIterationValue().getType().hasStaticShape())
    return false;
  bool anyReduced = false;
  for (Value yielded : fused.getYield().getOperands()) {
    auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>();
    anyReduced |= reduce != nullptr;
    bool isSupported =
        reduce ? llvm::all_of(reduce.getIndexAccess().map.getResults(),
                              isDimOrZero)
               : yielded.getDefiningOp<ElementwiseOpInterface>() != nullptr;
    if (!isSupported)
      return false;
  }
  return anyReduced;
}

bool Splitter::isReduced(unsigned dim) {
  return llvm::none_of(fused.getYield().getOperands(), [&](Value yielded) {
    auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>();
    return reduce && reduce.getIndexAccess().map.isFunctionOfDim(dim);
  });
}

bool Splitter::hasElementwise() {
  return llvm::any_of(fused.getYield().getOperands(), [](Value yielded) {
    return yielded.getDefiningOp<ElementwiseOpInterface>() != nullptr;
  });
}

/// Returns whether the stage is the same over one dimension: all is reduced,
/// and what is read is read as it lies, or is one element.
bool Splitter::canFlatten() {
  llvm::SmallDenseSet<Value> reindexed, whole;
  for (Operation &op : getStageBody().without_terminator()) {
    if (isa<RandomOp>(op))
      continue;
    if (isa<IotaOp>(op) && getSpace().size() > 1)
      return false;
    if (auto reindex = dyn_cast<ReindexOpInterface>(op)) {
      IndexAccess access = reindex.getIndexAccess();
      if (access.map.getNumResults() != 0 || access.conditions != IntegerSet())
        return false;
      reindexed.insert(reindex.getSource());
      continue;
    }
    if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op)) {
      IndexAccess access = reduce.getIndexAccess();
      if (access.map.getNumResults() != 0 || access.conditions != IntegerSet())
        return false;
    }
    for (Value operand : op.getOperands())
      if (isa<BlockArgument>(operand))
        whole.insert(operand);
  }
  return llvm::none_of(whole,
                       [&](Value value) { return reindexed.contains(value); });
}

/// Counts the elements of the results that are reduced.
int64_t Splitter::countResults() {
  int64_t results = 0;
  for (auto [result, yielded] :
       llvm::zip_equal(fused.getResults(), fused.getYield().getOperands()))
    if (yielded.getDefiningOp<ReindexReduceOpInterface>())
      results = addCounts(
          results,
          countElements(cast<RankedTensorType>(result.getType()).getShape()));
  return results;
}

bool Splitter::isLong(const Sharers &sharers) {
  int64_t iterations = countElements(getSpace());
  if (iterations == 0 || countResults() == 0)
    reason = "there is nothing to reduce";
  else if (iterations == kMaxCount)
    reason = "its iterations cannot be counted";
  else if (iterations < sharers.minIterations && !isForced)
    reason = "it reduces too little";
  else
    return true;
  return false;
}

std::optional<Split> Splitter::choose(const Stage &stage,
                                      const Sharers &sharers) {
  ArrayRef<int64_t> space = getSpace();
  int64_t iterations = countElements(space), results = countResults();
  int64_t steps = sharers.countSteps(stage);
  int64_t blocks =
      std::clamp(iterations / kMaxBlock, sharers.maxBlocks, kMostBlocks);
  int64_t minReduced =
      Contraction::match(stage) ? kMinReducedProducts : kMinReduced;
  auto areTooMany = [&] {
    return multiplyCounts(results, blocks * minReduced) > iterations;
  };
  while (blocks > kMinBlocks && areTooMany())
    blocks /= 2;
  if (steps >= sharers.enoughSteps && !isForced)
    return refuse("its loops are enough for threads");
  if (areTooMany() && !isForced)
    return refuse("partial results would be too many");

  std::optional<Split> split;
  if (canFlatten()) {
    split = Split{0, iterations, 0, /*isFlat=*/true};
  } else {
    // The outermost dimension that is long enough, or else the longest.
    for (auto [dim, extent] : llvm::enumerate(space))
      if (isReduced(dim) &&
          (!split || (split->extent < blocks && extent > split->extent)))
        split = Split{static_cast<unsigned>(dim), extent, 0};
  }
  if (!split || split->extent < 2)
    return refuse("no dimension that all results reduce is long enough");
  if (split->dim != 0 && hasRandom())
    return refuse("random numbers would be others");
  split->block = llvm::divideCeil(split->extent, blocks);
  if (split->block >= 4 * kBlockAlignment)
    split->block = llvm::alignTo(split->block, kBlockAlignment);
  if (hasElementwise()) {
    while (blocks > kMinBlocks && split->extent % blocks != 0)
      --blocks;
    if (split->dim != 0 || split->extent % blocks != 0)
      return refuse("element-wise results have no equal blocks");
    split->block = split->extent / blocks;
  }
  if (split->getCount() < 2 * steps && !isForced)
    return refuse("blocks would be hardly more than its loops are now");
  return split;
}

//===----------------------------------------------------------------------===//
// The new kernels
//===----------------------------------------------------------------------===//

/// Emits the operations of the stage over [blocks, ..., block, ...].
SmallVector<Value> Splitter::buildPartial(ValueRange arguments,
                                          const Split &split, TypeRange types) {
  SpaceChange change;
  change.space.assign(getSpace().begin(), getSpace().end());
  if (split.isFlat)
    change.space = {split.extent};
  for (unsigned dim = 0, rank = change.space.size(); dim < rank; ++dim)
    change.oldDims.push_back(b.getAffineDimExpr(dim + 1));
  AffineExpr &cut = change.oldDims[split.dim];
  cut = b.getAffineDimExpr(0) * split.block + cut;
  change.space[split.dim] = split.block;
  change.space.insert(change.space.begin(), split.getCount());
  SpaceRewriter rewriter(b, fused, change, arguments);
  rewriter.cloneBody();

  SmallVector<Value> partial;
  for (auto [yielded, type] :
       llvm::zip_equal(fused.getYield().getOperands(), types)) {
    auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>();
    if (!reduce) {
      partial.push_back(rewriter.lookUp(yielded));
      continue;
    }
    Value source = rewriter.lookUp(reduce.getSource());
    Type element = getElementTypeOrSelf(type);
    if (element != getElementTypeOrSelf(source.getType()))
      source =
          CastOp::create(b, reduce.getLoc(), rewriter.getType(type), source);
    IndexAccess access = rewriter.compose(reduce.getIndexAccess());
    access.map = access.map.insertResult(b.getAffineDimExpr(0), 0);
    if (split.hasRest())
      addConditions(access, b.getAffineConstantExpr(split.extent - 1) - cut);
    partial.push_back(ReindexReduceOp::create(
        b, reduce.getLoc(), cast<RankedTensorType>(type),
        reduce.getReduceKind(), source, access));
  }
  return partial;
}

/// The kernel that combines partial results, and the one that rounds.
Value Splitter::combine(ReindexReduceOpInterface op, Value partial,
                        RankedTensorType type) {
  auto partialType = cast<RankedTensorType>(partial.getType());
  RankedTensorType sumType = type.clone(partialType.getElementType());
  IndexAccess access;
  access.map =
      AffineMap::getMultiDimIdentityMap(partialType.getRank(), b.getContext())
          .dropResult(0);
  KernelOp sum =
      buildStageKernel(b, loc, sumType, partial, [&](ValueRange arguments) {
        return SmallVector<Value>{ReindexReduceOp::create(
            b, op.getLoc(), sumType, op.getReduceKind(), arguments[0], access)};
      });
  inheritRewrites(kernel, sum, /*andForced=*/false);
  if (sumType == type)
    return sum.getResult(0);
  KernelOp rounded = buildStageKernel(
      b, loc, type, sum.getResult(0), [&](ValueRange arguments) {
        return SmallVector<Value>{
            CastOp::create(b, op.getLoc(), type, arguments[0])};
      });
  inheritRewrites(kernel, rounded, /*andForced=*/false);
  return rounded.getResult(0);
}

KernelOp Splitter::replace(const Split &split) {
  SmallVector<Value> inputs(kernel.getInputs());
  if (split.isFlat)
    for (Value &input : inputs)
      if (auto type = dyn_cast<RankedTensorType>(input.getType());
          type && type.getRank() > 1 && type.getNumElements() == split.extent)
        input = ReshapeOp::create(
            b, loc,
            RankedTensorType::get({split.extent}, type.getElementType()), input,
            ValueRange());
  SmallVector<ReindexReduceOpInterface> reductions;
  SmallVector<Type> types;
  for (Value yielded : fused.getYield().getOperands()) {
    auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>();
    reductions.push_back(reduce);
    auto type = cast<RankedTensorType>(yielded.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (!reduce) {
      if (split.isFlat)
        shape = {split.extent};
      shape[split.dim] = split.block;
      shape.insert(shape.begin(), split.getCount());
      types.push_back(type.clone(shape));
      continue;
    }
    shape.insert(shape.begin(), split.getCount());
    types.push_back(RankedTensorType::get(shape, getPartialElement(reduce)));
  }
  KernelOp partial =
      buildStageKernel(b, loc, types, inputs, [&](ValueRange arguments) {
        return buildPartial(arguments, split, types);
      });
  inheritRewrites(kernel, partial, /*andForced=*/true);

  for (auto [i, reduce] : llvm::enumerate(reductions)) {
    auto type = cast<RankedTensorType>(kernel.getType(i));
    Value combined = reduce
                         ? combine(reduce, partial.getResult(i), type)
                         : ReshapeOp::create(b, loc, type, partial.getResult(i),
                                             ValueRange());
    kernel.getResult(i).replaceAllUsesWith(combined);
  }
  kernel.erase();
  return partial;
}

/// Splits a kernel, or keeps it and says why in a report.
static LogicalResult splitKernel(KernelOp kernel, const Sharers &sharers,
                                 bool report) {
  StringRef reason;
  FusedOp fused = findStageToRewrite(kernel, reason);
  if (!fused)
    return keepKernel(kernel, kSplitReductions, reason);
  Splitter splitter(kernel, fused);
  if (!splitter.isSupported())
    return keepKernel(kernel, kSplitReductions, splitter.getReason());
  auto keep = [&] {
    if (report)
      fused.emitRemark("is not split: ") << splitter.getReason();
    return keepKernel(kernel, kSplitReductions, splitter.getReason());
  };
  if (!splitter.isLong(sharers))
    return keep();
  FailureOr<Stage> stage = Stage::build(fused);
  if (failed(stage))
    return failure();
  std::optional<Split> split = splitter.choose(*stage, sharers);
  if (!split)
    return keep();
  if (report)
    fused.emitRemark("splits ")
        << split->extent << " iterations of "
        << (split->isFlat ? "all dimensions"
                          : "dimension " + std::to_string(split->dim))
        << " into " << split->getCount() << " blocks of " << split->block
        << (isForced(kernel, kSplitReductions) ? ", as is forced" : "");
  KernelOp partial = splitter.replace(*split);
  if (sharers.areAlone)
    forbid(partial, kJoinStages);
  return success();
}

LogicalResult metaop::splitReductions(Operation *root, const Sharers &sharers,
                                      bool report) {
  SmallVector<KernelOp> kernels;
  root->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  for (KernelOp kernel : kernels)
    if (!isForbidden(kernel, kSplitReductions) &&
        failed(splitKernel(kernel, sharers, report)))
      return failure();
  return success();
}

bool metaop::isSplit(const Stage &stage, const Sharers &sharers) {
  FusedOp op = stage.op;
  auto kernel = cast<KernelOp>(op->getParentOp());
  StringRef reason;
  if (findStageToRewrite(kernel, reason) != op ||
      isForbidden(kernel, kSplitReductions))
    return false;
  Splitter splitter(kernel, op);
  return splitter.isSupported() && splitter.choose(stage, sharers).has_value();
}
