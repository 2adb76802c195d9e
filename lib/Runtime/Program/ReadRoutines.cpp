//===- ReadRoutines.cpp - Routines of programs from files -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file says who was to compute a routine. Another version of that library may
// take more scratch memory than the file has for it; files of sorts alone have
// none for any.
//
//===----------------------------------------------------------------------===//

#include "ReadRoutines.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace metaops;

/// No arena is larger, so that the sum with scratch memory does not overflow.
static constexpr int64_t kMaxArena = std::numeric_limits<int64_t>::max() / 8;

/// Makes a tensor without strides where no memory can hold it.
static RoutineTensor makeTensor(llvm::StringRef role, DType dtype,
                                std::vector<int64_t> shape) {
  RoutineTensor tensor{role.str(), dtype, shape, {}};
  tensor.strides.assign(shape.size(), 1);
  return countBytes(tensor) ? makeDenseTensor(role, dtype, shape)
                            : RoutineTensor{role.str(), dtype, shape, {}};
}

Routine metaops::makeRoutine(const FormerSort &sort) {
  auto [kind, dtype, outer, extent, inner, count, hasBegin, isReverse,
        givesValues, givesIndices] = sort.numbers;
  Routine routine;
  if (kind != 1 || dtype < 0 || dtype >= numDTypes)
    return routine;
  auto type = static_cast<DType>(dtype);
  routine.name = "sort";
  routine.attributes = {{"dim", RoutineAttribute::Integers{1}},
                        {"descending", RoutineAttribute::Integers{isReverse}}};
  routine.operands = {makeTensor("source", type, {outer, extent, inner})};
  if (hasBegin)
    routine.operands.push_back(makeTensor("begin", DType::I64, {}));
  if (givesValues)
    routine.results.push_back(
        makeTensor("values", type, {outer, count, inner}));
  if (givesIndices)
    routine.results.push_back(
        makeTensor("indices", DType::I64, {outer, count, inner}));
  return routine;
}

llvm::Error metaops::planRoutine(RoutineCall &call,
                                 const RoutineRegistry &routines) {
  auto planned = routines.plan(call.routine, call.library);
  if (!planned)
    return planned.takeError();
  call.version = planned->implementation->getVersion().str();
  call.plan = std::move(planned->plan);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

/// Returns the lists of steps inside of a step.
static llvm::SmallVector<StepList *, 2> getRegions(Step &step) {
  if (auto *branches = std::get_if<If>(&step.action))
    return {&branches->onTrue, &branches->onFalse};
  if (auto *loop = std::get_if<While>(&step.action))
    return {&loop->condition, &loop->body};
  if (auto *loop = std::get_if<For>(&step.action))
    return {&loop->body};
  return {};
}

/// Calls `visit` with each step that calls a routine.
static void forEachRoutine(StepList &steps,
                           llvm::function_ref<void(Step &)> visit) {
  for (Step &step : steps) {
    if (std::holds_alternative<RoutineCall>(step.action))
      visit(step);
    for (StepList *list : getRegions(step))
      forEachRoutine(*list, visit);
  }
}

void metaops::makeScratch(ProgramData &program) {
  if (program.arenaBytes < 0 || program.arenaBytes > kMaxArena)
    return;
  int64_t begin = llvm::alignTo(program.arenaBytes, 64), most = 0;
  forEachRoutine(program.steps, [&](Step &step) {
    const auto &call = std::get<RoutineCall>(step.action);
    size_t numTensors =
        call.routine.operands.size() + call.routine.results.size();
    if (!call.plan || !call.hasScratch() || step.buffers.size() < numTensors ||
        step.buffers.size() > numTensors + 1)
      return;
    int64_t bytes = call.getEstimate().scratchBytes;
    bool isThere = step.buffers.size() > numTensors;
    if ((isThere && step.buffers.back().bytes >= bytes) || bytes > kMaxArena)
      return;
    step.buffers.resize(numTensors);
    step.buffers.push_back({program.getArena(), begin, bytes});
    most = std::max(most, bytes);
  });
  if (most > 0)
    program.arenaBytes = begin + most;
}
