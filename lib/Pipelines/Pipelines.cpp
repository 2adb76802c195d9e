//===- Pipelines.cpp - Phases of compilation ---------------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Outline/Passes.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
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

static void addCheck(OpPassManager &pm, Phase phase) {
  VerifyPhasePassOptions options;
  options.phase = phase;
  pm.addPass(createVerifyPhasePass(options));
}

static void addFusion(OpPassManager &pm, FusionRules rules, bool report) {
  OpPassManager &main = pm.nest<func::FuncOp>();
  main.addPass(createSimplifyPass());
  CloneProducersPassOptions clone;
  clone.rules = rules;
  main.addPass(createCloneProducersPass(clone));
  FusePassOptions fuse;
  fuse.rules = rules;
  fuse.report = report;
  main.addPass(createFusePass(fuse));
  addCheck(pm, Phase::Fused);
}

LogicalResult metaop::buildPipeline(OpPassManager &pm, PipelinePhase to,
                                    const PipelineOptions &options) {
  FusionRules rules;
  if (options.rules == "paper")
    rules = FusionRules::Paper;
  else if (options.rules == "extended")
    rules = FusionRules::Extended;
  else
    return failure();
  addCheck(pm, Phase::Graph);
  if (to == PipelinePhase::Graph)
    return success();
  addFusion(pm, rules, options.report);
  if (to == PipelinePhase::Fused)
    return success();
  SchedulePassOptions schedule;
  schedule.vectorBits = options.vectorBits;
  pm.addPass(createSchedulePass(schedule));
  addCheck(pm, Phase::Scheduled);
  if (to == PipelinePhase::Scheduled)
    return success();
  pm.addPass(createOutlinePass());
  pm.addPass(func::createDuplicateFunctionEliminationPass());
  pm.addPass(createPlanMemoryPass());
  addCheck(pm, Phase::Kernels);
  if (to == PipelinePhase::Kernels)
    return success();
  pm.addPass(createConvertMetaOpToVectorPass());
  if (to == PipelinePhase::Loops)
    return success();
  buildVectorToLLVMPipeline(pm);
  return success();
}

void metaop::registerSliceDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, MetaOpDialect,
                  tensor::TensorDialect>();
}
