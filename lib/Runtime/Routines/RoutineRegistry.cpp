//===- RoutineRegistry.cpp - Implementations of routines ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "CheckMatrices.h"
#include "FftRoutine.h"
#include "MatrixRoutines.h"
#include "SortRoutine.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace metaops;

void RoutineRegistry::add(
    std::shared_ptr<const RoutineImplementation> implementation) {
  std::lock_guard<std::mutex> lock(mutex);
  llvm::erase_if(implementations, [&](const auto &each) {
    return each->getRoutine() == implementation->getRoutine() &&
           each->getLibrary() == implementation->getLibrary();
  });
  implementations.insert(implementations.begin(), std::move(implementation));
}

std::vector<std::shared_ptr<const RoutineImplementation>>
RoutineRegistry::list() const {
  std::lock_guard<std::mutex> lock(mutex);
  return implementations;
}

std::string RoutineRegistry::describe() const {
  std::string text;
  for (const auto &each : list())
    text += (each->getRoutine() + " by " + each->getLibrary() + " " +
             each->getVersion() + "\n")
                .str();
  return text;
}

/// Returns "the routine 'eigh'", or "the routine 'eigh' of lapack".
static std::string nameRoutine(const Routine &routine,
                               llvm::StringRef library) {
  std::string text = "the routine '" + routine.name + "'";
  return library.empty() ? text : text + " of " + library.str();
}

llvm::Expected<PlannedRoutine>
RoutineRegistry::plan(const Routine &routine, llvm::StringRef library,
                      RoutineDevice device) const {
  if (llvm::Error error = verifyRoutine(routine))
    return std::move(error);
  std::string refusals, others;
  for (auto &each : list()) {
    if (each->getRoutine() != routine.name || !each->runsOn(device))
      continue;
    std::string name = (each->getLibrary() + " " + each->getVersion()).str();
    if (!library.empty() && each->getLibrary() != library) {
      others += (others.empty() ? "" : ", ") + name;
      continue;
    }
    llvm::Error refusal = each->accept(routine);
    if (!refusal) {
      auto plan = each->plan(routine);
      if (plan)
        return PlannedRoutine{each, std::move(*plan)};
      refusal = plan.takeError();
    }
    refusals += (refusals.empty() ? "" : "; ") + name + ": " +
                toString(std::move(refusal));
  }
  if (!refusals.empty())
    return llvm::createStringError(nameRoutine(routine, library) +
                                   " is taken by nobody: " + refusals);
  return llvm::createStringError(
      nameRoutine(routine, library) + " is not there" +
      (others.empty() ? "" : "; it is there of " + others));
}

std::shared_ptr<RoutineRegistry> metaops::createHostRoutines() {
  auto registry = std::make_shared<RoutineRegistry>();
  registry->add(createSortRoutine());
  registry->add(createFftRoutine());
  registry->add(createCheckMatrices());
  addMatrixRoutines(*registry);
  return registry;
}
