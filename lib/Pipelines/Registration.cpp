//===- Registration.cpp - Passes and pipelines for tools ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Pipelines/Passes.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Transforms/Autodiff/Passes.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Outline/Passes.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/File/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct ToolOptions : PassPipelineOptions<ToolOptions> {
  Option<std::string> from{
      *this, "from",
      llvm::cl::desc("The phase that the module is in: graph, fused, scheduled "
                     "or kernels, and for cuda also gpu or nvvm"),
      llvm::cl::init("graph")};
  Option<std::string> to{
      *this, "to",
      llvm::cl::desc(
          "The last phase: graph, fused, scheduled, kernels, and for "
          "cpu loops or llvm, for cuda gpu, nvvm or ptx; the last "
          "that there is by default"),
      llvm::cl::init("")};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("The device: cpu or cuda"),
                             llvm::cl::init("cpu")};
  Option<const Chip *> chip{*this, "chip",
                            llvm::cl::desc("The GPU that code is made for"),
                            llvm::cl::init(Chip::getDefault())};
  Option<std::string> libdevice{
      *this, "libdevice",
      llvm::cl::desc("The file of libdevice, which f64 needs on GPUs"),
      llvm::cl::init("")};
  Option<bool> floatAtomics{
      *this, "float-atomics",
      llvm::cl::desc("Whether GPUs may add scattered floats in any order"),
      llvm::cl::init(false)};
  Option<std::string> rules{
      *this, "rules", llvm::cl::desc("Fusion rules: extended, paper or none"),
      llvm::cl::init("extended")};
  Option<Processor> processor{
      *this, "processor",
      llvm::cl::desc("The target's registers and caches; see metaop-schedule")};
  Option<std::string> scheduleFile{
      *this, "schedule-file",
      llvm::cl::desc("Schedules that replace those of the heuristics"),
      llvm::cl::init("")};
  Option<bool> reuse{*this, "reuse",
                     llvm::cl::desc("Whether values share memory"),
                     llvm::cl::init(true)};
  Option<bool> report{*this, "report",
                      llvm::cl::desc("Report the cost of the partition and of "
                                     "the memory plan"),
                      llvm::cl::init(false)};
};
} // namespace

static LogicalResult
parsePipeline(OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)> onError) {
  ToolOptions tool;
  if (failed(tool.parseFromString(text)))
    return onError("metaop-pipeline: options could not be parsed: '" + text +
                   "'");
  std::optional<PipelineTarget> target = parsePipelineTarget(tool.target);
  if (!target)
    return onError("metaop-pipeline: there is no target '" + tool.target +
                   "'; expected cpu or cuda");
  ArrayRef<PipelinePhase> phases = getPipelinePhases(*target);
  std::optional<PipelinePhase> from = parsePipelinePhase(tool.from);
  std::optional<PipelinePhase> to =
      tool.to.empty() ? phases.back() : parsePipelinePhase(tool.to);
  if (!from || !to)
    return onError("metaop-pipeline: there is no phase '" +
                   (from ? tool.to : tool.from) + "'; expected one of " +
                   getPipelinePhaseNames(*target));
  PipelineOptions options;
  options.target = *target;
  options.chip = tool.chip;
  options.libdevice = tool.libdevice;
  options.floatAtomics = tool.floatAtomics;
  options.from = *from;
  options.rules = tool.rules;
  options.processor = tool.processor;
  options.reuseMemory = tool.reuse;
  options.scheduleFile = tool.scheduleFile;
  options.report = tool.report;
  if (llvm::Error error = buildPipeline(pm, *to, options))
    return onError("metaop-pipeline: " + toString(std::move(error)));
  return success();
}

void metaop::registerMetaOpsPasses() {
  registerMetaOpsSimplifyPasses();
  registerMetaOpsAutodiffPasses();
  registerMetaOpsFusionPasses();
  registerMetaOpsScheduleFilePasses();
  registerMetaOpsScheduleRewritesPasses();
  registerMetaOpsScheduleCPUPasses();
  registerMetaOpsScheduleGPUPasses();
  registerMetaOpsPipelinesPasses();
  registerMetaOpsOutlinePasses();
  registerMetaOpsMemoryPlanPasses();
  registerMetaOpsConversionPasses();
  registerPassPipeline(
      "metaop-pipeline",
      "The phases of compilation behind the one named by `from`, up to and "
      "including the one named by `to`",
      parsePipeline,
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(ToolOptions());
      });
}
