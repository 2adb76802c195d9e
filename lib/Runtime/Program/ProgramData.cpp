//===- ProgramData.cpp - A program as plain data --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/ProgramData.h"
#include "MetaOps/Support/Counts.h"
#include "StepPlan.h"

#include <algorithm>

using namespace metaops;

/// Picoseconds of a step beside its work: 1 us.
static constexpr int64_t kWorkOfStep = 1'000'000;
/// Picoseconds of a copied byte: 10 GB are copied in a second.
static constexpr int64_t kWorkOfCopiedByte = 100;

llvm::ArrayRef<Carry> Step::getCarries() const {
  if (const auto *loop = std::get_if<While>(&action))
    return loop->carries;
  if (const auto *loop = std::get_if<For>(&action))
    return loop->carries;
  return {};
}

std::vector<const StepList *> Step::getRegions() const {
  if (const auto *branches = std::get_if<If>(&action))
    return {&branches->onTrue, &branches->onFalse};
  if (const auto *loop = std::get_if<While>(&action))
    return {&loop->condition, &loop->body};
  if (const auto *loop = std::get_if<For>(&action))
    return {&loop->body};
  return {};
}

bool Step::mayFail() const {
  if (const auto *call = std::get_if<KernelCall>(&action))
    return call->kernel->launcher != nullptr;
  if (const auto *routine = std::get_if<RoutineCall>(&action))
    return routine->getEstimate().mayFail;
  return std::holds_alternative<Check>(action);
}

int64_t Step::getWork() const {
  int64_t work = 0;
  if (const auto *kernel = std::get_if<KernelCall>(&action))
    work = multiplyCounts(kernel->parallelRange, kernel->workPerStep);
  else if (const auto *routine = std::get_if<RoutineCall>(&action))
    work = routine->getEstimate().work;
  else if (std::holds_alternative<Copies>(action))
    work = multiplyCounts(buffers.back().bytes, kWorkOfCopiedByte);
  for (const StepList *list : getRegions())
    for (const Step &step : *list)
      work = addCounts(work, step.getWork());
  return addCounts(work, kWorkOfStep);
}

int64_t Step::getMaxThreads() const {
  if (const auto *kernel = std::get_if<KernelCall>(&action))
    return std::max<int64_t>(kernel->parallelRange / getGrain(*kernel), 1);
  if (const auto *routine = std::get_if<RoutineCall>(&action))
    return std::max<int64_t>(1, routine->getEstimate().work / kWorkPerThread);
  if (std::holds_alternative<Copies>(action))
    return getMaxCopyThreads(getCopiedBytes());
  return 1;
}

int64_t Step::getCopiedBytes() const {
  int64_t bytes = 0;
  if (const auto *copies = std::get_if<Copies>(&action))
    for (const Copy &copy : *copies)
      bytes = addCounts(bytes, buffers[copy.source].bytes);
  return bytes;
}

void metaops::walkSteps(const StepList &steps,
                        llvm::function_ref<void(const Step &)> visit) {
  for (const Step &step : steps) {
    visit(step);
    for (const StepList *list : step.getRegions())
      walkSteps(*list, visit);
  }
}

unsigned metaops::countSteps(const StepList &steps) {
  unsigned count = 0;
  walkSteps(steps, [&](const Step &) { ++count; });
  return count;
}
