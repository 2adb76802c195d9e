//===- PackedWeights.cpp - What kernels make of weights alone -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session's runs follow one another, and its weights change (PackedResults).
// A file's weights stay as they are, but runs go side by side. So the first run
// that comes to a result makes it, in memory that nobody else sees before the
// run has ended; runs beside it make their own in their arenas, as if nothing
// were kept. What is kept is not written again.
//
//===----------------------------------------------------------------------===//

#include "PackedWeights.h"
#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "llvm/ADT/STLExtras.h"

using namespace metaops;

PackedWeights::PackedWeights(
    const ProgramData &program,
    llvm::ArrayRef<std::optional<unsigned>> arguments) {
  for (const PackedPlace &place : program.packed)
    results.emplace_back().bytes = place.bytes;
  // They are of steps of the outermost list, and of arguments alone.
  for (const Step &step : program.steps)
    for (const Slot &slot : step.getOutputs())
      if (program.isPacked(slot.entry))
        results[slot.entry - program.getPacked(0)].isOfWeights =
            llvm::all_of(step.getInputs(), [&](const Slot &input) {
              return program.isArgument(input.entry) && arguments[input.entry];
            });
}

PackedUse PackedWeights::use(Result &result, Allocator &memory) {
  if (!result.isOfWeights || result.state == State::InTheMaking)
    return {};
  if (result.state == State::Missing) {
    try {
      result.copy = std::make_shared<PackedCopy>(
          memory.allocate(result.bytes, MemoryUse::Packed));
    } catch (const OutOfMemory &) {
      return {};
    }
    result.state = State::InTheMaking;
  }
  return {result.copy, result.copy->getMemory()};
}

void PackedWeights::begin(ProgramRun &run, Allocator &memory) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Result &result : results)
    run.packed.push_back(use(result, memory));
}

void PackedWeights::end(const ProgramRun &run) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto [result, use] : llvm::zip_equal(results, run.packed)) {
    if (!use.copy || result.state != State::InTheMaking)
      continue;
    // A run that fails may not have come so far.
    result.state = use.copy->isFilled ? State::There : State::Missing;
    if (result.state == State::Missing)
      result.copy = nullptr;
  }
}

int64_t PackedWeights::getBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  int64_t bytes = 0;
  for (const Result &result : results)
    bytes += result.state == State::There ? result.bytes : 0;
  return bytes;
}
