//===- DescribeCalls.cpp - What programs do, for reports ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescribeCalls.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Kernels/SliceModule.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace metaops {

/// Returns the kernel that a function holds.
static metaop::KernelOp getKernel(func::FuncOp function) {
  return cast<metaop::KernelOp>(function.getBody().front().front());
}

llvm::Expected<metaop::KernelDescription>
describeKernel(func::FuncOp function, const KernelBackend &backend) {
  auto description = backend.getTarget().describe(getKernel(function));
  if (failed(description))
    return llvm::createStringError("a kernel could not be described");
  description->name = function.getName().str();
  return std::move(*description);
}

static int64_t getTotalBytes(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes = metaop::addCounts(bytes, metaop::countBytes(type));
  return bytes;
}

/// Describes the computation of a kernel call.
static llvm::Expected<KernelInfo> describeCall(func::CallOp call,
                                               SymbolTable &symbols,
                                               const KernelBackend &backend) {
  KernelInfo info;
  info.name = call.getCallee().str();
  info.bytesRead = getTotalBytes(call.getOperandTypes());
  info.bytesWritten = getTotalBytes(call.getResultTypes());
  metaop::KernelOp kernel =
      getKernel(symbols.lookup<func::FuncOp>(call.getCallee()));
  auto measures = backend.getTarget().measure(kernel);
  if (failed(measures))
    return llvm::createStringError("a kernel could not be measured");
  info.flops = measures->work.flops;
  info.instructions.assign(measures->work.instructions.begin(),
                           measures->work.instructions.end());
  if (measures->grid && !measures->grid->predictions.empty())
    info.cardWork = static_cast<int64_t>(
        std::min(measures->grid->predictions.front().seconds * 1e12, 1e18));
  for (auto stage : kernel.getBody().front().getOps<metaop::FusedOp>())
    if (unsigned line = metaop::getOverrideLine(stage.getLoc()))
      info.scheduleLines.push_back(line);
  return info;
}

/// Returns the name of a step that is neither a kernel nor a routine.
static StringRef nameOf(const Step &step) {
  if (std::holds_alternative<If>(step.action))
    return "if";
  if (std::holds_alternative<While>(step.action))
    return "while";
  if (std::holds_alternative<For>(step.action))
    return "for";
  if (std::holds_alternative<Check>(step.action))
    return "check";
  return std::holds_alternative<View>(step.action) ? "view" : "copy";
}

/// Returns the name of a routine, or of code of a user's; behind it, unless
/// that is the host, who computes it.
static std::string nameOf(metaop::RoutineOpInterface op, const Step &step) {
  if (auto code = dyn_cast<metaop::ExternOp>(*op))
    return code.getFunction().split('.').first.str();
  const auto *call = std::get_if<RoutineCall>(&step.action);
  std::string name = op.getRoutineName().str();
  return call && call->library != "host"
             ? name + " (" + call->library + " " + call->version + ")"
             : name;
}

llvm::Expected<std::vector<KernelInfo>>
describeCalls(const BuiltProgram &built, ModuleOp module,
              const KernelBackend &backend,
              const llvm::DenseMap<unsigned, StringRef> &operators) {
  std::vector<KernelInfo> calls;
  SymbolTable symbols(module);
  // Thousands of calls may be of one kernel.
  llvm::StringMap<KernelInfo> byKernel;
  std::vector<const Step *> steps;
  walkSteps(built.program->getData().steps,
            [&](const Step &step) { steps.push_back(&step); });
  for (auto [step, op] : llvm::zip_equal(steps, built.ops)) {
    KernelInfo info;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto [known, isNew] = byKernel.try_emplace(call.getCallee());
      if (isNew) {
        auto described = describeCall(call, symbols, backend);
        if (!described)
          return described.takeError();
        known->second = std::move(*described);
      }
      info = known->second;
      info.mayKeep =
          call->hasAttr(metaop::MetaOpDialect::MayKeepAttrHelper::getNameStr());
    } else if (auto routine = dyn_cast<metaop::RoutineOpInterface>(op)) {
      info.name = nameOf(routine, *step);
      info.isKernel = false;
      info.routineWork = step->getWork();
      if (const auto *called = std::get_if<RoutineCall>(&step->action)) {
        info.routineWork = called->getEstimate().work;
        info.flops = called->getEstimate().flops;
      }
      for (Type type : op->getOperandTypes())
        info.bytesRead += metaop::countBytes(type);
      for (Value result : metaop::getMadeValues(op))
        info.bytesWritten += metaop::countBytes(result.getType());
    } else {
      info.name = nameOf(*step);
      info.isKernel = false;
      info.bytesRead = info.bytesWritten = step->getCopiedBytes();
    }
    llvm::SetVector<unsigned> nodes;
    collectNodes(op->getLoc(), nodes);
    info.nodes.assign(nodes.begin(), nodes.end());
    llvm::sort(info.nodes);
    for (unsigned node : info.nodes)
      if (auto it = operators.find(node); it != operators.end())
        info.operators.push_back(it->second.str());
    for (const metaop::KernelOrigin &origin : metaop::getOrigins(op->getLoc()))
      if (origin.line)
        info.scheduleLines.push_back(origin.line);
    info.maxThreads = step->getMaxThreads();
    if (const auto *kernel = std::get_if<KernelCall>(&step->action))
      info.loopOps = kernel->loopOps;
    calls.push_back(std::move(info));
  }
  return calls;
}

} // namespace metaops
