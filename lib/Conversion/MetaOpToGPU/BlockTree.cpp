//===- BlockTree.cpp - Stages in a tree of levels -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages' schedules form a tree: stage n opens the levels that it does not
// share with stage n - 1. Runs of stages that share a loop are emitted inside
// of one, in order. All stages share the grid: a block's number is that of an
// iteration of its levels, the last one fastest.
//
// A stage that reads what other threads of the block, or of the cluster, have
// written waits for them. So do all of these at the end of a loop in which that
// happens: nobody may write again what somebody still reads; nor may a block of
// a cluster end then.
//
//===----------------------------------------------------------------------===//

#include "BlockTree.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::metaop;

int64_t metaop::getGridSize(MutableArrayRef<GpuStage> stages) {
  ThreadLevels levels(stages.front().stage, stages.front().schedule);
  int64_t size = 1;
  for (unsigned depth = 0; depth < levels.getGridDepth(); ++depth) {
    int64_t count = levels.getGridCount(depth);
    if (ShapedType::isDynamic(count))
      return count;
    size *= count;
  }
  return size;
}

/// The levels that the caller opens around a stage: those of the grid, and
/// those that it shares with a neighbour.
unsigned BlockTree::getNumOpened(unsigned stage) const {
  unsigned opened = levels[stage]->getGridDepth();
  for (unsigned other : {stage, stage + 1})
    if (other < stages.size())
      opened = std::max<unsigned>(opened, stages[other].schedule.getShared());
  return opened;
}

LogicalResult BlockTree::createEmitters(BindFn bind) {
  locals.allocate();
  for (auto [number, each] : llvm::enumerate(stages)) {
    FailureOr<StageBindings> bindings = bind(each.stage);
    if (failed(bindings))
      return failure();
    locals.bind(number, *bindings);
    StagedReads staged = StagedReads::create(function, each, *bindings);
    levels.push_back(std::make_unique<ThreadLevels>(each.stage, each.schedule));
    emitters.push_back(std::make_unique<BlockStage>(
        function, locals, *levels.back(), std::move(*bindings),
        std::move(staged), number, getNumOpened(number)));
  }
  return success();
}

void BlockTree::openGrid() {
  const ThreadLevels &first = *levels.front();
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  Value rest = function.getBlock();
  SmallVector<Value> numbers(first.getGridDepth());
  for (unsigned depth = numbers.size(); depth-- > 0;) {
    numbers[depth] = rest;
    if (depth == 0)
      break;
    int64_t known = first.getGridCount(depth);
    Value count;
    if (ShapedType::isDynamic(known))
      count = arith::CeilDivUIOp::create(
          b, loc, emitters.front()->getRange(depth).end,
          function.emitIndex(first.getLevel(depth).step));
    else
      count = function.emitIndex(known);
    numbers[depth] = function.emitCoordinate(rest, Value(), count);
    rest = function.emitCoordinate(rest, count, Value());
  }
  for (auto [depth, number] : llvm::enumerate(numbers))
    for (auto &emitter : emitters)
      emitter->openGrid(depth, number);
}

void BlockTree::emitMeeting(Meeting meeting) {
  if (meeting == Meeting::Cluster)
    function.emitClusterBarrier();
  else if (meeting == Meeting::Block)
    function.emitBarrier();
}

void BlockTree::emitStage(unsigned stage, unsigned depth) {
  emitMeeting(locals.meetBefore(stage));
  emitters[stage]->emitNest(depth);
}

void BlockTree::emitRun(unsigned first, unsigned count, unsigned depth) {
  if (count == 1) {
    emitStage(first, depth);
    return;
  }
  unsigned end = first + count;
  while (first < end) {
    // The longest run of stages that share the level at this depth.
    unsigned length = 1;
    while (first + length < end && stages[first + length].schedule.getShared() >
                                       static_cast<int64_t>(depth))
      ++length;
    unsigned begin = first;
    first += length;
    if (length == 1) {
      emitStage(begin, depth);
      continue;
    }
    auto group = ArrayRef(emitters).slice(begin, length);
    for (auto &emitter : group)
      emitter->enter(depth);
    if (!group.front()->getLevels().isLoop(depth)) {
      emitRun(begin, length, depth + 1);
      continue;
    }
    Value step = function.emitIndex(group.front()->getStep(depth));
    LoopRange range = group.front()->getRange(depth);
    range.mayUnroll = false;
    emitFor(function.getBuilder(), function.getLoc(), range, step,
            [&](Value at) {
              for (auto &emitter : group)
                emitter->openLevel(depth, at);
              emitRun(begin, length, depth + 1);
              emitMeeting(locals.getMeeting(begin, length));
            });
  }
}

LogicalResult BlockTree::emit(BindFn bind) {
  if (failed(createEmitters(bind)))
    return failure();
  openGrid();
  emitRun(0, stages.size(), levels.front()->getGridDepth());
  // No block ends whose memory others of the cluster may still read.
  if (locals.getMeeting(0, stages.size()) == Meeting::Cluster)
    function.emitClusterBarrier();
  return success();
}
