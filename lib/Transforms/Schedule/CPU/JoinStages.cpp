//===- JoinStages.cpp - Stages that share loops of threads ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether stages share loops on a CPU (StageJoiner.cpp says what may):
//   * what is left to share among threads is enough, or one thread is;
//   * an iteration's part of all tensors fits a core's cache, or its share of
//     the cache of several where the whole fits none;
//   * no stage of weight loses its vector loop, or an unrolled loop by which it
//     saves reads; contractions, whose reads are few, stay alone;
//   * the two have enough memory traffic in common.
//
// Values that only the group reads are local if what an iteration writes of
// them is small; the part of others that it writes is still in cache when read.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ChooseSchedule.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/Rewrites/StageJoiner.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_JOINSTAGESPASS
#include "MetaOps/Transforms/Schedule/CPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Iterations of the shared loops that keep threads busy.
static constexpr int64_t kEnoughIterations = 16;
/// Iterations of all loops that are not worth a second thread.
static constexpr int64_t kWorkOfOneThread = 1 << 14;
/// Bytes that one iteration may touch and find again in a core's cache.
static constexpr int64_t kMaxPartBytes = 1 << 19;
/// The same of tensors that no cache holds: a part of what cores share is still
/// nearer than memory.
static constexpr int64_t kSharersOfCache = 8;
/// Stages without their vectors may execute so many instructions more for each
/// byte of the traffic saved, or so small a part of all others'.
static constexpr int64_t kLostForByte = 4, kMaxLostPart = 8;
/// So many bytes that are in some cache are worth one instruction, and the
/// call of a kernel is worth so many.
static constexpr int64_t kCachedBytesForLost = 8, kLostForCall = 1 << 10;
/// Instructions that a division or a root takes as long as.
static constexpr int64_t kDivisionInstructions = 10;

namespace {
class ProcessorTarget : public JoinTarget {
public:
  explicit ProcessorTarget(const Processor &processor) : processor(processor) {}

  SmallVector<int64_t> getLoops(const Stage &stage,
                                int64_t &blocked) const override;
  bool isWorthIt(const JoinGroup &a, const JoinGroup &b,
                 const JoinGroup &joined,
                 ArrayRef<JoinDependence> dependences) const override;
  JoinPlan plan(const JoinGroup &group, ArrayRef<JoinDependence> dependences,
                llvm::function_ref<bool(Value)> leaves) const override;
  ScheduleAttr finish(FusedOp op, const Stage &stage) const override {
    ScheduleAttr chosen =
        choosePrefetch(stage, op.getScheduleAttr(), processor);
    return chooseStream(op, stage, chosen, processor.streamBytes);
  }

private:
  bool isWorthATile(const Stage &stage) const;
  bool losesVectors(const JoinGroup &joined, const JoinTraffic &traffic) const;
  SmallVector<unsigned> getSlotOrder(const JoinGroup &group) const;

  const Processor &processor;
};
} // namespace

/// Returns whether the stage is a contraction that has a tile, or would if its
/// extents were not varying.
bool ProcessorTarget::isWorthATile(const Stage &stage) const {
  return stage.isVarying() ? Contraction::match(stage).has_value()
                           : hasTile(stage, processor);
}

/// The dimensions of a schedule in the order of their outermost loops.
static SmallVector<int64_t> getOrder(ScheduleAttr schedule) {
  llvm::SmallSetVector<int64_t, 4> order;
  for (int64_t dim : schedule.getDims())
    order.insert(dim);
  return order.takeVector();
}

SmallVector<int64_t> ProcessorTarget::getLoops(const Stage &stage,
                                               int64_t &blocked) const {
  if (isWorthATile(stage))
    return {};
  ScheduleAttr alone = chooseSchedule(stage, processor);
  // It would lose its tiles.
  if (alone.getTranspose() >= 0)
    return {};
  if (alone.getVectorWidth() > 1)
    blocked = alone.getVectorDim();
  return getOrder(alone);
}

/// Counts the divisions and roots of a body.
static int64_t countDivisions(const Stage &stage) {
  return llvm::count_if(stage.body, [](Operation *op) {
    return classifyOperation(op) == WorkClass::Divide;
  });
}

/// The bytes of the group's operands and results that kernels outside of it
/// read which read its results: what sharing its loops may save them as well.
static int64_t countReadAgain(const JoinGroup &joined) {
  llvm::SetVector<Value> own = joined.getTraffic();
  llvm::SetVector<Value> again;
  for (KernelOp kernel : joined.kernels)
    for (Operation *user : kernel->getUsers())
      if (auto reader = dyn_cast<KernelOp>(user);
          reader && !llvm::is_contained(joined.kernels, reader))
        for (Value input : reader.getInputs())
          if (own.contains(input))
            again.insert(input);
  int64_t bytes = 0;
  for (Value value : again)
    bytes = addCounts(bytes, countBytes(value.getType()));
  return bytes;
}

/// Returns whether stages whose vectors lie along shared loops would lose more
/// than the traffic saved is worth: tanh of a row, say, whose elements are dot
/// products, or the roots of the sums of short rows.
bool ProcessorTarget::losesVectors(const JoinGroup &joined,
                                   const JoinTraffic &traffic) const {
  if (llvm::all_of(joined.slots,
                   [](const JoinSlot &slot) { return slot.blockedWork == 0; }))
    return false;
  // Instructions, and how many more divisions are as long as.
  int64_t lost = 0, lostBeside = 0, kept = 0;
  for (const auto &stage : joined.stages) {
    int64_t iterations = countIterations(stage->model);
    int64_t instructions =
        multiplyCounts(iterations, stage->model.getCodeSize());
    ScheduleAttr alone = chooseSchedule(stage->model, processor);
    int64_t width = std::max<int64_t>(alone.getVectorWidth(), 1);
    kept = addCounts(kept, instructions / width);
    if (width == 1 || !llvm::is_contained(stage->slots, alone.getVectorDim()))
      continue;
    lost = addCounts(lost, instructions - instructions / width);
    int64_t beside = multiplyCounts(
        iterations, countDivisions(stage->model) * (kDivisionInstructions - 1));
    lostBeside = addCounts(lostBeside, beside - beside / width);
  }
  int64_t part = kept / kMaxLostPart;
  if (lost > part && lost > multiplyCounts(traffic.saved, kLostForByte))
    return true;
  int64_t apart = addCounts(traffic.saved, countReadAgain(joined));
  int64_t lostInAll = addCounts(lost, lostBeside);
  return traffic.total <= processor.streamBytes && lostInAll > part &&
         lostInAll > apart / kCachedBytesForLost + kLostForCall;
}

bool ProcessorTarget::isWorthIt(const JoinGroup &a, const JoinGroup &b,
                                const JoinGroup &joined,
                                ArrayRef<JoinDependence>) const {
  int64_t range = joined.getRange();
  if (joined.work > kWorkOfOneThread &&
      range < std::min(kEnoughIterations, std::max(a.getRange(), b.getRange())))
    return false;
  JoinTraffic traffic(a, b);
  int64_t cached = kMaxPartBytes;
  if (traffic.total > processor.streamBytes)
    cached = std::max(cached, processor.streamBytes / kSharersOfCache);
  return traffic.total / range <= cached &&
         traffic.saved >= traffic.smaller / kMinSavedPart &&
         !losesVectors(joined, traffic);
}

/// Slots from outside to inside, as the largest stage would have them.
SmallVector<unsigned>
ProcessorTarget::getSlotOrder(const JoinGroup &group) const {
  const JoinedStage &largest = group.getLargest();
  ScheduleAttr alone = chooseSchedule(largest.model, processor);
  SmallVector<unsigned> order;
  for (int64_t loop : getOrder(alone))
    if (const auto *found = llvm::find(largest.slots, loop);
        found != largest.slots.end())
      order.push_back(found - largest.slots.begin());
  return order;
}

/// The bytes of the part of a result that one iteration writes.
static int64_t getLocalBytes(const JoinedStage &stage, const StageWrite &write,
                             ArrayRef<int64_t> loops) {
  std::optional<int64_t> elements = getNumElements(getLocalShape(write, loops));
  Value result = stage.op->getResult(write.result);
  return multiplyCounts(*elements, getElementBytes(result.getType()));
}

JoinPlan ProcessorTarget::plan(const JoinGroup &group, ArrayRef<JoinDependence>,
                               llvm::function_ref<bool(Value)> leaves) const {
  SmallVector<unsigned> order = getSlotOrder(group);
  JoinPlan plan;
  int64_t left = kMaxLocalBytes;
  for (const auto &stage : group.stages) {
    SmallVector<int64_t> loops = stage->getLoops(order);
    ScheduleAttr own = chooseNest(stage->model, processor, loops);
    plan.schedules.push_back(
        own.withParallel(loops.size())
            .withShared(plan.schedules.empty() ? 0 : loops.size()));
    for (const StageWrite &write : stage->model.writes) {
      Value result = stage->op->getResult(write.result);
      int64_t bytes = getLocalBytes(*stage, write, loops);
      if (leaves(result) || bytes > left)
        continue;
      left -= bytes;
      plan.local.insert(result);
    }
  }
  return plan;
}

namespace {
struct JoinStages : metaop::impl::JoinStagesPassBase<JoinStages> {
  using JoinStagesPassBase::JoinStagesPassBase;

  void runOnOperation() override {
    ProcessorTarget target(processor);
    if (failed(walkBlocks(getOperation().getBody(), [&](Block &block) {
          return joinStages(block, target, report);
        })))
      signalPassFailure();
  }
};
} // namespace
