//===- Pipelines.cpp - Phases of compilation ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Outline/Passes.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

std::optional<PipelinePhase> metaop::parsePipelinePhase(StringRef name) {
  return llvm::StringSwitch<std::optional<PipelinePhase>>(name)
      .Case("graph", PipelinePhase::Graph)
      .Case("fused", PipelinePhase::Fused)
      .Case("scheduled", PipelinePhase::Scheduled)
      .Case("kernels", PipelinePhase::Kernels)
      .Case("loops", PipelinePhase::Loops)
      .Case("llvm", PipelinePhase::LLVM)
      .Default(std::nullopt);
}

StringRef metaop::getPipelinePhaseNames() {
  return "graph, fused, scheduled, kernels, loops, llvm";
}

PipelinePhase metaop::findPipelineStart(ModuleOp module) {
  auto isFused = [](func::FuncOp function) {
    return !collectOps<KernelOp>(function.getBody()).empty();
  };
  return llvm::any_of(module.getOps<func::FuncOp>(), isFused)
             ? PipelinePhase::Fused
             : PipelinePhase::Graph;
}

static void addCheck(OpPassManager &pm, Phase phase) {
  VerifyPhasePassOptions options;
  options.phase = phase;
  pm.addPass(createVerifyPhasePass(options));
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
}

/// The legality check of a phase; the later ones are MLIR's own affair.
static std::optional<Phase> getCheck(PipelinePhase phase) {
  switch (phase) {
  case PipelinePhase::Graph:
    return Phase::Graph;
  case PipelinePhase::Fused:
    return Phase::Fused;
  case PipelinePhase::Scheduled:
    return Phase::Scheduled;
  case PipelinePhase::Kernels:
    return Phase::Kernels;
  case PipelinePhase::Loops:
  case PipelinePhase::LLVM:
    return std::nullopt;
  }
  llvm_unreachable("all phases are handled");
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
  PlanMemoryPassOptions memory;
  switch (phase) {
  case PipelinePhase::Graph:
    break;
  case PipelinePhase::Fused:
    addFusion(pm, rules, options);
    break;
  case PipelinePhase::Scheduled:
    if (options.from == PipelinePhase::Fused)
      addSteering(pm, options);
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
    pm.addPass(createPlanMemoryPass(memory));
    break;
  case PipelinePhase::Loops:
    pm.addPass(createConvertMetaOpToVectorPass());
    break;
  case PipelinePhase::LLVM:
    pm.addPass(createFormFmaPass());
    buildVectorToLLVMPipeline(pm);
    break;
  }
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
  if (options.from > PipelinePhase::Kernels)
    return llvm::createStringError(
        "a pipeline starts from graph, fused, scheduled or kernels");
  if (options.from > to)
    return llvm::createStringError(
        "a pipeline starts from its last phase or an earlier one");
  for (auto phase = options.from; phase <= to;
       phase = static_cast<PipelinePhase>(static_cast<int>(phase) + 1)) {
    if (phase != options.from)
      addPhase(pm, phase, rules, options);
    if (auto check = getCheck(phase))
      addCheck(pm, *check);
  }
  return llvm::Error::success();
}

void metaop::registerSliceDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, MetaOpDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
}
