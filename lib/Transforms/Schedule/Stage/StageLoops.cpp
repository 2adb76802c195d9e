//===- StageLoops.cpp - Changes of the loops of a stage -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps 2 and 3 of building a stage (see Stage.cpp). Every change gives the old
// loops as expressions in new ones, and rewrites all expressions of the stage.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedBlock.h"
#include "StageBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

void StageBuilder::substitute(ArrayRef<AffineExpr> oldLoops,
                              unsigned numNewLoops) {
  unsigned numSymbols = stage.symbols.size();
  auto rewrite = [&](AffineExpr expr) {
    if (auto form = LinearForm::get(expr, oldLoops.size()))
      if (auto replaced = form->replace(oldLoops, numNewLoops))
        return replaced->getExpr(ctx);
    AffineExpr replaced = expr.replaceDims(oldLoops);
    // The flat form of one term is that term.
    return isa<AffineBinaryOpExpr>(replaced)
               ? simplifyAffineExpr(replaced, numNewLoops, numSymbols)
               : replaced;
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
  stage.toIterationSpace = rewriteMap(stage.toIterationSpace);
}

void StageBuilder::dropUnitLoops() {
  SmallVector<AffineExpr> oldLoops, extents;
  for (auto [loop, extent] : llvm::enumerate(stage.extents)) {
    if (extent == constant(1) && !isCarried(loop)) {
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

bool StageBuilder::canCollapse(unsigned loop) {
  AffineExpr inner = stage.extents[loop + 1];
  auto isFree = [&](AffineExpr expr) {
    return !expr.isFunctionOfDim(loop) && !expr.isFunctionOfDim(loop + 1);
  };
  auto isContiguous = [&](const StagePlace &place) {
    if (!llvm::all_of(place.rangeChecks, isFree) ||
        !llvm::all_of(place.conditions, isFree))
      return false;
    if (isFree(place.offset))
      return true;
    auto form = LinearForm::get(place.offset, stage.extents.size());
    if (auto count = dyn_cast<AffineConstantExpr>(inner); form && count)
      return llvm::checkedMul(form->factors[loop + 1], count.getValue()) ==
             form->factors[loop];
    auto outerStep = getCoefficient(place.offset, loop);
    auto innerStep = getCoefficient(place.offset, loop + 1);
    return outerStep && innerStep &&
           simplify(*outerStep - *innerStep * inner) == constant(0);
  };
  return llvm::all_of(
             stage.reads,
             [&](const StageRead &read) { return isContiguous(read.place); }) &&
         llvm::all_of(stage.writes, [&](const StageWrite &write) {
           return write.isProjection && isContiguous(write.place);
         });
}

/// The sums of a contraction in the outermost blocks of each dimension, as an
/// epilogue's loops number them.
static PassedBlock getSums(const AffineMap *own, const Stage &contraction,
                           const StageWrite &write) {
  FusedOp op = contraction.op;
  PassedBlock sums{own, write.map, getElementBytes(write.value.getType()), {}};
  for (AffineExpr index : write.map.getResults()) {
    sums.parts.emplace_back();
    if (isa<AffineConstantExpr>(index))
      sums.parts.back() = {1, 1};
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim)
      continue;
    int64_t extent = contraction.getStaticExtent(dim.getPosition());
    if (ShapedType::isDynamic(extent))
      continue;
    sums.parts.back() = {extent, extent};
    for (const LoopLevel &level :
         llvm::reverse(op.getScheduleAttr().getLevels()))
      if (level.dim == dim.getPosition() && level.step < extent)
        sums.parts.back()->inBlock = level.step;
  }
  return sums;
}

/// Finds what passes between the stage and a contraction in blocks, or another
/// epilogue of that, before loops are collapsed. The contraction itself has its
/// own loops.
LogicalResult StageBuilder::findBlocks() {
  FusedOp contraction = findContractionInBlocks(*stage.op->getBlock());
  if (!contraction || contraction == stage.op)
    return success();
  for (const StageRead &read : stage.reads) {
    auto argument = dyn_cast<BlockArgument>(read.source);
    Value outer =
        argument ? stage.op.getInputs()[argument.getArgNumber()] : Value();
    auto producer = outer ? outer.getDefiningOp<FusedOp>() : FusedOp();
    if (!producer || producer->isBeforeInBlock(contraction))
      continue;
    FailureOr<const Stage *> writer = models.get(producer);
    if (failed(writer))
      return failure();
    for (const StageWrite &write : (*writer)->writes)
      if (producer->getResult(write.result) == outer)
        blocks.push_back(producer == contraction
                             ? getSums(&read.map, **writer, write)
                             : PassedBlock{&read.map, write.map, 0, {}});
  }
  if (!stage.op->isBeforeInBlock(contraction))
    return success();
  FailureOr<const Stage *> reader = models.get(contraction);
  if (failed(reader))
    return failure();
  for (const StageWrite &write : stage.writes) {
    Value result = stage.op->getResult(write.result);
    for (const StageRead &read : (*reader)->reads)
      if (auto argument = dyn_cast<BlockArgument>(read.source);
          argument &&
          contraction.getInputs()[argument.getArgNumber()] == result)
        blocks.push_back({&write.map, read.map, 0, {}});
  }
  return success();
}

/// Returns whether blocks of sums are whole in the dimensions behind
/// `position`, up to that which the loop `inner` numbers, and are with these
/// whole cache lines: then they are whole vectors along one loop.
bool StageBuilder::areWholeLines(const PassedBlock &block, unsigned position,
                                 AffineExpr inner) {
  auto outer = block.parts.empty() ? std::nullopt : block.parts[position];
  if (!outer)
    return false;
  int64_t run = outer->inBlock;
  while (block.own->getResult(position) != inner) {
    auto part = block.parts[++position];
    if (!part || part->inBlock != part->whole)
      return false;
    run *= part->whole;
  }
  return outer->inBlock == outer->whole || run * block.bytes % kLineBytes == 0;
}

/// Returns whether two loops number dimensions of such a value that are
/// different loops of the contraction: both stages share blocks of these.
bool StageBuilder::areApart(unsigned outer, unsigned inner) {
  AffineExpr first = getAffineDimExpr(outer, ctx);
  AffineExpr second = getAffineDimExpr(inner, ctx);
  return llvm::any_of(blocks, [&](const PassedBlock &block) {
    for (unsigned i = 0, end = block.map.getNumResults(); i + 1 < end; ++i)
      if (block.own->getResult(i) == first)
        return !llvm::is_contained(block.own->getResults().drop_front(i + 1),
                                   second) ||
               (block.map.getResult(i) != constant(0) &&
                !areWholeLines(block, i, second));
    return false;
  });
}

/// Returns whether a prefix goes along the loop.
bool StageBuilder::isCarried(unsigned loop) {
  return llvm::any_of(stage.body, [&](Operation *op) {
    auto prefix = dyn_cast<PrefixOp>(op);
    return prefix && stage.toIterationSpace.getResult(prefix.getDim())
                         .isFunctionOfDim(loop);
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

/// Returns the loops that the stage has begin at some dimensions.
SmallBitVector StageBuilder::findFirstLoops() const {
  SmallBitVector first(stage.extents.size());
  FusedOp op = stage.op;
  std::optional<ArrayRef<int64_t>> dims = op.getFirstDims();
  if (!dims)
    return first;
  for (int64_t dim : *dims)
    // A dimension of one element has no loop.
    for (unsigned i = std::max<int64_t>(dim, 0);
         i < stage.toIterationSpace.getNumResults(); ++i)
      if (auto loop =
              dyn_cast<AffineDimExpr>(stage.toIterationSpace.getResult(i))) {
        first.set(loop.getPosition());
        break;
      }
  return first;
}

void StageBuilder::collapseLoops() {
  SmallBitVector first = findFirstLoops();
  for (unsigned loop = stage.extents.size(); loop-- > 1;) {
    unsigned outer = loop - 1;
    if (first.test(loop) || isNumbered(outer) || isNumbered(loop) ||
        isCarried(outer) || isCarried(loop) || !canCollapse(outer) ||
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
    if (stage.carry && stage.carry->loop > outer)
      --stage.carry->loop;
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
