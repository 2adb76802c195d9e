//===- MatrixBatch.cpp - Batches of matrices ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch of small matrices is shared among the session's threads, since the
// library does not start its own for them: how small these are has been
// measured for each function. Large ones go one by one, so that the library
// may; a run can be stopped between these.
//
//===----------------------------------------------------------------------===//

#include "MatrixBatch.h"
#include "llvm/Support/MathExtras.h"

#include <atomic>
#include <thread>

using namespace metaops;

/// Picoseconds of a floating-point operation on one thread.
static constexpr int64_t kWorkOfFlop = 100;
/// A thread is worth so much work, in picoseconds.
static constexpr int64_t kWorkOfThread = 8'000'000;
/// Threads that compute beside each other where each needs scratch memory.
static constexpr int64_t kMaxSlots = 64;

namespace {
/// Scratch memory in equal slots, each of which one thread has at a time.
class ScratchSlots {
public:
  ScratchSlots(char *memory, int64_t bytes, int64_t count)
      : memory(memory), bytes(bytes),
        vacant(llvm::maskTrailingOnes<uint64_t>(count)) {}

  /// Waits where there are more threads than slots.
  int64_t acquire() {
    for (;;) {
      uint64_t known = vacant.load(std::memory_order_relaxed);
      if (known == 0)
        std::this_thread::yield();
      else if (vacant.compare_exchange_weak(known, known & (known - 1),
                                            std::memory_order_acquire))
        return llvm::countr_zero(known);
    }
  }
  void release(int64_t slot) {
    vacant.fetch_or(uint64_t(1) << slot, std::memory_order_release);
  }
  char *getMemory(int64_t slot) const { return memory + slot * bytes; }

private:
  char *memory;
  int64_t bytes;
  /// A bit for each slot that nobody has.
  std::atomic<uint64_t> vacant;
};

class MatrixPlan : public RoutinePlan {
public:
  MatrixPlan(const MatrixBatch &batch,
             std::unique_ptr<const MatrixFunction> function)
      : RoutinePlan(estimate(batch, *function)), batch(batch),
        groups(countGroups(batch, *function)),
        slots(countSlots(batch, *function)), function(std::move(function)) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    // Any number of empty matrices is nothing.
    if (batch.isEmpty)
      return std::nullopt;
    ScratchSlots scratch(run.scratch, getSlotBytes(*function), slots);
    auto runAll = [&](int64_t begin, int64_t end) {
      int64_t slot = scratch.acquire();
      for (int64_t number = begin; number < end; ++number)
        function->run(run, number, scratch.getMemory(slot));
      scratch.release(slot);
    };
    if (isShared(batch, *function)) {
      int64_t work = multiplyCounts(function->countFlops(),
                                    kWorkOfFlop * function->getGroup());
      int64_t grain =
          std::max<int64_t>(kWorkOfThread / std::max<int64_t>(work, 1), 1);
      int64_t range = std::max<int64_t>(groups / 64, 1);
      return run.threads.parallelFor(groups, grain, runAll,
                                     {run.shouldStop, range, run.begin});
    }
    for (int64_t number = run.begin; number < groups; ++number) {
      if (run.shouldStop && run.shouldStop())
        return number;
      runAll(number, number + 1);
    }
    return std::nullopt;
  }

private:
  static bool isShared(const MatrixBatch &batch,
                       const MatrixFunction &function) {
    return multiplyCounts(batch.m, batch.n) <= kMaxShared * kMaxShared &&
           batch.getRank() <= function.getSharedRank();
  }
  static int64_t countGroups(const MatrixBatch &batch,
                             const MatrixFunction &function) {
    return llvm::divideCeil(batch.count, function.getGroup());
  }
  static int64_t countSlots(const MatrixBatch &batch,
                            const MatrixFunction &function) {
    if (!isShared(batch, function))
      return 1;
    // Then a slot is no memory.
    if (function.getScratch() == 0)
      return kMaxSlots;
    int64_t threads = ThreadPool::getDefaultThreads();
    return std::clamp<int64_t>(std::min(countGroups(batch, function), threads),
                               1, kMaxSlots);
  }
  static int64_t getSlotBytes(const MatrixFunction &function) {
    return llvm::alignTo(function.getScratch(), 64);
  }
  static RoutineEstimate estimate(const MatrixBatch &batch,
                                  const MatrixFunction &function) {
    RoutineEstimate known;
    known.flops = multiplyCounts(function.countFlops(), batch.count);
    known.work = multiplyCounts(known.flops, kWorkOfFlop);
    if (!batch.isEmpty)
      known.scratchBytes =
          multiplyCounts(getSlotBytes(function), countSlots(batch, function));
    return known;
  }

  MatrixBatch batch;
  int64_t groups, slots;
  std::unique_ptr<const MatrixFunction> function;
};
} // namespace

std::shared_ptr<const RoutinePlan>
metaops::makeMatrixPlan(const MatrixBatch &batch,
                        std::unique_ptr<const MatrixFunction> function) {
  return std::make_shared<MatrixPlan>(batch, std::move(function));
}
