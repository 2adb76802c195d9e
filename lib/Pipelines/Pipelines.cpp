//===- Pipelines.cpp - Phases of compilation ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Outline/Passes.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/File/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

StringRef metaop::getPipelinePhaseName(PipelinePhase phase) {
  switch (phase) {
  case PipelinePhase::Graph:
    return "graph";
  case PipelinePhase::Fused:
    return "fused";
  case PipelinePhase::Scheduled:
    return "scheduled";
  case PipelinePhase::Kernels:
    return "kernels";
  case PipelinePhase::Loops:
    return "loops";
  case PipelinePhase::LLVM:
    return "llvm";
  case PipelinePhase::Gpu:
    return "gpu";
  case PipelinePhase::NVVM:
    return "nvvm";
  case PipelinePhase::PTX:
    return "ptx";
  }
  llvm_unreachable("all phases are handled");
}

ArrayRef<PipelinePhase> metaop::getPipelinePhases(PipelineTarget target) {
  using P = PipelinePhase;
  static constexpr P cpu[] = {P::Graph,   P::Fused, P::Scheduled,
                              P::Kernels, P::Loops, P::LLVM};
  static constexpr P cuda[] = {P::Graph, P::Fused, P::Scheduled, P::Kernels,
                               P::Gpu,   P::NVVM,  P::PTX};
  return target == PipelineTarget::CPU ? ArrayRef(cpu) : ArrayRef(cuda);
}

std::string metaop::getPipelinePhaseNames(PipelineTarget target) {
  return llvm::join(
      llvm::map_range(getPipelinePhases(target), getPipelinePhaseName), ", ");
}

std::optional<PipelinePhase> metaop::parsePipelinePhase(StringRef name) {
  for (PipelineTarget target : {PipelineTarget::CPU, PipelineTarget::CUDA})
    for (PipelinePhase phase : getPipelinePhases(target))
      if (name == getPipelinePhaseName(phase))
        return phase;
  return std::nullopt;
}

std::optional<PipelineTarget> metaop::parsePipelineTarget(StringRef name) {
  return llvm::StringSwitch<std::optional<PipelineTarget>>(name)
      .Case("cpu", PipelineTarget::CPU)
      .Case("cuda", PipelineTarget::CUDA)
      .Default(std::nullopt);
}

PipelinePhase metaop::findPipelineStart(ModuleOp module) {
  auto isFused = [](func::FuncOp function) {
    return !collectOps<KernelOp>(function.getBody()).empty();
  };
  return llvm::any_of(module.getOps<func::FuncOp>(), isFused)
             ? PipelinePhase::Fused
             : PipelinePhase::Graph;
}

/// Kernels have names, and users' decisions, only where somebody asks for that:
/// it takes the text of each.
static void addSteering(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.report && options.scheduleFile.empty() &&
      options.schedules.empty())
    return;
  SteerPassOptions steer;
  steer.file = options.scheduleFile;
  steer.text = options.schedules;
  pm.addPass(createSteerPass(steer));
}

static void addFusion(OpPassManager &pm, FusionRules rules,
                      const PipelineOptions &options) {
  OpPassManager &main = pm.nest<func::FuncOp>();
  main.addPass(createForToWhilePass());
  main.addPass(createSplitPrefixesPass());
  main.addPass(createWidenAddendsPass());
  main.addPass(createExpandChecksPass());
  main.addPass(createSimplifyPass());
  main.addPass(createPermuteReductionsPass());
  main.addPass(createWidenReductionsPass());
  if (rules == FusionRules::Extended) {
    main.addPass(createExpandPlacementsPass());
    main.addPass(createPushIntoPartsPass());
  }
  CloneProducersPassOptions clone;
  clone.rules = rules;
  main.addPass(createCloneProducersPass(clone));
  FusePassOptions fuse;
  fuse.rules = rules;
  fuse.report = options.report;
  main.addPass(createFusePass(fuse));
  addSteering(pm, options);
  if (rules == FusionRules::Extended)
    pm.addNestedPass<func::FuncOp>(createRecomputeValuesPass());
  if (rules == FusionRules::Extended && options.reuseMemory)
    pm.addNestedPass<func::FuncOp>(createRecomputeFarValuesPass());
}

/// Appends the legality check of a phase; the later ones are MLIR's own affair.
static void addCheck(OpPassManager &pm, PipelinePhase phase,
                     const PipelineOptions &options) {
  auto add = [&](Phase checked) {
    VerifyPhasePassOptions verify;
    verify.phase = checked;
    pm.addPass(createVerifyPhasePass(verify));
  };
  switch (phase) {
  case PipelinePhase::Graph:
    return add(Phase::Graph);
  case PipelinePhase::Fused:
    return add(Phase::Fused);
  case PipelinePhase::Scheduled:
    return add(Phase::Scheduled);
  case PipelinePhase::Kernels:
    return add(Phase::Kernels);
  case PipelinePhase::Gpu: {
    VerifyGpuKernelsPassOptions verify;
    verify.chip = options.chip;
    return pm.addPass(createVerifyGpuKernelsPass(verify));
  }
  case PipelinePhase::Loops:
  case PipelinePhase::LLVM:
  case PipelinePhase::NVVM:
  case PipelinePhase::PTX:
    return;
  }
  llvm_unreachable("all phases are handled");
}

/// Schedules for a GPU. What is packed, copied or computed in blocks for the
/// caches of a CPU is not.
static void addGpuSchedules(OpPassManager &pm, FusionRules rules,
                            const PipelineOptions &options) {
  PartReductionsPassOptions part;
  part.report = options.report;
  pm.addNestedPass<func::FuncOp>(createPartReductionsPass(part));
  GatherScattersPassOptions gather;
  gather.report = options.report;
  pm.addNestedPass<func::FuncOp>(createGatherScattersPass(gather));
  PitchPartsPassOptions pitch;
  pitch.partAlignment = kBufferAlignment;
  pm.addNestedPass<func::FuncOp>(createPitchPartsPass(pitch));
  pm.addNestedPass<func::FuncOp>(createMarkGrowingPass());
  JoinStagesGpuPassOptions join;
  join.chip = options.chip;
  join.report = options.report;
  if (rules == FusionRules::Extended)
    pm.addNestedPass<func::FuncOp>(createJoinStagesGpuPass(join));
  // What has found others for its rows is not split.
  SplitReductionsGpuPassOptions split;
  split.chip = options.chip;
  split.report = options.report;
  pm.addPass(createSplitReductionsGpuPass(split));
  // The last sum of what is split is joined with what follows it.
  if (rules == FusionRules::Extended)
    pm.addNestedPass<func::FuncOp>(createJoinStagesGpuPass(join));
  ScheduleGpuPassOptions schedule;
  schedule.chip = options.chip;
  schedule.floatAtomics = options.floatAtomics;
  schedule.file = options.scheduleFile;
  schedule.text = options.schedules;
  pm.addPass(createScheduleGpuPass(schedule));
}

/// Appends the passes that lead to a phase from the one before.
static void addPhase(OpPassManager &pm, PipelinePhase phase, FusionRules rules,
                     const PipelineOptions &options) {
  SchedulePassOptions schedule;
  SeparateReductionsPassOptions separate;
  SplitReductionsPassOptions split;
  GatherScattersPassOptions gather;
  PackOperandsPassOptions pack;
  AttachPanelsPassOptions attach;
  CopyRowsPassOptions copy;
  AttachEpiloguesPassOptions epilogues;
  JoinStagesPassOptions join;
  OrderStepsPassOptions order;
  PlanMemoryPassOptions memory;
  ConvertMetaOpToGPUPassOptions lowering;
  EmitPtxPassOptions ptx;
  switch (phase) {
  case PipelinePhase::Graph:
    break;
  case PipelinePhase::Fused:
    addFusion(pm, rules, options);
    break;
  case PipelinePhase::Scheduled:
    if (options.from == PipelinePhase::Fused)
      addSteering(pm, options);
    if (options.target == PipelineTarget::CUDA)
      return addGpuSchedules(pm, rules, options);
    separate.processor = options.processor;
    separate.report = options.report;
    if (rules == FusionRules::Extended)
      pm.addNestedPass<func::FuncOp>(createSeparateReductionsPass(separate));
    split.processor = options.processor;
    split.report = options.report;
    pm.addPass(createSplitReductionsPass(split));
    gather.report = options.report;
    pm.addNestedPass<func::FuncOp>(createGatherScattersPass(gather));
    pm.addNestedPass<func::FuncOp>(createPitchPartsPass());
    pm.addNestedPass<func::FuncOp>(createMarkGrowingPass());
    pack.processor = options.processor;
    pack.report = options.report;
    attach.processor = options.processor;
    attach.report = options.report;
    copy.processor = options.processor;
    copy.report = options.report;
    epilogues.processor = options.processor;
    epilogues.report = options.report;
    if (rules == FusionRules::Extended) {
      pm.addNestedPass<func::FuncOp>(createPackOperandsPass(pack));
      pm.addNestedPass<func::FuncOp>(createAttachPanelsPass(attach));
      pm.addNestedPass<func::FuncOp>(createCopyRowsPass(copy));
      pm.addNestedPass<func::FuncOp>(createAttachEpiloguesPass(epilogues));
    }
    join.processor = options.processor;
    join.report = options.report;
    if (rules == FusionRules::Extended)
      pm.addNestedPass<func::FuncOp>(createJoinStagesPass(join));
    schedule.processor = options.processor;
    schedule.file = options.scheduleFile;
    schedule.text = options.schedules;
    pm.addPass(createSchedulePass(schedule));
    break;
  case PipelinePhase::Kernels:
    pm.addPass(createOutlinePass());
    pm.addPass(func::createDuplicateFunctionEliminationPass());
    pm.addNestedPass<func::FuncOp>(createHoistChecksPass());
    pm.addPass(createMarkKeptPass());
    memory.reuse = options.reuseMemory;
    memory.report = options.report;
    if (options.target == PipelineTarget::CUDA)
      order.partAlignment = memory.partAlignment = kBufferAlignment;
    if (options.reuseMemory)
      pm.addPass(createOrderStepsPass(order));
    pm.addPass(createPlanMemoryPass(memory));
    break;
  case PipelinePhase::Loops:
    pm.addPass(createConvertMetaOpToVectorPass());
    break;
  case PipelinePhase::LLVM:
    pm.addPass(createFormFmaPass());
    buildVectorToLLVMPipeline(pm);
    break;
  case PipelinePhase::Gpu:
    lowering.chip = options.chip;
    pm.addPass(createConvertMetaOpToGPUPass(lowering));
    break;
  case PipelinePhase::NVVM:
    pm.addPass(createFormFmaPass());
    buildGPUToNVVMPipeline(pm);
    break;
  case PipelinePhase::PTX:
    ptx.chip = options.chip;
    ptx.libdevice = options.libdevice;
    pm.addPass(createEmitPtxPass(ptx));
    break;
  }
}

/// Whether a pipeline may start from a phase. Those that are refused are made
/// of kernels alone, without the program that calls them; those for GPUs are
/// written by hand, too.
static bool isStart(PipelinePhase phase) {
  return phase != PipelinePhase::Loops && phase != PipelinePhase::LLVM &&
         phase != PipelinePhase::PTX;
}

/// The phases from one to another, both included.
static llvm::Expected<ArrayRef<PipelinePhase>>
getPhasesBetween(PipelineTarget target, PipelinePhase from, PipelinePhase to) {
  ArrayRef<PipelinePhase> phases = getPipelinePhases(target);
  for (PipelinePhase phase : {from, to})
    if (!llvm::is_contained(phases, phase))
      return llvm::createStringError(
          "there is no phase '" + getPipelinePhaseName(phase) +
          "' on the way to the target; expected one of " +
          getPipelinePhaseNames(target));
  if (!isStart(from)) {
    auto starts = llvm::make_filter_range(phases, isStart);
    return llvm::createStringError(
        "a pipeline starts from " +
        llvm::join(llvm::map_range(starts, getPipelinePhaseName), ", "));
  }
  const auto *begin = llvm::find(phases, from), *last = llvm::find(phases, to);
  if (begin > last)
    return llvm::createStringError(
        "a pipeline starts from its last phase or an earlier one");
  return ArrayRef(begin, last + 1);
}

llvm::Error metaop::buildPipeline(OpPassManager &pm, PipelinePhase to,
                                  const PipelineOptions &options) {
  FusionRules rules;
  if (options.rules == "paper")
    rules = FusionRules::Paper;
  else if (options.rules == "extended")
    rules = FusionRules::Extended;
  else if (options.rules == "none")
    rules = FusionRules::None;
  else
    return llvm::createStringError("there are no fusion rules '" +
                                   options.rules +
                                   "'; expected extended, paper or none");
  auto phases = getPhasesBetween(options.target, options.from, to);
  if (!phases)
    return phases.takeError();
  for (PipelinePhase phase : *phases) {
    if (phase != options.from)
      addPhase(pm, phase, rules, options);
    addCheck(pm, phase, options);
  }
  return llvm::Error::success();
}

void metaop::registerSliceDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, MetaOpDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
}
