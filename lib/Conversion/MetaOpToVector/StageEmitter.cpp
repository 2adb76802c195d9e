//===- StageEmitter.cpp - Loops of one stage ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a stage are emitted from outside to inside. At each depth stand
// the values that depend on the loops outside of it and on no other.
//
// A loop is emitted as up to three segments: `unroll` neighbouring iterations
// side by side (unroll-and-jam), single iterations, and, for the vector loop, a
// last one in which some lanes are masked (its predicated tail). An unrolled
// loop that is kept needs no segment for its rest (UnrolledBody.cpp).
//
// If a further loop of the same dimension stands inside, a loop goes over
// strips: it steps by a strip, through which the inner one goes, up to the
// dimension's end in the last strip. Values that depend on the dimension wait
// for the inner loop.
//
// Extents are index constants and decide nothing else where that can be
// avoided: a segment that is empty is a loop from a constant to itself. Folding
// takes it out where the extent stays a constant, and where extents become
// arguments, kernels of many extents are the same loops.
//
// A condition of a reduction that bounds one of its loops from above is that
// loop's end rather than a mask in each iteration.
//
// Pairwise sums of floats start anew in each nested loop that is long enough,
// and a long loop is summed in blocks of blocks, so that the error grows with
// the logarithm of the length.
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::metaop;

/// Levels of blocks of a pairwise sum in a loop of unknown length.
static constexpr unsigned kDynamicBlockLevels = 2;

StageEmitter::StageEmitter(OpBuilder &b, const Stage &stage,
                           ScheduleAttr schedule, StageBindings bindings,
                           OuterLoops outer)
    : b(b), loc(stage.op->getLoc()), stage(stage), schedule(schedule),
      bindings(std::move(bindings)), outer(outer),
      lanes(schedule.getVectorWidth()),
      body(b, stage, schedule, this->bindings),
      accumulators(b, stage, schedule, this->bindings, outer.opened, body),
      prefixes(b, stage, body,
               /*copiesAreSteps=*/schedule.getUnroll() > 1 &&
                   stage.isCarried(schedule.getUnrollDim())) {
  findDepths();
  findEnds();
}

//===----------------------------------------------------------------------===//
// What stands where
//===----------------------------------------------------------------------===//

void StageEmitter::findDepths() {
  SmallVector<unsigned> depthOfLoop(stage.getNumLoops());
  // The last loop of a dimension is the one that numbers it.
  for (unsigned depth = 0; depth < schedule.getNumLevels(); ++depth)
    depthOfLoop[getLoop(depth)] = depth;
  auto findDepth = [&](Value value) {
    // Not outside of shared loops: an earlier stage may write what is read.
    unsigned depth = schedule.getShared();
    llvm::SmallBitVector loops = stage.getLoopsOf(value);
    for (unsigned loop : loops.set_bits())
      depth = std::max(depth, depthOfLoop[loop] + 1);
    depthOf[value] = depth;
  };
  for (const StageRead &read : stage.reads)
    findDepth(read.value);
  for (Operation *op : stage.body)
    findDepth(op->getResult(0));
}

/// Returns whether a condition that all reductions share is the end of the loop
/// at `depth`, the innermost that it depends on: it fails from some iteration
/// on, which is known outside of the loop.
bool StageEmitter::isEnd(AffineExpr check, unsigned depth) const {
  int64_t loop = getLoop(depth);
  auto dependsOnOther = [&](int64_t other, int64_t factor) {
    return factor > 1 && other != loop && check.isFunctionOfDim(other);
  };
  bool isKept = llvm::any_of(stage.writes, [&](const StageWrite &write) {
    return write.loops.test(loop);
  });
  return !ends[loop] && !isKept &&
         !llvm::is_contained(schedule.getUnrollDims(), loop) &&
         getConstantCoefficient(check, loop) == -1 &&
         !dependsOnOther(schedule.getVectorDim(), lanes) &&
         !dependsOnOther(schedule.getUnrollDim(), schedule.getUnroll());
}

void StageEmitter::findEnds() {
  ends.resize(stage.getNumLoops());
  if (stage.writes.empty())
    return;
  for (AffineExpr check : stage.writes.front().place.conditions) {
    if (!llvm::all_of(stage.writes, [&](const StageWrite &write) {
          return write.kind &&
                 llvm::is_contained(write.place.conditions, check);
        }))
      continue;
    unsigned depth = schedule.getNumLevels();
    while (depth > 0 && !check.isFunctionOfDim(getLoop(depth - 1)))
      --depth;
    if (depth <= outer.opened || !isEnd(check, depth - 1))
      continue;
    ends[getLoop(depth - 1)] = check;
    body.getEmitter().assume(check);
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

void StageEmitter::restrictLoop(unsigned loop, Value begin, Value end) {
  restricted[loop] = {begin, end, std::nullopt};
  if (static_cast<int64_t>(loop) == schedule.getUnrollDim())
    body.restrict();
}

LoopRange StageEmitter::getFullRange(unsigned depth) {
  int64_t loop = getLoop(depth);
  if (auto found = restricted.find(loop); found != restricted.end())
    return found->second;
  LoopRange range;
  range.begin = arith::ConstantIndexOp::create(b, loc, 0);
  range.end = emitAffine(b, loc, stage.extents[loop], {}, bindings.symbols);
  int64_t extent = stage.getStaticExtent(loop);
  if (!ShapedType::isDynamic(extent))
    range.extent = extent;
  return range;
}

/// The loop of the dimension inside goes from `iv` on through one strip. Its
/// length is left open, so that loops of all extents are emitted alike, unless
/// rows of a sum go through it one after another.
void StageEmitter::openStrip(unsigned depth, Value iv) {
  int64_t loop = getLoop(depth), size = schedule.getLevels()[depth].step;
  LoopRange whole = getFullRange(depth), strip;
  strip.begin = iv;
  strip.end = arith::AddIOp::create(
      b, loc, iv, arith::ConstantIndexOp::create(b, loc, size),
      arith::IntegerOverflowFlags::nsw);
  bool areRowsInside = stage.hasReduction() && getLoop(depth + 1) != loop;
  if (whole.extent && *whole.extent % size == 0 && areRowsInside)
    strip.extent = size;
  else
    strip.end = arith::MinSIOp::create(b, loc, strip.end, whole.end);
  restricted[loop] = strip;
}

/// The parts of loops that are open around what is emitted.
SmallVector<PartOfLoop> StageEmitter::getOpenParts() const {
  SmallVector<PartOfLoop> parts;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    if (auto found = restricted.find(loop); found != restricted.end())
      parts.push_back({loop, found->second});
  return parts;
}

/// The iterations of a loop that take part.
LoopRange StageEmitter::getRange(unsigned depth) {
  int64_t loop = getLoop(depth);
  LoopRange range = getFullRange(depth);
  if (!ends[loop])
    return range;
  AffineExpr end = ends[loop] + b.getAffineDimExpr(loop) + 1;
  end = flattenExpr(end, stage.getNumLoops(), stage.symbols.size());
  range.end = arith::MinSIOp::create(
      b, loc, range.end, body.getEmitter().emitExpr(end, body.getCopy(0)));
  range.end = arith::MaxSIOp::create(b, loc, range.begin, range.end);
  range.extent = std::nullopt;
  return range;
}

//===----------------------------------------------------------------------===//
// The nest
//===----------------------------------------------------------------------===//

void StageEmitter::openLoop(unsigned depth, Value iv) {
  if (schedule.isOuter(depth)) {
    openStrip(depth, iv);
    return;
  }
  body.openLoop(getLoop(depth), iv);
  if (schedule.getUnroll() > 1 && getLoop(depth) == schedule.getUnrollDim())
    body.openCopies();
}

void StageEmitter::enter(unsigned depth) {
  for (auto [i, write] : llvm::enumerate(stage.writes))
    if (depth == std::max(outer.parallel, getLocalLoops(i)))
      accumulators.initialiseMemory(write, getOpenParts());
  // Reads first need nothing but loops; operations are in program order.
  for (const StageRead &read : stage.reads)
    if (!read.isIndirect && depthOf.lookup(read.value) == depth)
      body.emit(read.value);
  for (Operation *op : stage.body)
    if (depthOf.lookup(op->getResult(0)) == depth) {
      if (auto prefix = dyn_cast<PrefixOp>(op))
        prefixes.emit(prefix);
      else
        body.emit(op->getResult(0));
    }
  accumulators.open(depth);
}

void StageEmitter::emitNest(unsigned depth) {
  enter(depth);
  if (depth < schedule.getNumLevels()) {
    emitLoop(depth, getRange(depth));
  } else {
    for (auto [i, write] : llvm::enumerate(stage.writes)) {
      if (write.kind)
        accumulators.accumulate(i);
      else
        body.store(write);
    }
  }
  accumulators.store(depth);
}

void StageEmitter::emitLoop(unsigned depth, LoopRange range) {
  int64_t loop = getLoop(depth), unroll = schedule.getUnroll();
  int64_t step = isVectorLoop(loop) ? lanes : 1;
  if (schedule.isOuter(depth)) {
    emitStrips(depth, range);
    return;
  }
  if (isTileLoop(depth)) {
    emitTiles(depth);
    return;
  }
  if (stage.isCarried(loop)) {
    emitCarried(depth);
    return;
  }
  if (llvm::is_contained(schedule.getUnrollDims(), loop)) {
    emitUnrolled(depth);
    return;
  }
  bool isUnrolled = loop == schedule.getUnrollDim();
  if (isUnrolled && masksUnroll(schedule)) {
    emitSegment(depth, {range, unroll, /*isUnrolled=*/true});
    return;
  }
  if (isUnrolled && unroll > 1)
    emitSegment(depth, {splitOff(b, loc, range, step * unroll), step * unroll,
                        /*isUnrolled=*/true});
  if (step == 1) {
    emitSegment(depth, {range});
    return;
  }
  emitSegment(depth, {splitOff(b, loc, range, step), step});
  emitSegment(depth, {range, step, /*isUnrolled=*/false, /*isMasked=*/true});
}

/// The iterations one after the other: of a window, what is checked and where
/// memory is read are constants then.
void StageEmitter::emitUnrolled(unsigned depth) {
  int64_t loop = getLoop(depth);
  for (int64_t i = 0; i < stage.getStaticExtent(loop); ++i) {
    UnrolledBody::State outside = body.getState();
    body.openLoop(loop, arith::ConstantIndexOp::create(b, loc, i));
    emitNest(depth + 1);
    body.setState(std::move(outside));
  }
}

/// Emits the loop of the prefixes, which is the innermost.
void StageEmitter::emitCarried(unsigned depth) {
  prefixes.emitLoop(getFullRange(depth), /*step=*/1, [&](Value at, Value) {
    UnrolledBody::State outside = body.getState();
    body.openLoop(getLoop(depth), at);
    emitNest(depth + 1);
    body.setState(std::move(outside));
  });
}

/// Emits what is inside of a loop over strips. Nothing is carried through it:
/// all results keep its dimension.
void StageEmitter::emitStrips(unsigned depth, const LoopRange &range) {
  Value step =
      arith::ConstantIndexOp::create(b, loc, schedule.getLevels()[depth].step);
  emitFor(b, loc, range, step, [&](Value iv) {
    openStrip(depth, iv);
    emitNest(depth + 1);
    restricted.erase(getLoop(depth));
  });
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// Iterations of one loop, if they are known.
int64_t StageEmitter::getIterations(unsigned depth) const {
  int64_t loop = getLoop(depth), extent = stage.getStaticExtent(loop);
  if (ShapedType::isDynamic(extent))
    return extent;
  for (const LoopLevel &outer : schedule.getLevels().take_front(depth))
    if (outer.dim == loop)
      extent = std::min(extent, outer.step);
  if (schedule.isOuter(depth))
    return llvm::divideCeil(extent, schedule.getLevels()[depth].step);
  return isVectorLoop(loop) ? llvm::divideCeil(extent, lanes) : extent;
}

/// Iterations of the loops from `depth` on, as far as they are known.
int64_t StageEmitter::getNestedIterations(unsigned depth) const {
  int64_t iterations = 1;
  for (unsigned d = depth; d < schedule.getNumLevels(); ++d) {
    if (ShapedType::isDynamic(getIterations(d)))
      return schedule.getPairwise();
    iterations *= getIterations(d);
  }
  return iterations;
}

void StageEmitter::emitSegment(unsigned depth, const Segment &segment) {
  int64_t pairwise = schedule.getPairwise();
  if (pairwise == 0 || !accumulators.accumulateError(depth) ||
      segment.isMasked) {
    emitSteps(depth, segment);
    return;
  }
  unsigned levels = 0;
  if (!segment.range.extent)
    levels = kDynamicBlockLevels;
  else
    for (int64_t trips = *segment.range.extent / segment.step;
         trips > 2 * pairwise; trips /= pairwise)
      ++levels;
  if (levels == 0 && accumulators.startOutside(depth) &&
      getNestedIterations(depth) >= pairwise)
    accumulators.emitAnew(depth, accumulators.getActive(depth),
                          [&] { emitSteps(depth, segment); });
  else
    emitBlocks(depth, segment, levels);
}

/// Sums anew in each block of the segment, and there in blocks of that.
void StageEmitter::emitBlocks(unsigned depth, const Segment &segment,
                              unsigned levels) {
  if (levels == 0) {
    emitSteps(depth, segment);
    return;
  }
  int64_t size = segment.step;
  for (unsigned level = 0; level < levels; ++level)
    size *= schedule.getPairwise();
  Value length = arith::ConstantIndexOp::create(b, loc, size);
  SmallVector<Value> sums =
      emitFor(b, loc, segment.range, length, accumulators.getActive(depth),
              [&](Value begin, ValueRange before) {
                Value end = arith::AddIOp::create(b, loc, begin, length);
                end = arith::MinSIOp::create(b, loc, end, segment.range.end);
                Segment part = segment;
                part.range = {begin, end, std::nullopt};
                accumulators.emitAnew(depth, before, [&] {
                  emitBlocks(depth, part, levels - 1);
                });
                return accumulators.getActive(depth);
              });
  accumulators.setActive(depth, sums);
}

void StageEmitter::emitSteps(unsigned depth, const Segment &segment) {
  Value step = arith::ConstantIndexOp::create(b, loc, segment.step);
  SmallVector<Value> sums =
      emitFor(b, loc, segment.range, step, accumulators.getActive(depth),
              [&](Value iv, ValueRange before) {
                accumulators.setActive(depth, before);
                UnrolledBody::State outside = body.getState();
                body.openLoop(getLoop(depth), iv);
                if (segment.isUnrolled)
                  body.openCopies();
                if (segment.isMasked)
                  body.maskLanes(emitTail(iv, segment.range.end));
                emitNest(depth + 1);
                body.setState(std::move(outside));
                return accumulators.getActive(depth);
              });
  accumulators.setActive(depth, sums);
}
