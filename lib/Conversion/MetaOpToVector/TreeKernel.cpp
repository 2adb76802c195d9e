//===- TreeKernel.cpp - Stages in a tree of loops -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages' schedules form a tree of loops: stage n opens the loops that it
// does not share with stage n - 1. Runs of stages that share the loop at some
// depth are emitted inside of one loop, in order.
//
// The leading loops that all stages have, and mark as parallel, are one range,
// of which a call does a part. Where a further loop of the dimension stands
// inside, an iteration of the range is a strip.
//
//===----------------------------------------------------------------------===//

#include "TreeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::metaop;

TreeKernel::TreeKernel(OpBuilder &b, Location loc,
                       SmallVectorImpl<ScheduledStage> &stages)
    : b(b), loc(loc), stages(stages), parallel(countParallelLoops(stages)) {
  openSharedLoops(stages, parallel);
}

//===----------------------------------------------------------------------===//
// The parallel range
//===----------------------------------------------------------------------===//

/// Iterations of the dimension of a parallel loop that an iteration of the
/// range does.
int64_t TreeKernel::getStep(unsigned depth) const {
  ScheduleAttr schedule = stages.front().schedule;
  LoopLevel level = schedule.getLevels()[depth];
  if (schedule.isOuter(depth))
    return level.step;
  return level.dim == schedule.getUnrollDim() ? schedule.getUnroll() : 1;
}

int64_t TreeKernel::getRange() const {
  const ScheduledStage &first = stages.front();
  int64_t range = 1;
  SmallVector<int64_t> loops = first.schedule.getDims(parallel);
  for (auto [depth, loop] : llvm::enumerate(loops)) {
    int64_t extent = first.stage.getStaticExtent(loop);
    if (ShapedType::isDynamic(extent))
      return ShapedType::kDynamic;
    range *= llvm::divideCeil(extent, getStep(depth));
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void TreeKernel::emitTree(MutableArrayRef<ScheduledStage> run, unsigned depth) {
  if (run.size() == 1) {
    getEmitter(run.front()).emitNest(depth);
    return;
  }
  while (!run.empty()) {
    // The longest run of stages that share the loop at this depth.
    size_t length = 1;
    while (length < run.size() &&
           run[length].schedule.getShared() > static_cast<int64_t>(depth))
      ++length;
    MutableArrayRef<ScheduledStage> group = run.take_front(length);
    run = run.drop_front(length);
    if (length == 1) {
      getEmitter(group.front()).emitNest(depth);
      continue;
    }
    for (ScheduledStage &scheduled : group)
      getEmitter(scheduled).enter(depth);
    LoopRange range = getEmitter(group.front()).getFullRange(depth);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(b, loc, range.begin, range.end, one);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(loop.getBody());
    for (ScheduledStage &scheduled : group)
      getEmitter(scheduled).openLoop(depth, loop.getInductionVar());
    emitTree(group, depth + 1);
  }
}

/// Returns the number of times that the range goes through a parallel loop.
Value TreeKernel::emitCount(unsigned depth, int64_t step) {
  LoopRange full = getEmitter(stages.front()).getFullRange(depth);
  if (step == 1)
    return full.end;
  if (full.extent)
    return arith::ConstantIndexOp::create(b, loc,
                                          llvm::divideCeil(*full.extent, step));
  return arith::CeilDivSIOp::create(
      b, loc, full.end, arith::ConstantIndexOp::create(b, loc, step));
}

void TreeKernel::emitRange(Value begin, Value end) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  if (parallel > 0)
    for (ScheduledStage &scheduled : stages)
      getEmitter(scheduled).enter(0);
  auto loop = scf::ForOp::create(b, loc, begin, end, one);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  // Unfold the range into the loops that it stands for, innermost first.
  for (unsigned depth = parallel; depth-- > 0;) {
    int64_t step = getStep(depth);
    Value iv = position;
    if (depth > 0) {
      Value count = emitCount(depth, step);
      iv = arith::RemUIOp::create(b, loc, position, count);
      position = arith::DivUIOp::create(b, loc, position, count);
    }
    if (step > 1)
      iv = arith::MulIOp::create(b, loc, iv,
                                 arith::ConstantIndexOp::create(b, loc, step));
    for (ScheduledStage &scheduled : stages)
      getEmitter(scheduled).openLoop(depth, iv);
  }
  for (unsigned depth = 1; depth < parallel; ++depth)
    for (ScheduledStage &scheduled : stages)
      getEmitter(scheduled).enter(depth);
  emitStages();
}

LogicalResult TreeKernel::createEmitters(BindFn bind) {
  for (ScheduledStage &scheduled : stages) {
    FailureOr<StageBindings> bindings = bind(scheduled);
    if (failed(bindings))
      return failure();
    OuterLoops outer{parallel, scheduled.openedLoops, scheduled.localLoops};
    emitters.push_back(std::make_unique<StageEmitter>(
        b, scheduled.stage, scheduled.schedule, std::move(*bindings), outer));
  }
  return success();
}

LogicalResult TreeKernel::emit(Value begin, Value end, BindFn bind) {
  if (failed(createEmitters(bind)))
    return failure();
  emitRange(begin, end);
  return success();
}
