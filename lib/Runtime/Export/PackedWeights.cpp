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
// Programs of one function for several sizes pack the same weights. Two results
// are equal if one kernel makes them, called with equal numbers on equal parts
// of equal weights.
//
//===----------------------------------------------------------------------===//

#include "PackedWeights.h"
#include "MetaOps/Runtime/Memory/PackedCopy.h"
#include "llvm/ADT/STLExtras.h"

using namespace metaops;

namespace {
/// Numbers and names one after the other, so that equal texts are of equal
/// ones.
class KeyWriter {
public:
  void add(int64_t number) {
    key.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void add(llvm::ArrayRef<int64_t> numbers) {
    add(static_cast<int64_t>(numbers.size()));
    for (int64_t number : numbers)
      add(number);
  }
  void add(const Slot &slot) {
    for (int64_t number : {slot.offset, slot.bytes, slot.row, slot.pitch})
      add(number);
  }
  void add(llvm::StringRef text) {
    add(static_cast<int64_t>(text.size()));
    key += text;
  }

  std::string key;
};
} // namespace

/// Returns what says that two calls make the same of weights.
static std::string
describeCall(const KernelCall &call, const Step &step,
             llvm::ArrayRef<std::optional<unsigned>> arguments) {
  KeyWriter writer;
  writer.add(llvm::StringRef(call.kernel->name));
  writer.add(call.scalars);
  writer.add(call.parallelRange);
  writer.add(call.furtherGrids);
  writer.add(static_cast<int64_t>(call.flushesDenormals));
  for (const Slot &input : step.getInputs()) {
    writer.add(static_cast<int64_t>(*arguments[input.entry]));
    writer.add(input);
  }
  for (const Slot &output : step.getOutputs())
    writer.add(output);
  return std::move(writer.key);
}

std::shared_ptr<PackedWeight>
PackedPool::get(const ProgramData &program, const Step &step,
                llvm::ArrayRef<std::optional<unsigned>> arguments,
                int64_t bytes) {
  bool isOfWeights = llvm::all_of(step.getInputs(), [&](const Slot &input) {
    return program.isArgument(input.entry) && arguments[input.entry];
  });
  if (!isOfWeights)
    return nullptr;
  const auto *call = std::get_if<KernelCall>(&step.action);
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<PackedWeight> own;
  std::weak_ptr<PackedWeight> &known =
      call ? results[describeCall(*call, step, arguments)] : own;
  std::shared_ptr<PackedWeight> result = known.lock();
  if (!result || result->bytes != bytes) {
    result = std::make_shared<PackedWeight>();
    result->bytes = bytes;
    known = result;
  }
  return result;
}

PackedWeights::PackedWeights(std::shared_ptr<PackedPool> ofFunction,
                             const ProgramData &program,
                             llvm::ArrayRef<std::optional<unsigned>> arguments)
    : pool(std::move(ofFunction)), results(program.packed.size()) {
  // They are of steps of the outermost list, and of arguments alone.
  for (const Step &step : program.steps)
    for (const Slot &slot : step.getOutputs())
      if (program.isPacked(slot.entry)) {
        int64_t number = slot.entry - program.getPacked(0);
        results[number] =
            pool->get(program, step, arguments, program.packed[number].bytes);
      }
}

PackedUse PackedWeights::use(PackedWeight *result, Allocator &memory) {
  using State = PackedWeight::State;
  if (!result || result->state == State::InTheMaking)
    return {};
  if (result->state == State::Missing) {
    try {
      result->copy = std::make_shared<PackedCopy>(
          memory.allocate(result->bytes, MemoryUse::Packed));
    } catch (const OutOfMemory &) {
      return {};
    }
    result->state = State::InTheMaking;
  }
  return {result->copy, result->copy->getMemory()};
}

void PackedWeights::begin(ProgramRun &run, Allocator &memory) {
  std::lock_guard<std::mutex> lock(pool->mutex);
  for (const std::shared_ptr<PackedWeight> &result : results)
    run.packed.push_back(use(result.get(), memory));
}

void PackedWeights::end(const ProgramRun &run) {
  using State = PackedWeight::State;
  std::lock_guard<std::mutex> lock(pool->mutex);
  for (auto [result, use] : llvm::zip_equal(results, run.packed)) {
    // Results that were there before the run are not the run's to settle.
    if (!use.copy || result->state != State::InTheMaking)
      continue;
    // A run that fails may not have come so far.
    result->state = use.copy->isFilled ? State::There : State::Missing;
    if (result->state == State::Missing)
      result->copy = nullptr;
  }
}

int64_t PackedWeights::getBytes() const {
  std::lock_guard<std::mutex> lock(pool->mutex);
  int64_t bytes = 0;
  for (const std::shared_ptr<PackedWeight> &result : results)
    if (result && result->state == PackedWeight::State::There)
      bytes += result->bytes;
  return bytes;
}
