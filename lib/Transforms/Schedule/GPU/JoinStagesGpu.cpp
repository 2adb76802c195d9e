//===- JoinStagesGpu.cpp - Stages that share rows on a GPU ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages are joined (StageJoiner.cpp says which may be) where they have traffic
// in common and rows fit those who compute them (RowSchedule.cpp). A value
// between two of them lives in registers where the threads that read it have
// it, else in shared memory, and where neither has room in the kernel's
// results, of which a block finds in the second cache what it has written.
//
// A contraction, or a reduction of windows, is joined with what follows it
// element by element, for which that keeps its loops apart, and a contraction
// of short rows with what reduces these (EpilogueScheduleGpu.cpp).
//
//===----------------------------------------------------------------------===//

#include "EpilogueScheduleGpu.h"
#include "KeptLoops.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuPlaces.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuSchedule.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "StagePlanner.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_JOINSTAGESGPUPASS
#include "MetaOps/Transforms/Schedule/GPU/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Iterations that a few blocks do in less time than a kernel starts.
static constexpr int64_t kWorkOfFewBlocks = 1 << 18;
/// Iterations that take longer than a kernel to start even if all of the chip
/// does them.
static constexpr int64_t kWorkOfAllBlocks = 1 << 22;
/// Operands and results of a kernel, each an argument or two. What passes
/// between kernels of more is a small part of what they move.
static constexpr size_t kMaxTensors = 64;
/// Contractions of a kernel. Without a bound a recurrence would be one kernel,
/// and each length another.
static constexpr unsigned kMaxContractions = 4;
/// Registers that are left to the assembler.
static constexpr int64_t kSpareRegisters = 16;

namespace {
class ChipTarget : public JoinTarget {
public:
  explicit ChipTarget(const Chip &chip) : chip(chip) {}

  SmallVector<int64_t> getLoops(const Stage &stage,
                                int64_t &blocked) const override;
  bool canJoin(const JoinGroup &joined,
               ArrayRef<JoinDependence> dependences) const override;
  bool isWorthIt(const JoinGroup &a, const JoinGroup &b,
                 const JoinGroup &joined,
                 ArrayRef<JoinDependence> dependences) const override;
  JoinPlan plan(const JoinGroup &group, ArrayRef<JoinDependence> dependences,
                llvm::function_ref<bool(Value)> leaves) const override;

private:
  SmallVector<ScheduleAttr>
  schedule(const JoinGroup &group, ArrayRef<JoinDependence> dependences) const;
  bool place(MutableArrayRef<GpuStage> stages,
             ArrayRef<JoinDependence> dependences) const;
  bool fits(const GpuResources &resources) const;

  const Chip &chip;
};
} // namespace

/// Transposes through shared memory are better as they are.
SmallVector<int64_t> ChipTarget::getLoops(const Stage &stage, int64_t &) const {
  SmallVector<int64_t> loops =
      llvm::to_vector(llvm::seq<int64_t>(0, stage.getNumLoops()));
  if (auto contraction = Contraction::match(stage)) {
    llvm::erase_if(
        loops, [&](int64_t loop) { return contraction->reduced.test(loop); });
    return loops;
  }
  if (!chooseGpuSchedule(stage, chip).getStaged().empty())
    return {};
  return loops;
}

static bool hasContraction(const JoinGroup &group) {
  return llvm::any_of(group.stages, [](const auto &stage) {
    return Contraction::match(stage->model).has_value();
  });
}

SmallVector<ScheduleAttr>
ChipTarget::schedule(const JoinGroup &group,
                     ArrayRef<JoinDependence> dependences) const {
  auto schedules = chooseEpilogueSchedules(group, dependences, chip);
  if (!schedules.empty() || hasContraction(group))
    return schedules;
  SmallVector<const Stage *> stages;
  SmallVector<SmallVector<int64_t>> slots;
  for (const auto &stage : group.stages) {
    stages.push_back(&stage->model);
    slots.push_back(stage->slots);
  }
  return chooseRowSchedules(stages, slots, chip);
}

static SmallVector<GpuStage, 0> getGpuStages(const JoinGroup &group,
                                             ArrayRef<ScheduleAttr> schedules) {
  SmallVector<GpuStage, 0> stages;
  for (auto [stage, schedule] : llvm::zip_equal(group.stages, schedules))
    stages.push_back({stage->model, schedule});
  return stages;
}

static void setPlace(GpuStage &stage, unsigned result, ResultPlace place) {
  ScheduleFields fields = stage.schedule.getFields();
  FusedOp op = stage.stage.op;
  fields.place.resize(op.getNumResults(), ResultPlace::Memory);
  fields.place[result] = place;
  stage.schedule = ScheduleAttr::get(op.getContext(), fields);
}

bool ChipTarget::fits(const GpuResources &resources) const {
  int64_t registers =
      std::min(Chip::kMaxRegistersOfThread, chip.registers / resources.threads);
  return resources.sharedBytes <= chip.sharedBytesOfBlock &&
         resources.registers + kSpareRegisters <= registers;
}

/// Registers where they may be and there is room; then the memory of the block,
/// or that of the cluster if other blocks' parts are read, too. False where a
/// cluster has no room, or its parts are read in another form.
bool ChipTarget::place(MutableArrayRef<GpuStage> stages,
                       ArrayRef<JoinDependence> dependences) const {
  auto find = [&](const JoinedStage *stage) -> GpuStage & {
    return *llvm::find_if(stages, [&](const GpuStage &each) {
      FusedOp op = each.stage.op;
      return op == stage->op;
    });
  };
  // The stages are in kernels of their own yet.
  auto findSource = [&](const Stage &stage, Value argument) -> Value {
    FusedOp op = stage.op;
    for (const JoinDependence &dependence : dependences)
      if (dependence.reader->op == op && dependence.read->source == argument)
        return dependence.writer->op->getResult(dependence.write->result);
    return {};
  };
  auto estimate = [&] { return GpuResources::estimate(stages, findSource); };
  llvm::SmallDenseSet<const StageWrite *> seen;
  for (const JoinDependence &dependence : dependences) {
    if (!seen.insert(dependence.write).second)
      continue;
    GpuStage &writer = find(dependence.writer);
    unsigned result = dependence.write->result;
    auto everyReader = [&](auto test) {
      return llvm::all_of(dependences, [&](const JoinDependence &other) {
        return other.write != dependence.write ||
               test(find(other.reader), *other.read);
      });
    };
    bool isInThread = everyReader([&](GpuStage &reader, const StageRead &read) {
      return staysInThread(writer, *dependence.write, reader, read);
    });
    if (isInThread) {
      setPlace(writer, result, ResultPlace::Registers);
      if (fits(estimate()))
        continue;
    }
    bool isInBlock = everyReader([&](GpuStage &reader, const StageRead &read) {
      return staysInBlock(writer, *dependence.write, reader, read);
    });
    bool isAlike = everyReader([&](GpuStage &, const StageRead &read) {
      return hasSameForm(*dependence.write, read);
    });
    if (!isInBlock && !isAlike)
      return false;
    setPlace(writer, result,
             isInBlock ? ResultPlace::Shared : ResultPlace::Cluster);
    if (estimate().sharedBytes <= chip.sharedBytesOfBlock)
      continue;
    if (!isInBlock || isSumOfCluster(writer, *dependence.write))
      return false;
    setPlace(writer, result, ResultPlace::Memory);
  }
  return true;
}

/// Not what is forced to be split: it is, and what comes of it may be joined.
bool ChipTarget::canJoin(const JoinGroup &joined,
                         ArrayRef<JoinDependence> dependences) const {
  if (llvm::any_of(joined.kernels, [](KernelOp kernel) {
        return isForced(kernel, kSplitReductions);
      }))
    return false;
  SmallVector<ScheduleAttr> schedules = schedule(joined, dependences);
  if (schedules.empty())
    return false;
  auto stages = getGpuStages(joined, schedules);
  return stages.front().schedule.getClusterSize() == 1 ||
         place(stages, dependences);
}

/// Instructions, about, of the tiles of all stages.
static int64_t countTileCode(const JoinGroup &group,
                             ArrayRef<ScheduleAttr> schedules) {
  int64_t code = 0;
  for (auto [stage, schedule] : llvm::zip_equal(group.stages, schedules)) {
    int64_t copies = 1;
    for (TileDim tile : schedule.getTile())
      copies *= tile.size;
    code = addCounts(code, multiplyCounts(stage->model.getCodeSize(), copies));
  }
  return code;
}

/// Returns whether the chip is not busy with these schedules, and would be with
/// those of a stage that alone has clusters.
static bool losesClusters(const JoinGroup &group,
                          ArrayRef<ScheduleAttr> schedules, const Chip &chip) {
  return !keepsBusy(group.stages.front()->model, schedules.front(), chip) &&
         llvm::any_of(group.stages, [&](const auto &stage) {
           ScheduleAttr alone = chooseGpuSchedule(stage->model, chip);
           return alone.getClusterSize() > 1;
         });
}

bool ChipTarget::isWorthIt(const JoinGroup &a, const JoinGroup &b,
                           const JoinGroup &joined,
                           ArrayRef<JoinDependence> dependences) const {
  JoinTraffic traffic(a, b);
  SmallVector<ScheduleAttr> schedules = schedule(joined, dependences);
  if (traffic.saved < traffic.smaller / kMinSavedPart ||
      joined.getTraffic().size() > kMaxTensors)
    return false;
  int64_t blocks = countBlocks(joined.stages.front()->model, schedules.front());
  bool isWindow = StageTraffic(joined.stages.front()->model).isWindow();
  if ((isWindow || hasContraction(joined)) &&
      countTileCode(joined, schedules) > kMostTileCode)
    return false;
  unsigned numContractions = 0;
  bool keepsBlocks = hasContraction(joined);
  for (const auto &stage : joined.stages) {
    if (!Contraction::match(stage->model))
      continue;
    // A joined stage is not split any more.
    if (++numContractions > kMaxContractions ||
        isSplitOnGpu(stage->model, chip))
      return false;
    keepsBlocks &= keepsAllLoops(*stage);
  }
  if (!keepsBlocks && blocks < chip.multiprocessors / 4 &&
      joined.work > kWorkOfFewBlocks)
    return false;
  if (joined.work > kWorkOfAllBlocks && losesClusters(joined, schedules, chip))
    return false;
  return fits(GpuResources::estimate(getGpuStages(joined, schedules)));
}

JoinPlan ChipTarget::plan(const JoinGroup &group,
                          ArrayRef<JoinDependence> dependences,
                          llvm::function_ref<bool(Value)> leaves) const {
  JoinPlan plan;
  auto stages = getGpuStages(group, schedule(group, dependences));
  // There is room, as has been asked.
  (void)place(stages, dependences);
  for (const GpuStage &each : stages) {
    FusedOp op = each.stage.op;
    plan.schedules.push_back(each.schedule);
    for (OpResult result : op->getResults())
      if (each.schedule.getPlaceOf(result.getResultNumber()) !=
              ResultPlace::Memory &&
          !leaves(result))
        plan.local.insert(result);
  }
  return plan;
}

namespace {
struct JoinStagesGpuPass
    : metaop::impl::JoinStagesGpuPassBase<JoinStagesGpuPass> {
  using JoinStagesGpuPassBase::JoinStagesGpuPassBase;

  void runOnOperation() override {
    ChipTarget target(*chip);
    if (failed(walkBlocks(getOperation().getBody(), [&](Block &block) {
          if (failed(keepLoopsApart(block)) ||
              failed(joinStages(block, target, report)))
            return failure();
          collapseLoopsOfSingleStages(block);
          return success();
        })))
      signalPassFailure();
  }
};
} // namespace
