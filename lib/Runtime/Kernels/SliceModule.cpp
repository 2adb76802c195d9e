//===- SliceModule.cpp - A slice in the compiler --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/SliceModule.h"
#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Runtime/Compiler/ReadSlice.h"
#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Support/Assertions.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "RoutineCalls.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <map>

using namespace mlir;

namespace metaops {

/// A stage whose schedule a user has given is told by the line of that, unless
/// the message tells it already.
static std::string describeOverride(const Diagnostic &diagnostic) {
  std::string place = metaop::getOverride(diagnostic.getLocation());
  if (place.empty() || llvm::StringRef(diagnostic.str()).starts_with(place))
    return "";
  return place + ": ";
}

/// The place in a file that a program was read from; a session's programs have
/// the numbers of its nodes instead.
static std::string describeLine(const Diagnostic &diagnostic) {
  auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (!file || getNode(file))
    return "";
  return (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) +
          ":" + llvm::Twine(file.getColumn()) + ": ")
      .str();
}

/// Operations of a slice whose types and attributes are as much to keep as a
/// kernel's code.
static constexpr unsigned kOpsOfKernel = 64;

SliceModule::SliceModule(ContextPool &contexts)
    : context(contexts), handler(context.get(), [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          messages += (messages.empty() ? "" : "\n") +
                      describeOverride(diagnostic) + describeLine(diagnostic) +
                      diagnostic.str();
        if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
          remarks.push_back(diagnostic.str());
        return success();
      }) {}

llvm::Expected<std::unique_ptr<SliceModule>>
SliceModule::parse(StringRef bytecode, ContextPool &contexts) {
  std::unique_ptr<SliceModule> slice(new SliceModule(contexts));
  auto module = readSlice(bytecode, *slice->context.get());
  if (!module)
    return module.takeError();
  slice->module = std::move(*module);
  unsigned ops = 0;
  slice->getModule().walk([&](Operation *) { ++ops; });
  slice->context.countKernels(1 + ops / kOpsOfKernel);
  return slice;
}

SliceModule::~SliceModule() { context.get()->registerActionHandler(nullptr); }

void SliceModule::stopWhen(StopCheck check) {
  if (!check)
    return;
  context.get()->registerActionHandler(
      [this, check](llvm::function_ref<void()> act,
                    const tracing::Action &action) {
        if (isa<PassExecutionAction>(action) && (isStopped || check()))
          isStopped = true;
        else
          act();
      });
}

llvm::Error SliceModule::fail(const llvm::Twine &what) {
  if (isStopped)
    return llvm::make_error<Interrupted>();
  return llvm::createStringError(messages.empty() ? what
                                                  : what + ": " + messages);
}

static void markVarying(ModuleOp module, llvm::ArrayRef<VaryingDim> varying) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || varying.empty())
    return;
  std::map<unsigned, llvm::SmallVector<int64_t>> dims;
  for (const VaryingDim &dim : varying)
    dims[dim.argument].push_back(dim.dimension);
  for (auto &[argument, list] : dims)
    if (argument < main.getNumArguments())
      main.setArgAttr(argument, metaop::kVaryingAttr,
                      DenseI64ArrayAttr::get(module.getContext(), list));
}

metaop::PipelineOptions toPipelineOptions(const CompileOptions &options,
                                          const KernelBackend &backend) {
  metaop::PipelineOptions pipeline;
  pipeline.rules = options.fuse ? options.rules : "none";
  pipeline.reuseMemory = options.reuseMemory;
  pipeline.target = &backend.getTarget(options);
  pipeline.routineScratch = [&backend](metaop::RoutineOpInterface op) {
    return countScratch(op, backend.getRoutines());
  };
  if (options.libraries)
    pipeline.workOfLibraries = [&backend](metaop::RoutineOpInterface op) {
      return findWork(op, backend.getRoutines());
    };
  return pipeline;
}

llvm::Error SliceModule::runTo(StringRef phase, const CompileOptions &options,
                               const KernelBackend &backend, bool report) {
  markVarying(*module, options.varying);
  PassManager pm(context.get());
  // Verifiers tell what is wrong in a user's schedule, too.
  bool verifies = kHasAssertions || !options.schedules.empty();
  pm.enableVerifier(verifies);
  metaop::PipelineOptions pipeline = toPipelineOptions(options, backend);
  pipeline.verifySchedules = verifies;
  // Without contents the pass would read the file.
  if (!options.schedules.empty()) {
    pipeline.schedules = options.schedules;
    pipeline.scheduleFile = options.scheduleFile;
  }
  pipeline.report = report;
  pipeline.from = metaop::findPipelineStart(*module);
  if (phase == metaop::kGraphPhase)
    pipeline.from = phase;
  if (auto error = metaop::buildPipeline(pm, phase, pipeline))
    return error;
  if (failed(pm.run(*module)) || isStopped)
    return fail("the slice could not be compiled");
  return llvm::Error::success();
}

void collectNodes(Location location, llvm::SetVector<unsigned> &nodes) {
  location->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner))
      if (std::optional<unsigned> node = getNode(file))
        nodes.insert(*node);
    return WalkResult::advance();
  });
}

} // namespace metaops
