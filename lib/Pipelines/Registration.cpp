//===- Registration.cpp - Passes and pipelines for tools ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExplainPass.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Transforms/Autodiff/Passes.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Outline/Passes.h"
#include "MetaOps/Transforms/Schedule/File/Passes.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "VerifySchedulesPass.h"
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
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The target, with its options: cpu, {cpu processor=avx2}, "
                     "cuda, {cuda chip=sm_80}"),
      llvm::cl::init("cpu")};
  // Options of targets that may also stand by themselves.
  Option<std::string> processor{
      *this, "processor",
      llvm::cl::desc("The same as in target={cpu processor=...}")};
  Option<std::string> chip{
      *this, "chip", llvm::cl::desc("The same as in target={cuda chip=...}")};
  Option<std::string> libdevice{
      *this, "libdevice",
      llvm::cl::desc("The same as in target={cuda libdevice=...}")};
  Option<std::string> floatAtomics{
      *this, "float-atomics",
      llvm::cl::desc("The same as in target={cuda float-atomics=...}")};
  Option<std::string> rules{
      *this, "rules", llvm::cl::desc("Fusion rules: extended, paper or none"),
      llvm::cl::init("extended")};
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

/// Returns the target's name and options, with those that stand by themselves.
static std::string getTargetText(const ToolOptions &tool) {
  std::string text = tool.target;
  for (const auto *option :
       {&tool.processor, &tool.chip, &tool.libdevice, &tool.floatAtomics})
    addTargetOption(text, option->getArgStr(), option->getValue());
  return text;
}

using Targets = std::vector<std::shared_ptr<const Target>>;

/// Appends the pipeline of a text, whose target joins those that are kept.
static LogicalResult
parsePipeline(const TargetRegistry &targets, Targets &kept, OpPassManager &pm,
              StringRef text,
              function_ref<LogicalResult(const Twine &)> onError) {
  ToolOptions tool;
  if (failed(tool.parseFromString(text)))
    return onError("metaop-pipeline: options could not be parsed: '" + text +
                   "'");
  auto target = targets.create(getTargetText(tool));
  if (!target)
    return onError("metaop-pipeline: " + toString(target.takeError()));
  PipelineOptions options;
  kept.push_back(*target);
  options.target = target->get();
  options.from = tool.from.getValue();
  options.rules = tool.rules;
  options.reuseMemory = tool.reuse;
  options.scheduleFile = tool.scheduleFile;
  options.report = tool.report;
  StringRef to = tool.to.getValue();
  if (to.empty())
    to = (*target)->getPhases().back();
  if (llvm::Error error = buildPipeline(pm, to, options))
    return onError("metaop-pipeline: " + toString(std::move(error)));
  return success();
}

void metaop::registerMetaOpsPasses(
    std::shared_ptr<const TargetRegistry> targets) {
  registerMetaOpsSimplifyPasses();
  registerMetaOpsAutodiffPasses();
  registerMetaOpsFusionPasses();
  registerMetaOpsScheduleFilePasses();
  registerMetaOpsScheduleRewritesPasses();
  registerMetaOpsOutlinePasses();
  registerMetaOpsMemoryPlanPasses();
  registerMetaOpsConversionPasses();
  for (const TargetKind &kind : targets->getKinds())
    if (kind.registerPasses)
      kind.registerPasses();
  registerPass([targets] { return createExplainPass(targets); });
  registerPass([targets] { return createVerifySchedulesPass(targets); });
  // Passes ask their target until they are gone.
  auto kept = std::make_shared<Targets>();
  registerPassPipeline(
      "metaop-pipeline",
      "The phases of compilation behind the one named by `from`, up to and "
      "including the one named by `to`",
      [targets, kept](OpPassManager &pm, StringRef text,
                      function_ref<LogicalResult(const Twine &)> onError) {
        return parsePipeline(*targets, *kept, pm, text, onError);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(ToolOptions());
      });
}
