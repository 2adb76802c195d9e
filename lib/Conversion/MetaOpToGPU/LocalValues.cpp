//===- LocalValues.cpp - What stages of a kernel hand on ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of the block holds what one iteration of the levels makes that the
// writer shares with all who read the value: along a dimension that one of
// these levels numbers, what one step of it goes, and else all of it. Places
// there are counted from where the block is along the dimension, the origin,
// which is a further symbol of the stage. What lives in a cluster's memory is
// divided likewise among its blocks, and a reader reaches the parts of all.
//
//===----------------------------------------------------------------------===//

#include "LocalValues.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

LocalValues::LocalValues(GpuFunction &function,
                         MutableArrayRef<GpuStage> stages,
                         const llvm::DenseMap<Value, Value> &buffers)
    : function(function), stages(stages), buffers(buffers),
      memories(stages.size()), origins(stages.size()) {}

static bool reads(const Stage &stage, Value result) {
  FusedOp op = stage.op;
  return llvm::is_contained(op.getInputs(), result);
}

/// The levels that a stage shares with all later ones that read its result.
unsigned LocalValues::getNumShared(unsigned writer, Value result) const {
  unsigned numShared = UINT_MAX, least = UINT_MAX;
  for (const GpuStage &each : stages.drop_front(writer + 1)) {
    least = std::min<unsigned>(least, each.schedule.getShared());
    if (reads(each.stage, result))
      numShared = std::min(numShared, least);
  }
  return numShared;
}

//===----------------------------------------------------------------------===//
// Memory of the block
//===----------------------------------------------------------------------===//

AffineExpr LocalValues::getOrigin(unsigned stage, unsigned depth) {
  SmallVector<Origin> &known = origins[stage];
  const auto *found = llvm::find_if(
      known, [&](const Origin &origin) { return origin.depth == depth; });
  unsigned symbol =
      stages[stage].stage.symbols.size() + (found - known.begin());
  if (found == known.end())
    known.push_back({depth, symbol});
  return getAffineSymbolExpr(symbol, stages[stage].stage.getContext());
}

/// The row-major number of the element that `map` reaches.
AffineExpr LocalValues::getOffset(unsigned stage, AffineMap map,
                                  ArrayRef<int64_t> shape, unsigned numShared) {
  const GpuStage &each = stages[stage];
  AffineExpr offset = getAffineConstantExpr(0, map.getContext());
  for (auto [index, extent] : llvm::zip_equal(map.getResults(), shape)) {
    AffineExpr local = index;
    if (auto depth = getSharedLevel(index, each, numShared))
      local = each.schedule.getLevels()[*depth].step == 1
                  ? getAffineConstantExpr(0, map.getContext())
                  : index - getOrigin(stage, *depth);
    offset = offset * extent + local;
  }
  return offset;
}

/// The number of an element in the memories of all blocks of a cluster, one
/// after another. Along a dimension that these share it may be any element of
/// the cluster's; along others it is one of the reader's own block.
AffineExpr LocalValues::getClusterOffset(const Local &local, unsigned reader,
                                         const StageRead &read,
                                         ArrayRef<int64_t> shape,
                                         unsigned numShared) {
  ScheduleAttr schedule = stages[local.writer].schedule;
  MLIRContext *context = read.map.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context), offset = zero;
  llvm::SmallDenseMap<unsigned, AffineExpr> blocks;
  for (auto [index, written, extent] : llvm::zip_equal(
           read.map.getResults(), local.write->map.getResults(), shape)) {
    AffineExpr own = index;
    auto depth = getSharedLevel(written, stages[local.writer], numShared);
    if (depth && isOfCluster(schedule, *depth)) {
      AffineExpr at = index - getOrigin(reader, *schedule.getEnclosing(*depth));
      blocks[*depth] = at.floorDiv(extent);
      own = at % extent;
    } else if (depth) {
      own = extent == 1 ? zero : index - getOrigin(reader, *depth);
    }
    offset = offset * extent + own;
  }
  AffineExpr rank = zero;
  for (unsigned depth = 0; depth < schedule.getNumGridLevels(); ++depth) {
    if (!isOfCluster(schedule, depth))
      continue;
    AffineExpr block = blocks.lookup(depth);
    if (!block)
      block = (getOrigin(reader, depth) -
               getOrigin(reader, *schedule.getEnclosing(depth)))
                  .floorDiv(schedule.getLevels()[depth].step);
    rank = rank * schedule.getCount(depth) + block;
  }
  return rank * local.size + offset;
}

void LocalValues::addMemory(Local &local, unsigned numShared) {
  GpuStage &writer = stages[local.writer];
  const StageWrite &write = *local.write;
  FusedOp op = writer.stage.op;
  SmallVector<int64_t> shape;
  for (auto [index, extent] :
       llvm::zip_equal(write.map.getResults(), write.shape)) {
    auto depth = getSharedLevel(index, writer, numShared);
    auto number = dyn_cast<AffineConstantExpr>(extent);
    assert((number || depth) && "what lives in a block has known extents: G18");
    // The dimensions that are collapsed into this one are numbered with it.
    if (depth)
      for (unsigned outer = shape.size(); outer-- > 0;) {
        if (write.map.getResult(outer) != 0)
          break;
        shape[outer] = 1;
      }
    shape.push_back(depth ? writer.schedule.getLevels()[*depth].step
                          : number.getValue());
  }
  local.size = 1;
  for (int64_t extent : shape)
    local.size *= extent;
  Type element = getMemoryType(getElementTypeOrSelf(local.result.getType()));
  local.memory = function.addShared(
      element, roundLocalSize(local.size, element.getIntOrFloatBitWidth() / 8));
  for (auto [number, reader] : llvm::enumerate(stages))
    for (StageRead &read : reader.stage.reads)
      if (number > local.writer &&
          getOuterValue(reader.stage.op, read.source) == local.result)
        read.place.offset =
            local.place == ResultPlace::Cluster
                ? getClusterOffset(local, number, read, shape, numShared)
                : getOffset(number, read.map, shape, numShared);
  StageWrite store = write;
  store.result = op.getNumResults() + memories[local.writer].size();
  store.place.offset = getOffset(local.writer, write.map, shape, numShared);
  memories[local.writer].push_back(local.memory);
  stores[local.result].push_back(std::move(store));
}

void LocalValues::allocate() {
  for (auto [number, each] : llvm::enumerate(stages))
    for (const StageWrite &write : each.stage.writes) {
      OpResult result = each.stage.op->getResult(write.result);
      if (buffers.lookup(result))
        stores[result].push_back(write);
      unsigned numShared = getNumShared(number, result);
      if (numShared == UINT_MAX)
        continue;
      Local local;
      local.result = result;
      local.writer = number;
      local.write = &write;
      local.place = each.schedule.getPlaceOf(write.result);
      bool isInBlocks = local.place == ResultPlace::Shared ||
                        local.place == ResultPlace::Cluster;
      if (isInBlocks)
        addMemory(local, numShared);
      locals.push_back(std::move(local));
    }
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

const LocalValues::Local *LocalValues::find(Value result) const {
  const auto *found = llvm::find_if(
      locals, [&](const Local &local) { return local.result == result; });
  return found == locals.end() ? nullptr : found;
}

void LocalValues::bind(unsigned number, StageBindings &bindings) {
  const Stage &stage = stages[number].stage;
  bindings.results.append(memories[number]);
  bindings.symbols.append(origins[number].size(), function.emitIndex(0));
  for (const StageRead &read : stage.reads)
    if (const Local *local = find(getOuterValue(stage.op, read.source));
        local && local->memory)
      bindings.sources[read.source] = local->memory;
}

void LocalValues::bindReads(unsigned number, ThreadTile &tile) const {
  const Stage &stage = stages[number].stage;
  for (const Origin &origin : origins[number])
    tile.setDivisor(origin.symbol,
                    stages[number].schedule.getLevels()[origin.depth].step);
  for (const StageRead &read : stage.reads)
    if (const Local *local = find(getOuterValue(stage.op, read.source))) {
      if (local->place == ResultPlace::Registers)
        tile.bindRegisters(read.value, &local->kept);
      if (local->place == ResultPlace::Cluster)
        tile.bindCluster(read.value, local->memory, local->size);
    }
}

void LocalValues::openLevel(const Stage &stage, StageBindings &bindings,
                            unsigned depth, Value at) const {
  for (auto [each, origins] : llvm::zip_equal(stages, origins))
    if (&each.stage == &stage)
      for (const Origin &origin : origins)
        if (origin.depth == depth)
          bindings.symbols[origin.symbol] = at;
}

ArrayRef<StageWrite> LocalValues::getStores(const Stage &stage,
                                            const StageWrite &write) const {
  auto found = stores.find(stage.op->getResult(write.result));
  return found == stores.end() ? ArrayRef<StageWrite>() : found->second;
}

bool LocalValues::isInBlock(const Stage &stage, const StageWrite &store) {
  return store.result >= stage.op->getNumResults();
}

bool LocalValues::isKept(const Stage &stage, const StageWrite &write) const {
  const Local *local = find(stage.op->getResult(write.result));
  return local && local->place == ResultPlace::Registers;
}

void LocalValues::keep(const Stage &stage, const StageWrite &write,
                       RegisterValue value) {
  Value result = stage.op->getResult(write.result);
  auto *local = llvm::find_if(
      locals, [&](const Local &other) { return other.result == result; });
  if (local != locals.end())
    local->kept = std::move(value);
}

/// Those who share the memory of a place.
static Meeting getMeetingOf(ResultPlace place) {
  if (place == ResultPlace::Registers)
    return Meeting::None;
  return place == ResultPlace::Cluster ? Meeting::Cluster : Meeting::Block;
}

Meeting LocalValues::meetBefore(unsigned stage) {
  Meeting meeting = Meeting::None;
  for (const Local &local : locals)
    if (!local.isSeen && reads(stages[stage].stage, local.result))
      meeting = std::max(meeting, getMeetingOf(local.place));
  for (Local &local : locals)
    if (local.writer < stage && getMeetingOf(local.place) <= meeting)
      local.isSeen = true;
  return meeting;
}

Meeting LocalValues::getMeeting(unsigned first, unsigned number) const {
  Meeting meeting = Meeting::None;
  for (const Local &local : locals)
    if (local.writer >= first && local.writer < first + number)
      meeting = std::max(meeting, getMeetingOf(local.place));
  return meeting;
}
