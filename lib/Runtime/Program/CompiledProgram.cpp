//===- CompiledProgram.cpp - Steps that run on the host -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "PackedResults.h"
#include "StepPlan.h"
#include "StepRunner.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace metaops;

/// A run of more than this, 20 ms, is long.
static constexpr int64_t kLongWork = 20'000'000'000;
/// One of less than this, 50 us, is short.
static constexpr int64_t kShortWork = 50'000'000;

llvm::Expected<std::shared_ptr<CompiledProgram>>
CompiledProgram::create(ProgramData data, ProgramInfo info) {
  if (llvm::Error error = verifyProgram(data))
    return std::move(error);
  return std::shared_ptr<CompiledProgram>(
      new CompiledProgram(std::move(data), std::move(info)));
}

CompiledProgram::CompiledProgram(ProgramData given, ProgramInfo description)
    : data(std::move(given)), plan(std::make_unique<StepPlan>(data)),
      packed(std::make_unique<PackedResults>()) {
  info = std::move(description);
  walkSteps(data.steps, [&](const Step &step) {
    for (const Slot &slot : step.getOutputs()) {
      if (data.isArgument(slot.entry) &&
          !llvm::is_contained(overwritten, slot.entry))
        overwritten.push_back(slot.entry);
      if (!data.isPacked(slot.entry))
        continue;
      llvm::SmallVector<unsigned, 2> arguments;
      for (const Slot &input : step.getInputs())
        arguments.push_back(input.entry);
      packed->add(arguments, slot.bytes);
    }
  });
}

CompiledProgram::~CompiledProgram() = default;

int64_t CompiledProgram::getScratchBytes() const { return data.arenaBytes; }

bool CompiledProgram::isLong(unsigned threads) const {
  // Nobody knows how many trips a loop will make.
  return plan->hasLoop ||
         plan->serialWork + plan->sharedWork / std::max(threads, 1u) >
             kLongWork;
}

bool CompiledProgram::isShort(unsigned threads) const {
  return !plan->hasLoop &&
         plan->serialWork + plan->sharedWork / std::max(threads, 1u) <
             kShortWork;
}

void CompiledProgram::keepPacked(ProgramRun &run, Allocator &memory) {
  if (packed->size() > 0)
    packed->choose(run, memory);
}

void CompiledProgram::dropPacked(bool isShort) { packed->drop(isShort); }

/// Returns whether buffers are what a program takes.
static llvm::Error verifyArguments(llvm::ArrayRef<BufferRef> given,
                                   llvm::ArrayRef<int64_t> expected) {
  if (given.size() != expected.size())
    return llvm::createStringError("the program takes %zu arguments, given %zu",
                                   expected.size(), given.size());
  for (auto [number, buffer, bytes] : llvm::enumerate(given, expected))
    if (buffer->bytes() < static_cast<size_t>(bytes))
      return llvm::createStringError(
          "argument %zu of the program has %lld bytes, given %zu", number,
          static_cast<long long>(bytes), buffer->bytes());
  return llvm::Error::success();
}

llvm::Expected<ProgramRun>
CompiledProgram::prepare(llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
                         BufferRef &scratch) {
  if (llvm::Error error = verifyArguments(arguments, data.arguments))
    return std::move(error);
  ProgramRun run;
  run.arguments.assign(arguments.begin(), arguments.end());
  if (int64_t bytes = getScratchBytes(); bytes > 0) {
    if (!scratch || scratch->bytes() < static_cast<size_t>(bytes))
      scratch = memory.allocate(bytes, MemoryUse::Scratch);
    run.scratch = scratch;
  }
  for (auto [number, place] : llvm::enumerate(data.results)) {
    if (data.isArgument(place.entry))
      run.results.push_back(arguments[place.entry]);
    else if (place.entry == data.getResult(number))
      run.results.push_back(memory.allocate(place.bytes));
    else // Only the first of equal results owns the buffer.
      run.results.push_back(
          BufferRef(run.results[place.entry - data.getResult(0)].get()));
  }
  for (unsigned argument : overwritten)
    memory.renewContents(*arguments[argument]);
  return run;
}

llvm::Error CompiledProgram::execute(ProgramRun &run, ThreadPool &threads,
                                     StopCheck shouldStop,
                                     std::vector<CallTime> *times) {
  if (times) {
    times->resize(plan->numSteps);
    for (auto [number, time] : llvm::enumerate(*times))
      time.call = number;
  }
  return StepRunner(data, *plan, run, threads, shouldStop, times).run();
}
