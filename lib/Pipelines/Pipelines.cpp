//===- Pipelines.cpp - Phases of compilation ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Outline/Passes.h"
#include "MetaOps/Transforms/Schedule/File/Passes.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "VerifySchedulesPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

using namespace mlir;
using namespace mlir::metaop;

SmallVector<StringRef> metaop::getPipelinePhases(const Target &target) {
  SmallVector<StringRef> phases = {kGraphPhase, kFusedPhase, kScheduledPhase,
                                   kKernelsPhase};
  llvm::append_range(phases, target.getPhases());
  return phases;
}

StringRef metaop::findPipelineStart(ModuleOp module) {
  auto isFused = [](func::FuncOp function) {
    return !collectOps<KernelOp>(function.getBody()).empty();
  };
  return llvm::any_of(module.getOps<func::FuncOp>(), isFused) ? kFusedPhase
                                                              : kGraphPhase;
}

/// Kernels have names, and users' decisions, only where somebody asks for that:
/// it takes the text of each.
static void addSteering(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.report && options.scheduleFile.empty() &&
      options.schedules.empty())
    return;
  ForceRewritesPassOptions rewrites;
  rewrites.file = options.scheduleFile;
  rewrites.text = options.schedules;
  pm.addPass(createForceRewritesPass(rewrites));
}

static void addFusion(OpPassManager &pm, FusionRules rules,
                      const PipelineOptions &options) {
  OpPassManager &main = pm.nest<func::FuncOp>();
  main.addPass(createForToWhilePass());
  main.addPass(createSplitPrefixesPass());
  main.addPass(createWidenAddendsPass());
  main.addPass(createExpandChecksPass());
  main.addPass(createUnrollScansPass());
  main.addPass(createSimplifyPass());
  main.addPass(createHoistInvariantsPass());
  main.addPass(createBatchTripsPass());
  main.addPass(createPermuteReductionsPass());
  main.addPass(createWidenReductionsPass());
  if (rules == FusionRules::Extended) {
    main.addPass(createExpandPlacementsPass());
    main.addPass(createPushIntoPartsPass());
    main.addPass(createReadBeforeInsertsPass());
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

/// Appends the legality check of a phase.
static void addCheck(OpPassManager &pm, StringRef phase,
                     const PipelineOptions &options) {
  auto common = llvm::StringSwitch<std::optional<Phase>>(phase)
                    .Case(kGraphPhase, Phase::Graph)
                    .Case(kFusedPhase, Phase::Fused)
                    .Case(kScheduledPhase, Phase::Scheduled)
                    .Case(kKernelsPhase, Phase::Kernels)
                    .Default(std::nullopt);
  if (!common)
    return options.target->addCheck(pm, phase);
  VerifyPhasePassOptions verify;
  verify.phase = *common;
  pm.addPass(createVerifyPhasePass(verify));
  if (*common == Phase::Scheduled && options.verifySchedules)
    pm.addPass(createVerifySchedulesPass(*options.target));
}

static void addSchedules(OpPassManager &pm, FusionRules rules,
                         const PipelineOptions &options) {
  if (options.from == kFusedPhase)
    addSteering(pm, options);
  ScheduleRequest request;
  request.joins = rules == FusionRules::Extended;
  request.file = options.scheduleFile;
  request.text = options.schedules;
  request.workOfLibraries = options.workOfLibraries;
  request.report = options.report;
  options.target->addSchedules(pm, request);
}

/// Kernels as functions, and the memory of a program.
static void addKernels(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(createOutlinePass());
  pm.addPass(func::createDuplicateFunctionEliminationPass());
  pm.addPass(createHoistCallsPass());
  pm.addNestedPass<func::FuncOp>(createHoistChecksPass());
  pm.addPass(createMarkCacheablePass());
  OrderStepsPassOptions order;
  order.partAlignment = options.target->getPartAlignment();
  if (options.reuseMemory)
    pm.addPass(createOrderStepsPass(order));
  pm.addNestedPass<func::FuncOp>(createDropBarriersPass());
  PlanMemoryPassOptions memory;
  memory.partAlignment = options.target->getPartAlignment();
  memory.reuse = options.reuseMemory;
  memory.report = options.report;
  pm.addPass(createPlanMemoryPass(memory, options.routineScratch));
  options.target->addPlannedSchedules(pm);
}

/// Appends the passes that lead to a phase from the one before.
static void addPhase(OpPassManager &pm, StringRef phase, FusionRules rules,
                     const PipelineOptions &options) {
  if (phase == kFusedPhase)
    addFusion(pm, rules, options);
  else if (phase == kScheduledPhase)
    addSchedules(pm, rules, options);
  else if (phase == kKernelsPhase)
    addKernels(pm, options);
  else
    options.target->addPhase(pm, phase);
}

/// Returns the phases from one to another, both included.
static llvm::Expected<SmallVector<StringRef>>
getPhasesBetween(const Target &target, StringRef from, StringRef to) {
  SmallVector<StringRef> phases = getPipelinePhases(target);
  for (StringRef phase : {from, to})
    if (!llvm::is_contained(phases, phase))
      return llvm::createStringError(
          "there is no phase '" + phase +
          "' on the way to the target; expected one of " +
          llvm::join(phases, ", "));
  // Behind `kernels` a module is made of kernels alone, without the program
  // that calls them.
  auto mayStart = [&](StringRef phase) {
    return !llvm::is_contained(target.getPhases(), phase) ||
           target.mayStartFrom(phase);
  };
  if (!mayStart(from))
    return llvm::createStringError(
        "a pipeline starts from " +
        llvm::join(llvm::make_filter_range(phases, mayStart), ", "));
  auto *begin = llvm::find(phases, from), *last = llvm::find(phases, to);
  if (begin > last)
    return llvm::createStringError(
        "a pipeline starts from its last phase or an earlier one");
  return SmallVector<StringRef>(begin, last + 1);
}

llvm::Error metaop::buildPipeline(OpPassManager &pm, StringRef to,
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
  if (!options.target)
    return llvm::createStringError("a pipeline has no target");
  auto phases = getPhasesBetween(*options.target, options.from, to);
  if (!phases)
    return phases.takeError();
  for (StringRef phase : *phases) {
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
