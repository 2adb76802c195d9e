//===- BlockReduction.cpp - Combining what threads have -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads along reduced levels have a part each of one result. Those of a
// warp whose numbers differ in one bit exchange what they have, bit after bit
// (a butterfly), so that all of them have the whole. What is left, several
// warps or a count that is no power of two, goes through shared memory: one
// thread of each group stores what the group has,
//
//   shared[group along the reduced levels][place along the kept ones]
//
// and after a barrier each thread reads that of all groups and combines them as
// a tree, all in the same order; those of many groups in a loop, a tree of a
// few in each iteration. The blocks of a cluster then do the same with their
// results, which they read in each other's memory.
//
// All values of a stage go through one barrier.
//
//===----------------------------------------------------------------------===//

#include "BlockReduction.h"
#include "Addresses.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Target/Description/Chip.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Groups that are combined without a loop, and in an iteration of one.
static constexpr int64_t kMaxGroupsAtOnce = 16;
static constexpr int64_t kGroupsAtOnce = 8;

namespace {

/// A level along which some of the threads, or blocks, have one result each.
struct Level {
  int64_t stride;
  int64_t count;
  bool isKept;
  /// Neighbours that are combined already: only every so many-th has a part of
  /// its own.
  int64_t combined = 1;

  int64_t getRest() const { return count / combined; }
};

/// One kind of partials on their way.
class Partials {
public:
  Partials(GpuFunction &function, const ThreadLevels &levels,
           ThreadPartials &partials);

  /// In the registers of warps.
  void shuffle();
  bool needsShared() const { return getNumGroups(threads) > 1; }
  bool needsCluster() const { return getNumGroups(blocks) > 1; }
  /// Through the memory of the block; a barrier stands between.
  void store();
  void load();
  /// Through that of the cluster; the barrier of the cluster does.
  void storeToCluster();
  void loadFromCluster();

private:
  void unpack();
  void pack();
  Value emitShuffle(Value value, int64_t distance);
  static int64_t getNumGroups(ArrayRef<Level> levels);
  static int64_t getNumKept(ArrayRef<Level> levels);
  Value emitKept();
  Value emitGroup();
  Value emitIsFirst();
  Value emitTree(MutableArrayRef<Value> values);
  Value loadGroups(unsigned number, Value first, int64_t count, Value kept);
  void allocate(int64_t numElements);
  /// Returns the place of a value in shared memory, of a group and a kept
  /// place.
  Value emitPlace(unsigned number, Value group, Value kept, int64_t numGroups,
                  int64_t numKept);

  GpuFunction &function;
  OpBuilder &b;
  Location loc;
  ThreadPartials &partials;
  /// The values one by one.
  SmallVector<Value> scalars;
  SmallVector<Level> threads, blocks;
  Value memory;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which threads have parts of one result
//===----------------------------------------------------------------------===//

static SmallVector<Level> getThreadLevels(const ThreadLevels &levels,
                                          const llvm::SmallBitVector &kept) {
  SmallVector<Level> result;
  for (const ThreadLevels::Distributed &level : levels.getDistributed())
    result.push_back({level.stride, level.count, kept.test(level.dim)});
  return result;
}

/// The levels of blocks inside of clusters, which number the blocks of one.
static SmallVector<Level> getBlockLevels(const ThreadLevels &levels,
                                         const llvm::SmallBitVector &kept) {
  SmallVector<Level> result;
  int64_t stride = 1;
  for (unsigned depth = levels.getGridDepth(); depth-- > 0;) {
    if (levels.getLevel(depth).kind != LevelKind::Block ||
        !levels.getSchedule().getEnclosing(depth))
      continue;
    int64_t count = levels.getSchedule().getCount(depth);
    result.insert(result.begin(),
                  {stride, count, kept.test(levels.getLevel(depth).dim)});
    stride *= count;
  }
  return result;
}

bool metaop::isDivided(const ThreadLevels &levels,
                       const llvm::SmallBitVector &kept) {
  auto isReduced = [](const Level &level) {
    return !level.isKept && level.count > 1;
  };
  return llvm::any_of(getThreadLevels(levels, kept), isReduced) ||
         llvm::any_of(getBlockLevels(levels, kept), isReduced);
}

Partials::Partials(GpuFunction &function, const ThreadLevels &levels,
                   ThreadPartials &partials)
    : function(function), b(function.getBuilder()), loc(function.getLoc()),
      partials(partials), threads(getThreadLevels(levels, partials.kept)),
      blocks(getBlockLevels(levels, partials.kept)) {
  unpack();
}

void Partials::unpack() {
  for (Value value : partials.values) {
    auto type = dyn_cast<VectorType>(value.getType());
    for (int64_t i = 0; i < (type ? type.getNumElements() : 1); ++i)
      scalars.push_back(
          type ? vector::ExtractOp::create(b, loc, value, i).getResult()
               : value);
  }
}

void Partials::pack() {
  ArrayRef<Value> rest = scalars;
  for (Value &value : partials.values) {
    auto type = dyn_cast<VectorType>(value.getType());
    int64_t count = type ? type.getNumElements() : 1;
    value = type ? vector::FromElementsOp::create(b, loc, type,
                                                  rest.take_front(count))
                       .getResult()
                 : rest.front();
    rest = rest.drop_front(count);
  }
}

//===----------------------------------------------------------------------===//
// In a warp
//===----------------------------------------------------------------------===//

/// The value of the thread whose number differs in one bit. Shuffles have 32
/// bits.
Value Partials::emitShuffle(Value value, int64_t distance) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  auto exchange = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(b, loc, word, distance, Chip::kWarpThreads,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (type.isF32() || type.isInteger(32))
    return exchange(value);
  Type word = b.getI32Type(), bits = b.getIntegerType(width);
  if (type != bits)
    value = arith::BitcastOp::create(b, loc, bits, value);
  if (width < 32) {
    value = arith::ExtUIOp::create(b, loc, word, value);
    value = arith::TruncIOp::create(b, loc, bits, exchange(value));
  } else {
    Value half = arith::ConstantOp::create(b, loc, b.getIntegerAttr(bits, 32));
    Value low = arith::TruncIOp::create(b, loc, word, value);
    Value high = arith::TruncIOp::create(
        b, loc, word, arith::ShRUIOp::create(b, loc, value, half));
    low = arith::ExtUIOp::create(b, loc, bits, exchange(low));
    high = arith::ExtUIOp::create(b, loc, bits, exchange(high));
    value = arith::OrIOp::create(b, loc, low,
                                 arith::ShLIOp::create(b, loc, high, half));
  }
  return type == bits ? value : arith::BitcastOp::create(b, loc, type, value);
}

void Partials::shuffle() {
  // A warp that is not full cannot exchange.
  if (function.getNumThreads() % Chip::kWarpThreads != 0)
    return;
  for (Level &level : threads) {
    if (level.isKept || !llvm::isPowerOf2_64(level.stride))
      continue;
    while (level.getRest() % 2 == 0 &&
           level.stride * level.combined < Chip::kWarpThreads) {
      for (Value &value : scalars)
        value = partials.reduction.emitCombine(
            b, loc, value, emitShuffle(value, level.stride * level.combined));
      level.combined *= 2;
    }
  }
  pack();
}

//===----------------------------------------------------------------------===//
// In a block
//===----------------------------------------------------------------------===//

int64_t Partials::getNumGroups(ArrayRef<Level> levels) {
  int64_t groups = 1;
  for (const Level &level : levels)
    if (!level.isKept)
      groups *= level.getRest();
  return groups;
}

int64_t Partials::getNumKept(ArrayRef<Level> levels) {
  int64_t places = 1;
  for (const Level &level : levels)
    if (level.isKept)
      places *= level.count;
  return places;
}

/// The number of the thread along the kept levels.
Value Partials::emitKept() {
  Value place = function.emitIndex(0);
  for (const Level &level : threads) {
    if (!level.isKept || level.count == 1)
      continue;
    Value at = function.emitThreadCoordinate(level.stride, level.count);
    place =
        arith::MulIOp::create(b, loc, place, function.emitIndex(level.count));
    place = arith::AddIOp::create(b, loc, place, at);
  }
  return place;
}

/// The number of the thread's group.
Value Partials::emitGroup() {
  Value group = function.emitIndex(0);
  for (const Level &level : threads) {
    if (level.isKept || level.getRest() == 1)
      continue;
    Value at = function.emitThreadCoordinate(level.stride * level.combined,
                                             level.getRest());
    group = arith::MulIOp::create(b, loc, group,
                                  function.emitIndex(level.getRest()));
    group = arith::AddIOp::create(b, loc, group, at);
  }
  return group;
}

/// Returns whether the thread is the first one of its group; null if it must
/// be.
Value Partials::emitIsFirst() {
  Value isFirst;
  Value zero = function.emitIndex(0);
  for (const Level &level : threads) {
    if (level.isKept || level.combined == 1)
      continue;
    Value at = function.emitThreadCoordinate(level.stride, level.combined);
    isFirst = emitAnd(
        b, loc, isFirst,
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at, zero));
  }
  return isFirst;
}

Value Partials::emitPlace(unsigned number, Value group, Value kept,
                          int64_t numGroups, int64_t numKept) {
  Value first = arith::AddIOp::create(b, loc, group,
                                      function.emitIndex(number * numGroups));
  first = arith::MulIOp::create(b, loc, first, function.emitIndex(numKept));
  return arith::AddIOp::create(b, loc, first, kept);
}

void Partials::allocate(int64_t numElements) {
  // Accumulators of booleans are bytes there.
  memory = function.addShared(
      getMemoryType(partials.reduction.getAccumulatorType()), numElements);
}

void Partials::store() {
  int64_t groups = getNumGroups(threads), places = getNumKept(threads);
  allocate(groups * places * scalars.size());
  Type element = partials.reduction.getAccumulatorType();
  emitIf(b, loc, emitIsFirst(), [&] {
    Value group = emitGroup(), kept = emitKept();
    for (auto [number, value] : llvm::enumerate(scalars))
      memref::StoreOp::create(b, loc, toMemoryType(b, loc, value, element),
                              memory,
                              emitPlace(number, group, kept, groups, places));
  });
}

Value Partials::emitTree(MutableArrayRef<Value> values) {
  for (size_t count = values.size(); count > 1; count = (count + 1) / 2)
    for (size_t i = 0; i < count / 2; ++i)
      values[i] = partials.reduction.emitCombine(b, loc, values[i],
                                                 values[i + (count + 1) / 2]);
  return values.front();
}

/// Loads the values of so many groups.
Value Partials::loadGroups(unsigned number, Value first, int64_t count,
                           Value kept) {
  int64_t groups = getNumGroups(threads), places = getNumKept(threads);
  Type element = partials.reduction.getAccumulatorType();
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i) {
    Value group = arith::AddIOp::create(b, loc, first, function.emitIndex(i));
    Value place = emitPlace(number, group, kept, groups, places);
    Value part = memref::LoadOp::create(b, loc, memory, place);
    parts.push_back(toComputeType(b, loc, part, element));
  }
  return emitTree(parts);
}

void Partials::load() {
  int64_t groups = getNumGroups(threads);
  int64_t once = groups > kMaxGroupsAtOnce ? kGroupsAtOnce : groups;
  int64_t looped = groups / once * once;
  Value kept = emitKept();
  auto combine = [&](MutableArrayRef<Value> values, Value first,
                     int64_t count) {
    for (auto [number, value] : llvm::enumerate(values))
      value = partials.reduction.emitCombine(
          b, loc, value, loadGroups(number, first, count, kept));
  };
  for (auto [number, value] : llvm::enumerate(scalars))
    value = loadGroups(number, function.emitIndex(0), once, kept);
  if (once < looped) {
    LoopRange range{function.emitIndex(once), function.emitIndex(looped),
                    std::nullopt};
    range.mayUnroll = false;
    scalars = emitFor(b, loc, range, function.emitIndex(once), scalars,
                      [&](Value first, ValueRange carried) {
                        SmallVector<Value> values(carried);
                        combine(values, first, once);
                        return values;
                      });
  }
  if (looped < groups)
    combine(scalars, function.emitIndex(looped), groups - looped);
  pack();
}

//===----------------------------------------------------------------------===//
// In a cluster
//===----------------------------------------------------------------------===//

void Partials::storeToCluster() {
  int64_t places = getNumKept(threads);
  allocate(places * scalars.size());
  Type element = partials.reduction.getAccumulatorType();
  // All threads of a combination have the same.
  Value zero = function.emitIndex(0), isFirst;
  for (const Level &level : threads)
    if (!level.isKept && level.count > 1)
      isFirst = emitAnd(
          b, loc, isFirst,
          arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::eq,
              function.emitThreadCoordinate(level.stride, level.count), zero));
  emitIf(b, loc, isFirst, [&] {
    Value kept = emitKept();
    for (auto [number, value] : llvm::enumerate(scalars))
      memref::StoreOp::create(b, loc, toMemoryType(b, loc, value, element),
                              memory, emitPlace(number, zero, kept, 1, places));
  });
}

void Partials::loadFromCluster() {
  int64_t places = getNumKept(threads), groups = getNumGroups(blocks);
  Type element = partials.reduction.getAccumulatorType();
  Value kept = emitKept();
  // Blocks that keep the same have numbers apart by those of the others.
  Value rank = function.getBlockInCluster();
  for (auto [number, value] : llvm::enumerate(scalars)) {
    SmallVector<Value> parts;
    for (int64_t group = 0; group < groups; ++group) {
      Value other = function.emitIndex(0);
      int64_t rest = group;
      for (const Level &level : llvm::reverse(blocks)) {
        Value at = level.isKept ? function.emitCoordinate(rank, level.stride,
                                                          level.count)
                                : function.emitIndex(rest % level.count);
        if (!level.isKept)
          rest /= level.count;
        at =
            arith::MulIOp::create(b, loc, at, function.emitIndex(level.stride));
        other = arith::AddIOp::create(b, loc, other, at);
      }
      Value place = emitPlace(number, function.emitIndex(0), kept, 1, places);
      Value part = emitClusterLoad(b, loc, memory, place, other);
      parts.push_back(toComputeType(b, loc, part, element));
    }
    value = emitTree(parts);
  }
  pack();
}

void metaop::emitBlockReduction(GpuFunction &function,
                                const ThreadLevels &levels,
                                MutableArrayRef<ThreadPartials> partials,
                                bool isRepeated) {
  SmallVector<Partials, 2> all;
  for (ThreadPartials &each : partials)
    all.emplace_back(function, levels, each);
  for (Partials &each : all)
    each.shuffle();
  auto needsShared = [](const Partials &each) { return each.needsShared(); };
  if (llvm::any_of(all, needsShared)) {
    // Nobody reads what was there before any more.
    if (isRepeated)
      function.emitBarrier();
    for (Partials &each : llvm::make_filter_range(all, needsShared))
      each.store();
    function.emitBarrier();
    for (Partials &each : llvm::make_filter_range(all, needsShared))
      each.load();
  }
  auto needsCluster = [](const Partials &each) { return each.needsCluster(); };
  if (llvm::none_of(all, needsCluster))
    return;
  for (Partials &each : llvm::make_filter_range(all, needsCluster))
    each.storeToCluster();
  function.emitClusterBarrier();
  for (Partials &each : llvm::make_filter_range(all, needsCluster))
    each.loadFromCluster();
  // A block whose memory is read by others may not end, nor write there again.
  function.emitClusterBarrier();
}
