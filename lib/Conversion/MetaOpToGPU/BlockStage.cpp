//===- BlockStage.cpp - A stage in the threads of a block -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Levels are taken from outside to inside. Those of the grid and of threads are
// no loops: where the block and the thread are along a dimension is known from
// the beginning. Steps are loops, unless they are known to be one. At each
// depth stand the values that depend on the loops outside of it and on no
// other; staged reads are copied where the threads begin.
//
// Innermost stands the tile. Where it may reach behind the end of some
// dimension, and that matters to what is done in it, there are two of them: one
// for blocks whose tiles are whole, without a condition, and one in which each
// access has its own. Within a tile all reads come first: many are on their way
// at a time.
//
// Reductions are combined among threads behind the loops that they are reduced
// in; all threads have the result, and the first of them stores it.
//
// Pairwise sums of floats start anew in each nested loop that is long enough,
// and a long loop is summed in blocks of blocks.
//
//===----------------------------------------------------------------------===//

#include "BlockStage.h"
#include "AtomicResults.h"
#include "FixedPointSums.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::metaop;

/// Blocks of blocks of a pairwise sum in a loop of unknown length.
static constexpr unsigned kDynamicBlocks = 2;

BlockStage::BlockStage(GpuFunction &function, LocalValues &locals,
                       const ThreadLevels &levels, StageBindings bindings,
                       StagedReads staged, unsigned number, unsigned opened)
    : function(function), b(function.getBuilder()), loc(function.getLoc()),
      locals(locals), levels(levels), stage(levels.getStage()),
      schedule(levels.getSchedule()), bindings(std::move(bindings)),
      tile(b, levels, this->bindings), sums(function, tile, opened),
      staged(std::move(staged)),
      prefixes(b, stage, tile, /*copiesAreSteps=*/false) {
  locals.bindReads(number, tile);
  this->staged.bindReads(tile);
  findDepths();
  findThreads();
}

//===----------------------------------------------------------------------===//
// What stands where
//===----------------------------------------------------------------------===//

void BlockStage::findDepths() {
  auto findDepth = [&](Value value, unsigned least) {
    depthOf[value] = levels.getDepth(stage.getLoopsOf(value), least);
  };
  // Not outside of shared loops: an earlier stage may write what is read.
  unsigned shared = schedule.getShared();
  for (const StageRead &read : stage.reads)
    findDepth(read.value, staged.contains(read.value)
                              ? std::max(shared, levels.getThreadDepth())
                              : shared);
  for (Operation *op : stage.body) {
    unsigned least = shared;
    for (Value operand : op->getOperands())
      if (auto found = depthOf.find(operand); found != depthOf.end())
        least = std::max(least, found->second);
    findDepth(op->getResult(0), least);
  }
}

/// Finds where the thread is along each dimension, and where the block is as
/// long as no level is open.
void BlockStage::findThreads() {
  Value zero = function.emitIndex(0);
  threadParts.assign(levels.getNumDims(), Value());
  blockParts.assign(levels.getNumDims(), zero);
  for (const ThreadLevels::Distributed &level : levels.getDistributed()) {
    if (level.count == 1)
      continue;
    Value at = function.emitThreadCoordinate(level.stride, level.count);
    if (level.step != 1)
      at = arith::MulIOp::create(b, loc, at, function.emitIndex(level.step));
    Value &part = threadParts[level.dim];
    part = part ? arith::AddIOp::create(b, loc, part, at).getResult() : at;
  }
  for (int64_t dim = 0; dim < levels.getNumDims(); ++dim)
    tile.setPosition(dim, threadParts[dim] ? threadParts[dim] : zero);
}

void BlockStage::openGrid(unsigned depth, Value number) {
  const LoopLevel &level = levels.getLevel(depth);
  gridNumbers[depth] = number;
  Value at = number;
  if (level.step != 1)
    at = arith::MulIOp::create(b, loc, at, function.emitIndex(level.step));
  if (schedule.getEnclosing(depth))
    at = arith::AddIOp::create(b, loc, blockParts[level.dim], at);
  openLevel(depth, at);
}

void BlockStage::openLevel(unsigned depth, Value at) {
  int64_t dim = levels.getLevel(depth).dim;
  locals.openLevel(stage, bindings, depth, at);
  if (levels.isInsideThreads(depth)) {
    tile.setPosition(dim, at);
    return;
  }
  blockParts[dim] = at;
  Value part = threadParts[dim];
  tile.setPosition(
      dim, part ? arith::AddIOp::create(b, loc, at, part).getResult() : at);
}

void BlockStage::emitValues(unsigned depth) {
  // Reads first need nothing but loops; operations are in program order.
  for (const StageRead &read : stage.reads)
    if (!read.isIndirect && depthOf.lookup(read.value) == depth)
      tile.emit(read.value);
  for (Operation *op : stage.body)
    if (depthOf.lookup(op->getResult(0)) == depth) {
      if (auto prefix = dyn_cast<PrefixOp>(op))
        prefixes.emit(prefix);
      else
        tile.emit(op->getResult(0));
    }
}

void BlockStage::enter(unsigned depth) {
  if (depth == levels.getThreadDepth())
    staged.emit(function, bindings, blockParts, isInLoop(depth));
  // The innermost work stands in the tile, which may be whole.
  if (depth < levels.getNumLevels())
    emitValues(depth);
  sums.open(depth);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns whether a level outside of this depth is a loop.
bool BlockStage::isInLoop(unsigned depth) const {
  for (unsigned outer = 0; outer < depth; ++outer)
    if (levels.isLoop(outer))
      return true;
  return false;
}

LoopRange BlockStage::getRange(unsigned depth) {
  const LoopLevel &level = levels.getLevel(depth);
  int64_t extent = stage.getStaticExtent(level.dim);
  Value end =
      emitAffine(b, loc, stage.extents[level.dim], {}, bindings.symbols);
  std::optional<unsigned> outer = schedule.getEnclosing(depth);
  if (!outer)
    return {function.emitIndex(0), end,
            ShapedType::isDynamic(extent) ? std::optional<int64_t>() : extent};
  bool isInside = levels.isInsideThreads(depth);
  int64_t span = levels.getLevel(*outer).step;
  Value begin =
      isInside ? tile.getState().positions[level.dim] : blockParts[level.dim];
  Value behind = arith::AddIOp::create(b, loc, begin, function.emitIndex(span));
  // Threads that loop on their own go through it equally often.
  bool isWhole = levels.isInside(*outer);
  if (!isInside && !isWhole)
    behind = arith::MinSIOp::create(b, loc, behind, end);
  return {begin, behind, isInside || isWhole ? span : std::optional<int64_t>()};
}

/// Iterations of a level, if they are known; at most so many where its end
/// differs.
int64_t BlockStage::getTrips(unsigned depth) const {
  if (!levels.isLoop(depth))
    return 1;
  if (schedule.getEnclosing(depth))
    return schedule.getCount(depth);
  int64_t extent = stage.getStaticExtent(levels.getLevel(depth).dim);
  return ShapedType::isDynamic(extent)
             ? extent
             : llvm::divideCeil(extent, levels.getLevel(depth).step);
}

/// Iterations of the loops from `depth` on, as far as they are known.
int64_t BlockStage::getNestedTrips(unsigned depth) const {
  int64_t trips = 1;
  for (; depth < levels.getNumLevels(); ++depth) {
    if (ShapedType::isDynamic(getTrips(depth)))
      return schedule.getPairwise();
    trips *= getTrips(depth);
  }
  return trips;
}

void BlockStage::emitLoop(unsigned depth) {
  LoopRange range = getRange(depth);
  if (stage.isCarried(levels.getLevel(depth).dim)) {
    emitCarried(depth, range);
    return;
  }
  int64_t pairwise = schedule.getPairwise();
  if (pairwise == 0 || !sums.accumulateError(depth)) {
    emitSteps(depth, range);
    return;
  }
  unsigned numBlocks = 0;
  int64_t trips = getTrips(depth);
  if (ShapedType::isDynamic(trips))
    numBlocks = kDynamicBlocks;
  else
    for (; trips > 2 * pairwise; trips /= pairwise)
      ++numBlocks;
  if (numBlocks == 0 && sums.startOutside(depth) &&
      getNestedTrips(depth) >= pairwise)
    sums.emitAnew(depth, sums.getActive(depth),
                  [&] { emitSteps(depth, range); });
  else
    emitBlocks(depth, range, numBlocks);
}

/// Sums anew in each block of the range, and there in blocks of that.
void BlockStage::emitBlocks(unsigned depth, const LoopRange &range,
                            unsigned numBlocks) {
  if (numBlocks == 0) {
    emitSteps(depth, range);
    return;
  }
  int64_t size = getStep(depth);
  for (unsigned i = 0; i < numBlocks; ++i)
    size *= schedule.getPairwise();
  Value length = function.emitIndex(size);
  LoopRange blocks = range;
  blocks.mayUnroll = false;
  SmallVector<Value> results =
      emitFor(b, loc, blocks, length, sums.getActive(depth),
              [&](Value begin, ValueRange before) {
                Value end = arith::AddIOp::create(b, loc, begin, length);
                end = arith::MinSIOp::create(b, loc, end, range.end);
                sums.emitAnew(depth, before, [&] {
                  emitBlocks(depth, {begin, end, std::nullopt}, numBlocks - 1);
                });
                return sums.getActive(depth);
              });
  sums.setActive(depth, results);
}

bool BlockStage::isInGlobalMemory(const StageRead &read) const {
  // Values that threads keep in registers alone have no memory.
  Value memory = bindings.sources.lookup(read.source);
  return memory && cast<MemRefType>(memory.getType()).getMemorySpaceAsInt() ==
                       static_cast<unsigned>(NVVM::NVVMMemorySpace::Global);
}

/// Returns whether the assembler may unroll a loop. One that has a loop inside,
/// or a tile along it, has enough in an iteration: the assembler would unroll
/// that four times more, and fill registers and caches. So would it a loop that
/// reads a tile from global memory: the tile says how many of these reads are
/// in flight.
bool BlockStage::mayUnroll(unsigned depth) const {
  if (schedule.getTileSize(levels.getLevel(depth).dim) > 1)
    return false;
  bool readsTile = llvm::any_of(stage.reads, [&](const StageRead &read) {
    return depthOf.lookup(read.value) == levels.getNumLevels() &&
           tile.getNumCopies(read.value) > 1 && isInGlobalMemory(read);
  });
  if (readsTile)
    return false;
  while (++depth < levels.getNumLevels())
    if (levels.isLoop(depth))
      return false;
  return true;
}

void BlockStage::emitSteps(unsigned depth, LoopRange range) {
  range.mayUnroll = mayUnroll(depth);
  Value step = function.emitIndex(getStep(depth));
  ThreadTile::State outside = tile.getState();
  SmallVector<Value> outsideParts = blockParts;
  SmallVector<Value> results =
      emitFor(b, loc, range, step, sums.getActive(depth),
              [&](Value at, ValueRange before) {
                sums.setActive(depth, before);
                openLevel(depth, at);
                emitNest(depth + 1);
                return sums.getActive(depth);
              });
  sums.setActive(depth, results);
  tile.setState(std::move(outside));
  blockParts = std::move(outsideParts);
}

/// Emits the loop of the prefixes, which each thread goes through on its own.
void BlockStage::emitCarried(unsigned depth, const LoopRange &range) {
  ThreadTile::State outside = tile.getState();
  prefixes.emitLoop(range, /*step=*/1, [&](Value at, Value) {
    openLevel(depth, at);
    emitNest(depth + 1);
    tile.setState(outside);
  });
}

void BlockStage::emitNest(unsigned depth) {
  enter(depth);
  if (depth == levels.getNumLevels())
    emitBody();
  else if (levels.isLoop(depth))
    emitLoop(depth);
  else
    emitNest(depth + 1);
  sums.close(depth, isInLoop(depth),
             [&](unsigned number, ThreadTile::Copies copies) {
               const StageWrite &write = stage.writes[number];
               store(write, copies, write.loops);
               if (locals.isKept(stage, write))
                 locals.keep(stage, write,
                             {&levels, &write, write.loops, std::move(copies)});
             });
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

/// The dimensions whose end matters to what is done innermost.
llvm::SmallBitVector BlockStage::getGuardedDims() const {
  llvm::SmallBitVector dims(levels.getNumDims());
  auto addGuarded = [&](const llvm::SmallBitVector &used) {
    for (unsigned dim : used.set_bits())
      if (levels.mayExceed(dim))
        dims.set(dim);
  };
  for (const StageRead &read : stage.reads)
    if (depthOf.lookup(read.value) == levels.getNumLevels() &&
        tile.isGuarded(read.value))
      addGuarded(stage.getLoopsOf(read.value));
  for (const StageWrite &write : stage.writes) {
    llvm::SmallBitVector used = write.loops;
    if (write.kind && write.isProjection)
      used.flip();
    else if (write.kind)
      used.set();
    if (write.kind || !locals.getStores(stage, write).empty())
      addGuarded(used);
  }
  return dims;
}

/// Returns whether what all threads have in an iteration is inside of some
/// dimensions.
Value BlockStage::emitIsWhole(const llvm::SmallBitVector &dims) {
  Value isWhole;
  for (unsigned dim : dims.set_bits()) {
    Value begin = levels.endsInThreads(dim) ? blockParts[dim]
                                            : tile.getState().positions[dim];
    Value end = emitIndexAdd(b, loc, begin, levels.getCover(dim));
    Value extent = emitAffine(b, loc, stage.extents[dim], {}, bindings.symbols);
    isWhole = emitAnd(
        b, loc, isWhole,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, end, extent));
  }
  return isWhole;
}

/// Emits the tile twice: for where it is whole along some dimensions, and for
/// where it may not be.
void BlockStage::emitBoth(const llvm::SmallBitVector &dims) {
  unsigned depth = levels.getNumLevels();
  SmallVector<Value> before = sums.getActive(depth);
  Value isWhole = emitIsWhole(dims);
  OpBuilder::InsertPoint outside = b.saveInsertionPoint();
  Region regions[2];
  SmallVector<Type> types;
  for (bool whole : {true, false}) {
    b.createBlock(&regions[!whole]);
    sums.setActive(depth, before);
    emitTile(whole);
    SmallVector<Value> results = sums.getActive(depth);
    for (Value *value : getKept())
      results.push_back(*value);
    types = llvm::to_vector(ValueRange(results).getTypes());
    scf::YieldOp::create(b, loc, results);
  }
  b.restoreInsertionPoint(outside);
  auto ifOp = scf::IfOp::create(b, loc, types, isWhole, /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
  ifOp.getThenRegion().takeBody(regions[0]);
  ifOp.getElseRegion().takeBody(regions[1]);
  ValueRange results = ifOp.getResults();
  sums.setActive(depth, results.take_front(before.size()));
  for (auto [value, result] :
       llvm::zip_equal(getKept(), results.drop_front(before.size())))
    *value = result;
}

void BlockStage::emitBody() {
  llvm::SmallBitVector dims = getGuardedDims();
  bool isNever = llvm::any_of(
      dims.set_bits(), [&](unsigned dim) { return levels.alwaysExceeds(dim); });
  // Prefixes go through one body alone.
  if (dims.none() || isNever || stage.carry)
    emitTile(/*isWhole=*/dims.none());
  else
    emitBoth(dims);
  for (auto [number, write] : llvm::enumerate(stage.writes))
    if (auto found = kept.find(number); found != kept.end())
      locals.keep(stage, write,
                  {&levels, &write, stage.getLoopsOf(write.value),
                   std::move(found->second)});
  kept.clear();
}

/// Returns the values that the threads keep of the tile, in order.
SmallVector<Value *> BlockStage::getKept() {
  SmallVector<Value *> values;
  for (unsigned number = 0; number < stage.writes.size(); ++number)
    if (auto found = kept.find(number); found != kept.end())
      for (Value &value : found->second)
        values.push_back(&value);
  return values;
}

void BlockStage::emitTile(bool isWhole) {
  ThreadTile::State outside = tile.getState();
  tile.setWhole(isWhole);
  emitValues(levels.getNumLevels());
  for (unsigned number = 0; number < stage.writes.size(); ++number) {
    const StageWrite &write = stage.writes[number];
    if (write.kind && write.isProjection) {
      sums.accumulate(number);
      continue;
    }
    if (write.kind) {
      emitAtomics(function, tile, write, bindings.results[write.result],
                  emitIsFirst(write, /*isInBlock=*/false));
      continue;
    }
    ThreadTile::Copies copies;
    const ThreadTile::Dims &dims = stage.getLoopsOf(write.value);
    tile.forEachPlace(dims, [&](const TilePlace &place) {
      copies.push_back(tile.getValue(write.value, place));
    });
    store(write, copies, dims);
    if (locals.isKept(stage, write))
      kept[number] = std::move(copies);
  }
  tile.setState(std::move(outside));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Returns whether the thread is the first of those that have the same elements
/// of a result, in its block or among all; null if it must be.
Value BlockStage::emitIsFirst(const StageWrite &write, bool isInBlock) {
  Value isFirst;
  Value zero = function.emitIndex(0);
  auto addZero = [&](Value number) {
    isFirst = emitAnd(
        b, loc, isFirst,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number, zero));
  };
  // A result that is no projection has a part of each iteration.
  auto isReduced = [&](int64_t dim) {
    return write.isProjection && !write.loops.test(dim);
  };
  if (levels.getNumThreads() < function.getNumThreads())
    addZero(function.emitThreadCoordinate(levels.getNumThreads(), 0));
  for (const ThreadLevels::Distributed &level : levels.getDistributed())
    if (isReduced(level.dim) && level.count > 1)
      addZero(function.emitThreadCoordinate(level.stride, level.count));
  if (isInBlock)
    return isFirst;
  for (unsigned depth = 0; depth < levels.getGridDepth(); ++depth)
    if (isReduced(levels.getLevel(depth).dim) &&
        levels.getLevel(depth).kind == LevelKind::Block)
      addZero(gridNumbers.lookup(depth));
  return isFirst;
}

/// Stores the copies of a result along some dimensions.
void BlockStage::store(const StageWrite &write,
                       const ThreadTile::Copies &copies,
                       const ThreadTile::Dims &dims) {
  // A pass that measures what another one adds has no results.
  bool isMeasuring =
      function.getFixedPoint() && function.getFixedPoint()->isMeasuring();
  for (const StageWrite &target : locals.getStores(stage, write)) {
    bool isInBlock = LocalValues::isInBlock(stage, target);
    if (isMeasuring && !isInBlock)
      continue;
    Value isFirst = emitIsFirst(write, isInBlock);
    tile.forEachPlace(write.loops, [&](const TilePlace &place) {
      tile.store(target, copies[tile.getNumber(place, dims)], place, isFirst);
    });
  }
}
