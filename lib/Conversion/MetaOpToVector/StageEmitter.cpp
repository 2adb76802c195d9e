//===- StageEmitter.cpp - Loops and accumulators of a stage ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a stage are emitted from outside to inside. At each depth stand
// the values that depend on the loops outside of it and on no other. A write
// that is reduced has accumulators from the depth on below which all loops are
// reduced; they travel through the loops as scf.for arguments. Behind them,
// they are stored (if no reduced loop stands outside) or combined with memory,
// which then was set to the identity beforehand.
//
// A loop is emitted as up to three segments: `unroll` neighbouring iterations
// side by side (unroll-and-jam), single iterations, and, for the vector loop, a
// last one in which some lanes are masked (its predicated tail). An unrolled
// loop that is kept needs no segment for its rest: copies behind its end do the
// last iteration again and do not store it.
//
// Extents are index constants and decide nothing else where that can be
// avoided: a segment that is empty is a loop from a constant to itself. Folding
// takes it out where the extent stays a constant, and where extents become
// arguments, kernels of many extents are the same loops.
//
// A condition of a reduction that bounds one of its loops from above is that
// loop's end rather than a mask in each iteration.
//
// Sums of floats start anew in each nested loop that is long enough, and a long
// loop is summed in blocks of blocks, so that the error grows with the
// logarithm of the length.
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "AffineEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Values that are summed one after another before the sum is added to others.
static constexpr int64_t kBlock = 32;
/// Levels of blocks for a loop of unknown length.
static constexpr unsigned kDynamicBlockLevels = 2;

unsigned metaop::getAccumulatorDepth(const StageWrite &write,
                                     ScheduleAttr schedule,
                                     unsigned openedLoops) {
  unsigned depth = schedule.getNumLevels();
  while (write.kind && depth > openedLoops &&
         !write.loops.test(schedule.getLevels()[depth - 1].dim))
    --depth;
  return depth;
}

bool metaop::masksUnroll(ScheduleAttr schedule) {
  int64_t dim = schedule.getUnrollDim();
  return dim >= 0 && dim != schedule.getVectorDim() &&
         schedule.getTranspose() < 0 &&
         llvm::any_of(
             schedule.getLevels(),
             [&](const LoopLevel &level) {
               return level.dim == dim && level.tail == LevelTail::Mask;
             });
}

StageEmitter::StageEmitter(OpBuilder &b, const Stage &stage,
                           ScheduleAttr schedule, StageBindings bindings)
    : b(b), loc(stage.op->getLoc()), stage(stage), schedule(schedule),
      bindings(std::move(bindings)), lanes(schedule.getVectorWidth()),
      vectorLoop(schedule.getVectorDim()), unroll(schedule.getUnroll()),
      unrollLoop(schedule.getUnrollDim()), tileLoop(schedule.getTranspose()),
      isClamped(masksUnroll(schedule)) {
  unsigned numLoops = stage.getNumLoops();
  loopVariables.resize(numLoops);
  positionOf.resize(numLoops);
  for (unsigned depth = 0; depth < numLoops; ++depth)
    positionOf[getLoop(depth)] = depth;
  // Not outside of shared loops: an earlier stage may write what is read.
  auto getDepth = [&](Value value) {
    unsigned depth = schedule.getShared();
    for (unsigned loop : stage.getLoopsOf(value).set_bits())
      depth = std::max(depth, positionOf[loop] + 1);
    return depth;
  };
  for (const StageRead &read : stage.reads)
    depthOf[read.value] = getDepth(read.value);
  for (Operation *op : stage.body)
    depthOf[op->getResult(0)] = getDepth(op->getResult(0));
  for (const StageWrite &write : stage.writes)
    startOf.push_back(
        getAccumulatorDepth(write, schedule, this->bindings.openedLoops));
  accumulators.resize(stage.writes.size());
  findEnds();
}

/// A condition that all reductions share, and that fails from some iteration of
/// a loop on, is the end of that loop, if it is known outside of it.
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
    unsigned depth = stage.getNumLoops();
    while (depth > 0 && !check.isFunctionOfDim(getLoop(depth - 1)))
      --depth;
    if (depth <= bindings.openedLoops)
      continue;
    int64_t loop = getLoop(depth - 1);
    auto dependsOnOther = [&](int64_t other, int64_t factor) {
      return factor > 1 && other != loop && check.isFunctionOfDim(other);
    };
    bool isKept = llvm::any_of(stage.writes, [&](const StageWrite &write) {
      return write.loops.test(loop);
    });
    if (ends[loop] || isKept || getConstantCoefficient(check, loop) != -1 ||
        dependsOnOther(vectorLoop, lanes) || dependsOnOther(unrollLoop, unroll))
      continue;
    ends[loop] = check;
  }
}

/// The iterations of a loop that take part.
LoopRange StageEmitter::getRange(unsigned depth) {
  LoopRange range = getFullRange(depth);
  int64_t loop = getLoop(depth);
  if (!ends[loop])
    return range;
  AffineExpr end = ends[loop] + b.getAffineDimExpr(loop) + 1;
  end = simplifyAffineExpr(end, stage.getNumLoops(), stage.symbols.size());
  range.end = arith::MinSIOp::create(b, loc, range.end, emitExpr(end, 0));
  range.end = arith::MaxSIOp::create(b, loc, range.begin, range.end);
  range.extent = std::nullopt;
  return range;
}

void StageEmitter::restrictLoop(unsigned loop, Value begin, Value end) {
  restricted[loop] = {begin, end, std::nullopt};
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

void StageEmitter::setLoop(unsigned depth, Value iv) {
  loopVariables[getLoop(depth)] = iv;
}

void StageEmitter::openLoop(unsigned depth, Value iv) {
  setLoop(depth, iv);
  isUnrolled |= unroll > 1 && getLoop(depth) == unrollLoop;
}

//===----------------------------------------------------------------------===//
// Between loops
//===----------------------------------------------------------------------===//

bool metaop::combinesInMemory(const StageWrite &write, ScheduleAttr schedule,
                              unsigned openedLoops) {
  unsigned start = getAccumulatorDepth(write, schedule, openedLoops);
  if (!write.kind)
    return false;
  if (!write.isProjection)
    return true;
  for (int64_t loop : schedule.getDims(start))
    if (!write.loops.test(loop))
      return true;
  return false;
}

void StageEmitter::enter(unsigned depth) {
  if (depth == bindings.parallelLoops)
    for (const StageWrite &write : stage.writes)
      if (combinesInMemory(write, schedule, bindings.openedLoops))
        emitInitialisation(write, bindings.results[write.result]);
  // Reads first need nothing but loops; operations are in program order.
  for (const StageRead &read : stage.reads)
    if (!read.isIndirect && depthOf.lookup(read.value) == depth)
      emitRead(read);
  for (Operation *op : stage.body)
    if (depthOf.lookup(op->getResult(0)) == depth)
      emitOperation(op);
  for (auto [i, write] : llvm::enumerate(stage.writes)) {
    if (!write.kind || startOf[i] != depth)
      continue;
    Reduction reduction(*write.kind, getElementTypeOrSelf(write.value));
    bool unrollsInside =
        unrollLoop >= 0 && positionOf[unrollLoop] >= depth && unroll > 1;
    unsigned copies =
        unrollsInside || isUnrolled ? static_cast<unsigned>(unroll) : 1;
    accumulators[i].assign(copies, reduction.emitIdentity(b, loc, lanes));
  }
}

void StageEmitter::finish(unsigned depth) {
  for (auto [i, write] : llvm::enumerate(stage.writes))
    if (write.kind && startOf[i] == depth) {
      store(i);
      accumulators[i].clear();
    }
}

void StageEmitter::emitNest(unsigned depth, const LoopRange &part) {
  block = part;
  blockDepth = depth;
  emitNest(depth);
}

void StageEmitter::emitNest(unsigned depth) {
  enter(depth);
  if (depth < stage.getNumLoops()) {
    emitLoop(depth, depth == blockDepth && block ? *block : getRange(depth));
  } else {
    for (auto [i, write] : llvm::enumerate(stage.writes)) {
      if (write.kind)
        accumulate(i);
      else
        store(i);
    }
  }
  finish(depth);
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

SmallVector<Value> StageEmitter::getActive(unsigned depth) {
  SmallVector<Value> active;
  for (auto [copies, start] : llvm::zip_equal(accumulators, startOf))
    if (start <= depth)
      active.append(copies.begin(), copies.end());
  return active;
}

void StageEmitter::setActive(unsigned depth, ValueRange active) {
  for (auto [copies, start] : llvm::zip_equal(accumulators, startOf))
    if (start <= depth)
      for (Value &copy : copies) {
        copy = active.front();
        active = active.drop_front();
      }
}

SmallVector<Value> StageEmitter::getIdentities(unsigned depth) {
  SmallVector<Value> identities;
  for (auto [i, write] : llvm::enumerate(stage.writes)) {
    if (startOf[i] > depth || accumulators[i].empty())
      continue;
    Reduction reduction(*write.kind, getElementTypeOrSelf(write.value));
    identities.append(accumulators[i].size(),
                      reduction.emitIdentity(b, loc, lanes));
  }
  return identities;
}

SmallVector<Value> StageEmitter::combineActive(unsigned depth,
                                               ValueRange before,
                                               ValueRange after) {
  SmallVector<Value> combined;
  unsigned next = 0;
  for (auto [i, write] : llvm::enumerate(stage.writes)) {
    if (startOf[i] > depth)
      continue;
    for (unsigned c = 0; c < accumulators[i].size(); ++c, ++next) {
      Reduction reduction(*write.kind, getElementTypeOrSelf(write.value));
      combined.push_back(
          reduction.emitCombine(b, loc, before[next], after[next]));
    }
  }
  return combined;
}

void StageEmitter::accumulate(unsigned index) {
  const StageWrite &write = stage.writes[index];
  Reduction reduction(*write.kind, getElementTypeOrSelf(write.value));
  Copies &copies = accumulators[index];
  unsigned used = isUnrolled ? copies.size() : 1;
  for (unsigned c = 0; c < used; ++c) {
    Value guard, mask;
    addChecks(stage.domain, c, guard, mask);
    addChecks(write.place.rangeChecks, c, guard, mask);
    addChecks(write.place.conditions, c, guard, mask);
    mask = emitAnd(b, loc, mask, tailMask);
    Value value = reduction.emitWiden(b, loc, getValue(write.value, c));
    value = broadcastTo(b, loc, value, lanes);
    if (lanes > 1)
      guard = mergeMask(guard, mask);
    // Choosing between sums, not values, is one masked instruction.
    Value combined = reduction.emitCombine(b, loc, copies[c], value);
    copies[c] =
        guard ? arith::SelectOp::create(b, loc, guard, combined, copies[c])
                    .getResult()
              : combined;
  }
}

/// Stores an element-wise value, or what the accumulators of a write hold.
void StageEmitter::store(unsigned index) {
  const StageWrite &write = stage.writes[index];
  Value buffer = bindings.results[write.result];
  Type element = getElementTypeOrSelf(write.value);
  bool asVector = isVectorOpen() && write.loops.test(vectorLoop);
  unsigned copies = isUnrolled ? unroll : 1;
  if (!write.kind) {
    if (isTransposed(write.place))
      return storeTile(write);
    for (unsigned c = 0; c < copies; ++c)
      emitIf(b, loc, emitIsInside(c), [&] {
        emitStore(write.place, buffer, element, c, asVector,
                  emitAnd(b, loc, tailMask, emitCopyMask(c)),
                  getValue(write.value, c), getStream(write));
      });
    return;
  }

  Reduction reduction(*write.kind, element);
  Copies &partial = accumulators[index];
  // Copies along a reduced loop hold parts of one element.
  if (unrollLoop >= 0 && !write.loops.test(unrollLoop)) {
    for (unsigned c = 1; c < partial.size(); ++c)
      partial[0] = reduction.emitCombine(b, loc, partial[0], partial[c]);
    copies = 1;
  }
  if (asVector && isInterleaved(write)) {
    for (Value &value : partial)
      value = reduction.emitNarrow(b, loc, value);
    storeInterleaved(write, partial);
    return;
  }
  bool inMemory = combinesInMemory(write, schedule, bindings.openedLoops);
  for (unsigned c = 0; c < copies; ++c) {
    Value value = partial[c], guard, mask;
    if (lanes > 1 && !asVector)
      value = reduction.emitAcrossLanes(b, loc, value);
    addChecks(write.place.rangeChecks, c, guard, mask);
    if (asVector) {
      mask = mergeMask(guard, emitAnd(b, loc, mask, tailMask));
      guard = nullptr;
    }
    auto emit = [&] {
      if (inMemory) {
        Value old = reduction.emitWiden(
            b, loc,
            emitLoad(write.place, buffer, element, c, asVector, mask, nullptr));
        value = reduction.emitCombine(b, loc, old, value);
      }
      emitStore(write.place, buffer, element, c, asVector, mask,
                reduction.emitNarrow(b, loc, value));
    };
    emitIf(b, loc, emitAnd(b, loc, emitIsInside(c), guard), emit);
  }
}

/// Sets to the identity all elements that the open parallel loops, or the block
/// of the outermost loop, own.
void StageEmitter::emitInitialisation(const StageWrite &write, Value buffer) {
  Type element = getElementTypeOrSelf(write.value);
  Reduction reduction(*write.kind, element);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  OpBuilder::InsertionGuard insertion(b);

  // A projection is walked by the loops that it keeps, any other result by its
  // own indices, of which those that are parallel loops are fixed.
  SmallVector<Value> loops(loopVariables);
  auto openLoop = [&](Value begin, Value end) {
    auto forOp = scf::ForOp::create(b, loc, begin, end, one);
    b.setInsertionPointToStart(forOp.getBody());
    return forOp.getInductionVar();
  };
  auto emitExtent = [&](AffineExpr extent) {
    return emitAffine(b, loc, extent, {}, bindings.symbols);
  };
  if (block)
    loops[getLoop(blockDepth)] = openLoop(block->begin, block->end);
  Value offset;
  if (write.isProjection) {
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
      if (!loops[loop])
        loops[loop] = write.loops.test(loop)
                          ? openLoop(zero, emitExtent(stage.extents[loop]))
                          : zero;
    offset = emitAffine(b, loc, write.place.offset, loops, bindings.symbols);
  } else {
    offset = zero;
    for (auto [index, extent, stride] :
         llvm::zip_equal(write.map.getResults(), write.shape, write.strides)) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      Value at = loop && loops[loop.getPosition()]
                     ? loops[loop.getPosition()]
                     : openLoop(zero, emitExtent(extent));
      offset = arith::AddIOp::create(
          b, loc, offset,
          arith::MulIOp::create(b, loc, at, emitExtent(stride)));
    }
  }
  Value identity = toMemoryType(
      reduction.emitNarrow(b, loc, reduction.emitIdentity(b, loc, 1)), element);
  // The loops of a projection may number more than there is.
  Value isInside;
  if (write.isProjection)
    for (AffineExpr check : write.place.rangeChecks)
      isInside = emitAnd(b, loc, isInside,
                         arith::CmpIOp::create(
                             b, loc, arith::CmpIPredicate::sge,
                             emitAffine(b, loc, check, loops, bindings.symbols),
                             zero));
  emitIf(b, loc, isInside,
         [&] { memref::StoreOp::create(b, loc, identity, buffer, offset); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether the copies of the unrolled loop fill its extent without a rest.
Value StageEmitter::emitIsWhole() {
  if (restricted.contains(unrollLoop))
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  int64_t extent = stage.getStaticExtent(unrollLoop);
  Value rest = arith::ConstantIndexOp::create(b, loc, extent % unroll);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
}

/// An iteration of the unrolled loop, or the last one in place of those behind
/// it.
Value StageEmitter::emitClamp(Value iv) {
  int64_t extent = stage.getStaticExtent(unrollLoop);
  Value last = arith::ConstantIndexOp::create(b, loc, extent - 1);
  // The choice is no more than a minimum, but is gone where nothing is left
  // over.
  return arith::SelectOp::create(b, loc, emitIsWhole(), iv,
                                 arith::MinSIOp::create(b, loc, iv, last));
}

/// Whether a copy of the unrolled loop lies before its end; null if it must.
Value StageEmitter::emitIsInside(unsigned copy) {
  if (!isUnrolled || !isClamped || copy == 0)
    return nullptr;
  int64_t extent = stage.getStaticExtent(unrollLoop);
  Value iv = emitIndexAdd(b, loc, loopVariables[unrollLoop], copy);
  Value end = arith::ConstantIndexOp::create(b, loc, extent);
  Value isBefore =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, iv, end);
  return arith::OrIOp::create(b, loc, emitIsWhole(), isBefore);
}

/// Takes the longest prefix of `range` that is a multiple of `step`.
LoopRange StageEmitter::splitOff(LoopRange &range, int64_t step) {
  LoopRange prefix = range;
  if (range.extent) {
    int64_t covered = *range.extent / step * step;
    prefix.extent = covered;
    Value length = arith::ConstantIndexOp::create(b, loc, covered);
    prefix.end = arith::AddIOp::create(b, loc, range.begin, length,
                                       arith::IntegerOverflowFlags::nsw);
    range.extent = *range.extent - covered;
  } else {
    Value length = arith::SubIOp::create(b, loc, range.end, range.begin);
    Value size = arith::ConstantIndexOp::create(b, loc, step);
    Value rest = arith::RemSIOp::create(b, loc, length, size);
    prefix.end = arith::SubIOp::create(b, loc, range.end, rest);
  }
  range.begin = prefix.end;
  return prefix;
}

void StageEmitter::emitLoop(unsigned depth, LoopRange range) {
  int64_t loop = getLoop(depth);
  int64_t step = isVectorLoop(loop) ? lanes : 1;
  if (loop == tileLoop) {
    emitTiles(depth, range);
    return;
  }
  if (loop == unrollLoop && isClamped) {
    emitSegment(depth, range, unroll, /*unrolled=*/true, /*masked=*/false);
    return;
  }
  if (loop == unrollLoop && unroll > 1)
    emitSegment(depth, splitOff(range, step * unroll), step * unroll,
                /*unrolled=*/true, /*masked=*/false);
  if (step == 1) {
    emitSegment(depth, range, 1, /*unrolled=*/false, /*masked=*/false);
    return;
  }
  emitSegment(depth, splitOff(range, step), step, /*unrolled=*/false,
              /*masked=*/false);
  emitSegment(depth, range, step, /*unrolled=*/false, /*masked=*/true);
}

/// Iterations of the loops from `depth` on, as far as they are known.
int64_t StageEmitter::getNestedIterations(unsigned depth) const {
  int64_t iterations = 1;
  for (unsigned d = depth; d < stage.getNumLoops(); ++d) {
    int64_t extent = stage.getStaticExtent(getLoop(d));
    if (ShapedType::isDynamic(extent))
      return kBlock;
    iterations *=
        isVectorLoop(getLoop(d)) ? llvm::divideCeil(extent, lanes) : extent;
  }
  return iterations;
}

void StageEmitter::emitSegment(unsigned depth, LoopRange range, int64_t step,
                               bool unrolled, bool masked) {
  bool accumulatesError = false, isNested = false;
  for (auto [i, write] : llvm::enumerate(stage.writes))
    if (write.kind && startOf[i] <= depth) {
      Reduction reduction(*write.kind, getElementTypeOrSelf(write.value));
      accumulatesError |= reduction.accumulatesError();
      isNested |= startOf[i] < depth;
    }
  unsigned levels = 0;
  if (!range.extent)
    levels = kDynamicBlockLevels;
  else
    for (int64_t trips = *range.extent / step; trips > 2 * kBlock;
         trips /= kBlock)
      ++levels;
  if (!accumulatesError || masked) {
    emitSteps(depth, range, step, unrolled, masked);
  } else if (levels == 0 && isNested && getNestedIterations(depth) >= kBlock) {
    emitAnew(depth, getActive(depth),
             [&] { emitSteps(depth, range, step, unrolled, masked); });
  } else {
    emitBlocks(depth, range, step, unrolled, levels);
  }
}

/// Emits accumulation from the identity and adds the outcome to `before`.
void StageEmitter::emitAnew(unsigned depth, SmallVector<Value> before,
                            llvm::function_ref<void()> emit) {
  setActive(depth, getIdentities(depth));
  emit();
  SmallVector<Value> after = getActive(depth);
  setActive(depth, combineActive(depth, before, after));
}

void StageEmitter::emitBlocks(unsigned depth, LoopRange range, int64_t step,
                              bool unrolled, unsigned levels) {
  if (levels == 0) {
    emitSteps(depth, range, step, unrolled, /*masked=*/false);
    return;
  }
  int64_t size = step;
  for (unsigned level = 0; level < levels; ++level)
    size *= kBlock;
  Value blockStep = arith::ConstantIndexOp::create(b, loc, size);
  auto blocks = scf::ForOp::create(b, loc, range.begin, range.end, blockStep,
                                   getActive(depth));
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(blocks.getBody());
    LoopRange block;
    block.begin = blocks.getInductionVar();
    block.end = arith::MinSIOp::create(
        b, loc, arith::AddIOp::create(b, loc, block.begin, blockStep),
        range.end);
    emitAnew(depth, SmallVector<Value>(blocks.getRegionIterArgs()),
             [&] { emitBlocks(depth, block, step, unrolled, levels - 1); });
    scf::YieldOp::create(b, loc, getActive(depth));
  }
  setActive(depth, blocks.getResults());
}

void StageEmitter::emitSteps(unsigned depth, LoopRange range, int64_t step,
                             bool unrolled, bool masked) {
  Value stepValue = arith::ConstantIndexOp::create(b, loc, step);
  auto forOp = scf::ForOp::create(b, loc, range.begin, range.end, stepValue,
                                  getActive(depth));
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(forOp.getBody());
    setActive(depth, forOp.getRegionIterArgs());
    emitBody(depth, forOp.getInductionVar(), range.end, unrolled, masked);
    if (!forOp.getInitArgs().empty())
      scf::YieldOp::create(b, loc, getActive(depth));
  }
  setActive(depth, forOp.getResults());
}

void StageEmitter::emitBody(unsigned depth, Value iv, Value end, bool unrolled,
                            bool masked) {
  llvm::DenseMap<Value, Copies> outerValues = values;
  bool wasUnrolled = isUnrolled;
  Value outerMask = tailMask;
  int64_t loop = getLoop(depth);
  setLoop(depth, iv);
  isUnrolled |= unrolled;
  if (masked) {
    Value rest = arith::SubIOp::create(b, loc, end, iv);
    tailMask = vector::CreateMaskOp::create(
        b, loc, VectorType::get(lanes, b.getI1Type()), ValueRange{rest});
  }
  emitNest(depth + 1);
  values = std::move(outerValues);
  isUnrolled = wasUnrolled;
  tailMask = outerMask;
  loopVariables[loop] = nullptr;
}
