//===- Trial.cpp - A program that is run to be measured -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each trial has a kernel cache of its own. Kernels that differ in numbers only
// share code that takes some of them as arguments (KernelFamily.h), and the
// more of these are tried, the less would the code be that which a program gets
// that has the schedule from the beginning.
//
//===----------------------------------------------------------------------===//

#include "Trial.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;

namespace metaops {

/// Rounds of a comparison, and how many may go the other way.
static constexpr unsigned kRounds = 9, kMaxLost = 1;
/// Ratio that a better median has to the other one at most.
static constexpr double kBetter = 0.95;
/// Repetitions of a run fill so many nanoseconds, and are at most so many.
static constexpr double kSampleNanoseconds = 500e3;
static constexpr int64_t kMaxRepetitions = 1000;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// An element of a float type from and to its bits.
static uint64_t toBits(FloatType type, double value) {
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

static double fromBits(FloatType type, uint64_t bits) {
  if (type.isF32()) {
    auto narrow = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &narrow, sizeof(value));
    return value;
  }
  llvm::APFloat number(type.getFloatSemantics(),
                       llvm::APInt(type.getWidth(), bits));
  bool losesInfo = false;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

llvm::SmallVector<BufferRef> makeArguments(TypeRange types, Allocator &memory) {
  /// So many different elements, one after the other, again and again.
  constexpr int64_t kPeriod = 4093;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> distribution(0.5, 1.5);
  llvm::SmallVector<BufferRef> arguments;
  for (Type argument : types) {
    auto type = cast<RankedTensorType>(argument);
    int64_t bytes = metaop::countBytes(type);
    BufferRef buffer = memory.allocate(bytes);
    auto *data = static_cast<char *>(buffer->data());
    std::memset(data, 0, bytes);
    if (auto element = dyn_cast<FloatType>(type.getElementType())) {
      int64_t size = metaop::getElementBytes(type);
      std::vector<char> period(kPeriod * size);
      for (int64_t i = 0; i < kPeriod; ++i) {
        uint64_t bits = toBits(element, distribution(random));
        std::memcpy(&period[i * size], &bits, size);
      }
      for (int64_t at = 0; at < bytes; at += period.size())
        std::memcpy(data + at, period.data(),
                    std::min<int64_t>(period.size(), bytes - at));
    }
    arguments.push_back(std::move(buffer));
  }
  return arguments;
}

/// Returns how far two floats of a type may be apart, as a part of the largest:
/// some roundings of sums, the last one to the type.
static double getTolerance(FloatType type) {
  if (type.isF64())
    return 1e-11;
  if (type.isF32())
    return 3e-5;
  return type.isF16() ? 4e-3 : 3e-2;
}

std::string compareResults(RankedTensorType type, const void *expected,
                           const void *given) {
  auto element = dyn_cast<FloatType>(type.getElementType());
  const auto *first = static_cast<const char *>(expected);
  const auto *second = static_cast<const char *>(given);
  int64_t size = metaop::getElementBytes(type);
  if (!element)
    return std::memcmp(first, second, metaop::countBytes(type)) == 0
               ? ""
               : "integers differ";
  auto read = [&](const char *data, int64_t index) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + index * size, size);
    return fromBits(element, bits);
  };
  double largest = 0, difference = 0;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double a = read(first, i), b = read(second, i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    if (!std::isfinite(a) || !std::isfinite(b))
      return "element " + std::to_string(i) + " is " + std::to_string(b) +
             " rather than " + std::to_string(a);
    difference = std::max(difference, std::abs(a - b));
  }
  for (int64_t i = 0; difference > 0 && i < type.getNumElements(); ++i)
    if (double a = std::abs(read(first, i)); std::isfinite(a))
      largest = std::max(largest, a);
  if (difference <= getTolerance(element) * largest)
    return "";
  return "elements differ by " + std::to_string(difference) +
         ", where the largest is " + std::to_string(largest);
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

/// Returns whether a program has kernels that are no code of this process.
static bool hasLaunches(const ProgramData &program) {
  bool found = false;
  walkSteps(program.steps, [&](const Step &step) {
    const auto *call = std::get_if<KernelCall>(&step.action);
    found |= call && call->kernel->launcher;
  });
  return found;
}

llvm::Expected<std::unique_ptr<Trial>>
Trial::create(ModuleOp module, std::shared_ptr<KernelBackend> backend,
              llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
              ThreadPool &threads, StopCheck shouldStop) {
  std::unique_ptr<Trial> trial(new Trial(threads));
  trial->kernels = std::make_unique<KernelCache>(std::move(backend));
  auto built = buildProgram(module, *trial->kernels, shouldStop);
  if (!built)
    return built.takeError();
  trial->program = std::move(built->program);
  trial->isLaunched = hasLaunches(trial->program->getData());
  auto run = trial->program->prepare(arguments, memory, trial->scratch);
  if (!run)
    return run.takeError();
  trial->run = std::move(*run);
  return trial;
}

/// The first run brings memory and caches; the second says how long it takes,
/// with what is copied to a GPU and back.
llvm::Error Trial::warmUp() {
  if (auto error = execute())
    return error;
  int64_t start = readClock();
  if (auto error = execute())
    return error;
  auto once = std::max<double>(readClock() - start, 1);
  repetitions = std::clamp<int64_t>(
      static_cast<int64_t>(kSampleNanoseconds / once), 1, kMaxRepetitions);
  return llvm::Error::success();
}

/// By the times that launchers tell of calls.
llvm::Expected<double> Trial::measureLaunches() {
  int64_t total = 0;
  for (int64_t i = 0; i < repetitions; ++i) {
    std::vector<CallTime> times;
    if (auto error = execute(&times))
      return std::move(error);
    for (const CallTime &time : times)
      total += time.statistics.total;
  }
  return std::max<double>(total, 1) / repetitions;
}

llvm::Expected<double> Trial::measure() {
  if (isLaunched)
    return measureLaunches();
  int64_t start = readClock();
  for (int64_t i = 0; i < repetitions; ++i)
    if (auto error = execute())
      return std::move(error);
  return std::max<double>(readClock() - start, 1) / repetitions;
}

static double getMedian(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

llvm::Expected<Comparison> compare(Trial &first, Trial &second) {
  std::vector<double> firsts, seconds;
  unsigned lost = 0;
  while (firsts.size() < kRounds && lost <= kMaxLost) {
    // Neither is always the one that comes after the other.
    bool isTurned = firsts.size() % 2 == 1;
    auto one = isTurned ? second.measure() : first.measure();
    if (!one)
      return one.takeError();
    auto other = isTurned ? first.measure() : second.measure();
    if (!other)
      return other.takeError();
    firsts.push_back(isTurned ? *other : *one);
    seconds.push_back(isTurned ? *one : *other);
    lost += seconds.back() >= firsts.back();
  }
  Comparison result{getMedian(firsts), getMedian(seconds)};
  result.isSecondBetter =
      lost <= kMaxLost && result.second <= kBetter * result.first;
  return result;
}

} // namespace metaops
