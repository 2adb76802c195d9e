//===- StageLoops.cpp - Changes of the loops of a stage -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps 2 to 4 of building a stage (see Stage.cpp). Every change gives the old
// loops as expressions in new ones, and rewrites all expressions of the stage.
//
//===----------------------------------------------------------------------===//

#include "StageBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

void StageBuilder::substitute(ArrayRef<AffineExpr> oldLoops,
                              unsigned numNewLoops) {
  unsigned numSymbols = stage.symbols.size();
  auto rewrite = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr.replaceDims(oldLoops), numNewLoops,
                              numSymbols);
  };
  auto rewriteMap = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(rewrite(result));
    return AffineMap::get(numNewLoops, numSymbols, results, ctx);
  };
  auto rewriteAll = [&](SmallVectorImpl<AffineExpr> &exprs) {
    for (AffineExpr &expr : exprs)
      expr = rewrite(expr);
  };
  forEachPlace([&](StagePlace &place) {
    place.offset = rewrite(place.offset);
    rewriteAll(place.rangeChecks);
    rewriteAll(place.conditions);
  });
  for (StageRead &read : stage.reads)
    read.map = rewriteMap(read.map);
  for (StageWrite &write : stage.writes)
    write.map = rewriteMap(write.map);
  rewriteAll(stage.domain);
  stage.toIterationSpace = rewriteMap(stage.toIterationSpace);
}

void StageBuilder::dropUnitLoops() {
  SmallVector<AffineExpr> oldLoops, extents;
  for (AffineExpr extent : stage.extents) {
    if (extent == constant(1)) {
      oldLoops.push_back(constant(0));
      continue;
    }
    oldLoops.push_back(getAffineDimExpr(extents.size(), ctx));
    extents.push_back(extent);
  }
  if (extents.size() == stage.extents.size())
    return;
  substitute(oldLoops, extents.size());
  stage.extents = extents;
}

bool StageBuilder::tryGather(StageWrite &write, unsigned position,
                             unsigned loop) {
  AffineExpr index = write.map.getResult(position);
  auto coefficient = getConstantCoefficient(index, loop);
  int64_t oldExtent = stage.getStaticExtent(loop);
  auto type =
      cast<RankedTensorType>(stage.op.getResult(write.result).getType());
  int64_t newExtent = type.getDimSize(position);
  if (!coefficient || std::abs(*coefficient) != 1 ||
      ShapedType::isDynamic(oldExtent) || ShapedType::isDynamic(newExtent) ||
      newExtent > 2 * oldExtent)
    return false;
  for (auto [other, expr] : llvm::enumerate(write.map.getResults()))
    if (other != position && expr.isFunctionOfDim(loop))
      return false;

  // index = c * i + rest = k, so i = c * (k - rest) where c is 1 or -1.
  unsigned numLoops = stage.extents.size();
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < numLoops; ++i)
    loops.push_back(getAffineDimExpr(i, ctx));
  AffineExpr k = loops[loop];
  SmallVector<AffineExpr> withZero(loops);
  withZero[loop] = constant(0);
  AffineExpr rest = index.replaceDims(withZero);
  loops[loop] = simplifyAffineExpr((k - rest) * *coefficient, numLoops,
                                   stage.symbols.size());
  // The old bounds of i become conditions; k is in range by construction.
  AffineExpr old = loops[loop];
  substitute(loops, numLoops);
  stage.extents[loop] = constant(newExtent);
  addCheck(stage.domain, old);
  addCheck(stage.domain, constant(oldExtent - 1) - old);
  return true;
}

/// Counts a loop downwards, which changes the sign of its coefficients.
void StageBuilder::reverseLoop(unsigned loop) {
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < stage.extents.size(); ++i)
    loops.push_back(getAffineDimExpr(i, ctx));
  loops[loop] = stage.extents[loop] - 1 - loops[loop];
  substitute(loops, stage.extents.size());
}

bool StageBuilder::tryStridedGather(StageWrite &write, unsigned position) {
  AffineExpr index = write.map.getResult(position);
  std::optional<unsigned> strided, unit;
  for (unsigned loop = 0; loop < stage.extents.size(); ++loop) {
    if (!index.isFunctionOfDim(loop))
      continue;
    auto factor = getConstantCoefficient(index, loop);
    bool isElsewhere =
        llvm::any_of(llvm::enumerate(write.map.getResults()), [&](auto other) {
          return other.index() != position &&
                 other.value().isFunctionOfDim(loop);
        });
    if (!factor || *factor == 0 || isElsewhere ||
        ShapedType::isDynamic(stage.getStaticExtent(loop)))
      return false;
    std::optional<unsigned> &role = std::abs(*factor) == 1 ? unit : strided;
    if (role)
      return false;
    role = loop;
  }
  auto type =
      cast<RankedTensorType>(stage.op.getResult(write.result).getType());
  int64_t newExtent = type.getDimSize(position);
  if (!strided || ShapedType::isDynamic(newExtent))
    return false;
  for (auto loop : {strided, unit})
    if (loop && *getConstantCoefficient(index, *loop) < 0) {
      reverseLoop(*loop);
      index = write.map.getResult(position);
    }
  int64_t stride = *getConstantCoefficient(index, *strided);
  int64_t stridedExtent = stage.getStaticExtent(*strided);
  int64_t unitExtent = unit ? stage.getStaticExtent(*unit) : 1;
  int64_t steps = llvm::divideCeil(newExtent, stride);
  int64_t taps = llvm::divideCeil(unitExtent, stride);
  if (steps * stride * taps > 4 * stridedExtent * unitExtent)
    return false;

  // index = stride * i + j + rest = k with k = stride * k1 + k0 and
  // k0 - rest = stride * a + b, so i = k1 + a - t and j = b + stride * t.
  unsigned numLoops = stage.extents.size();
  SmallVector<AffineExpr> loops, zeros(numLoops, constant(0));
  for (unsigned i = 0; i < numLoops; ++i)
    loops.push_back(getAffineDimExpr(i, ctx));
  auto rest = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      index.replaceDims(zeros), numLoops, stage.symbols.size()));
  if (!rest)
    return false;
  AffineExpr k1 = loops[*strided], k0 = getAffineDimExpr(numLoops, ctx);
  AffineExpr t = unit ? loops[*unit] : constant(0);
  AffineExpr shifted = k0 - rest.getValue();
  AffineExpr i = k1 + shifted.floorDiv(stride) - t;
  AffineExpr j = shifted % stride + t * stride;
  loops[*strided] = i;
  if (unit)
    loops[*unit] = j;
  substitute(loops, numLoops + 1);
  stage.extents[*strided] = constant(steps);
  if (unit)
    stage.extents[*unit] = constant(taps);
  stage.extents.push_back(constant(stride));
  SmallVector<AffineExpr> results(write.map.getResults());
  results[position] = k1 * stride + k0;
  write.map = AffineMap::get(numLoops + 1, stage.symbols.size(), results, ctx);
  addCheck(stage.domain, i);
  addCheck(stage.domain, constant(stridedExtent - 1) - i);
  addCheck(stage.domain, constant(unitExtent - 1) - j);
  return true;
}

/// Computes the places again, from the indices in new loops: what was proven of
/// the old loops may not hold of the new ones, where they leave the domain.
void StageBuilder::remakePlaces() {
  for (StageRead &read : stage.reads) {
    SmallVector<AffineExpr> shape = getShape(read.source);
    StagePlace place =
        makePlace(read.map, shape, getStrides(shape, getRows(read.source)));
    place.conditions = read.place.conditions;
    read.place = std::move(place);
  }
  for (StageWrite &write : stage.writes) {
    StagePlace place = makePlace(write.map, write.shape, write.strides);
    place.conditions = write.place.conditions;
    write.place = std::move(place);
  }
}

void StageBuilder::gatherScatter() {
  if (stage.writes.size() != 1 || !stage.writes[0].kind || stage.isEmpty() ||
      llvm::any_of(stage.writes[0].map.getResults(),
                   [&](AffineExpr index) { return stage.isIndirect(index); }))
    return;
  // Digits of an index, as those of a dimension in panels, are no scatter.
  if (isProjection(stage.writes[0]))
    return;
  bool changed = false;
  for (unsigned position = 0; position < stage.writes[0].map.getNumResults();
       ++position) {
    AffineExpr index = stage.writes[0].map.getResult(position);
    if (isa<AffineDimExpr, AffineConstantExpr>(index))
      continue;
    // The loop of the largest extent changes least.
    SmallVector<unsigned> candidates;
    for (unsigned loop = 0; loop < stage.extents.size(); ++loop)
      if (index.isFunctionOfDim(loop))
        candidates.push_back(loop);
    llvm::sort(candidates, [&](unsigned a, unsigned b) {
      int64_t extentA = stage.getStaticExtent(a);
      int64_t extentB = stage.getStaticExtent(b);
      return std::tie(extentB, a) < std::tie(extentA, b);
    });
    changed |= llvm::any_of(candidates,
                            [&](unsigned loop) {
                              return tryGather(stage.writes[0], position, loop);
                            }) ||
               tryStridedGather(stage.writes[0], position);
  }
  if (changed)
    remakePlaces();
}

bool StageBuilder::canCollapse(unsigned loop) {
  AffineExpr inner = stage.extents[loop + 1];
  bool contiguous = true;
  auto isFree = [&](AffineExpr expr) {
    return !expr.isFunctionOfDim(loop) && !expr.isFunctionOfDim(loop + 1);
  };
  forEachPlace([&](StagePlace &place) {
    auto outerStep = getCoefficient(place.offset, loop);
    auto innerStep = getCoefficient(place.offset, loop + 1);
    contiguous &= outerStep && innerStep &&
                  simplifyAffineExpr(*outerStep - *innerStep * inner, 0,
                                     stage.symbols.size()) == constant(0);
    contiguous &= llvm::all_of(place.rangeChecks, isFree) &&
                  llvm::all_of(place.conditions, isFree);
  });
  contiguous &= llvm::all_of(stage.domain, isFree);
  for (StageWrite &write : stage.writes)
    contiguous &= write.isProjection;
  return contiguous;
}

/// Whether the stage is a reduction in blocks.
static bool isBlocked(FusedOp op) {
  return op && op.getScheduleAttr() && !op.getScheduleAttr().isFlat() &&
         llvm::any_of(op.getBody().front(), [](Operation &inner) {
           return isa<ReindexReduceOpInterface>(inner);
         });
}

/// Finds what passes between the stage and a contraction in blocks, before
/// loops are collapsed. The contraction itself has its own loops.
LogicalResult StageBuilder::findBlocks() {
  if (isBlocked(stage.op))
    return success();
  for (const StageRead &read : stage.reads) {
    auto argument = dyn_cast<BlockArgument>(read.source);
    Value outer =
        argument ? stage.op.getInputs()[argument.getArgNumber()] : Value();
    auto producer = outer ? outer.getDefiningOp<FusedOp>() : FusedOp();
    if (!isBlocked(producer))
      continue;
    FailureOr<Stage> contraction = Stage::build(producer);
    if (failed(contraction))
      return failure();
    for (const StageWrite &write : contraction->writes)
      if (producer->getResult(write.result) == outer)
        blocks.emplace_back(&read.map, write.map);
  }
  for (const StageWrite &write : stage.writes) {
    Value result = stage.op->getResult(write.result);
    for (OpOperand &use : result.getUses()) {
      auto consumer = dyn_cast<FusedOp>(use.getOwner());
      if (!isBlocked(consumer))
        continue;
      FailureOr<Stage> contraction = Stage::build(consumer);
      if (failed(contraction))
        return failure();
      Value argument = consumer.getBody().getArgument(use.getOperandNumber());
      for (const StageRead &read : contraction->reads)
        if (read.source == argument)
          blocks.emplace_back(&write.map, read.map);
    }
  }
  return success();
}

/// Whether two loops number dimensions of such a value that are different loops
/// of the contraction: both stages share blocks of these.
bool StageBuilder::areApart(unsigned outer, unsigned inner) {
  AffineExpr first = getAffineDimExpr(outer, ctx);
  AffineExpr second = getAffineDimExpr(inner, ctx);
  return llvm::any_of(blocks, [&](const auto &block) {
    auto [own, map] = block;
    for (unsigned i = 0, end = map.getNumResults(); i + 1 < end; ++i)
      if (own->getResult(i) == first)
        return map.getResult(i) != constant(0) ||
               !llvm::is_contained(own->getResults().drop_front(i + 1), second);
    return false;
  });
}

bool StageBuilder::isNumbered(unsigned loop) {
  return llvm::any_of(stage.body, [&](Operation *op) {
    if (auto iota = dyn_cast<IotaOp>(op))
      return stage.toIterationSpace
          .getResult(static_cast<unsigned>(iota.getDimension()))
          .isFunctionOfDim(loop);
    return isa<GeneratorOpInterface>(op) && !isa<ConstantOp>(op);
  });
}

void StageBuilder::collapseLoops() {
  for (unsigned loop = stage.extents.size(); loop-- > 1;) {
    unsigned outer = loop - 1;
    if (isNumbered(outer) || isNumbered(loop) || !canCollapse(outer) ||
        areApart(outer, loop))
      continue;
    // The pair (i, j) becomes one loop k: i is 0 and j is k in every place.
    AffineExpr innerExtent = stage.extents[loop];
    SmallVector<AffineExpr> loops, space, extents;
    for (unsigned i = 0; i < stage.extents.size(); ++i) {
      unsigned now = i > outer ? i - 1 : i;
      loops.push_back(i == outer ? constant(0) : getAffineDimExpr(now, ctx));
      space.push_back(getAffineDimExpr(now, ctx));
      if (i != loop)
        extents.push_back(stage.extents[i]);
    }
    extents[outer] = stage.extents[outer] * innerExtent;
    AffineExpr k = getAffineDimExpr(outer, ctx);
    space[outer] = k.floorDiv(innerExtent);
    space[loop] = k % innerExtent;
    AffineMap toSpace = stage.toIterationSpace;
    SmallVector<AffineExpr> results;
    for (AffineExpr result : toSpace.getResults())
      results.push_back(result.replaceDims(space));
    // A pair is either kept or reduced as a whole.
    for (StageWrite &write : stage.writes) {
      SmallBitVector disjoint(extents.size());
      for (unsigned i : write.disjoint.set_bits())
        disjoint.set(i > outer ? i - 1 : i);
      write.disjoint = disjoint;
    }
    substitute(loops, extents.size());
    stage.toIterationSpace =
        AffineMap::get(extents.size(), stage.symbols.size(), results, ctx);
    stage.extents = extents;
  }
}
