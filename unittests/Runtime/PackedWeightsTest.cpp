//===- PackedWeightsTest.cpp - What is made of weights once ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that makes w2 = w + w of a weight, x2 = x + x of an input, both of
// which may be kept, and gives w2 + x2. Its kernels count their calls.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Export/PackedWeights.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace metaops;

namespace {

constexpr int64_t kElements = 1000;
constexpr int64_t kBytes = kElements * sizeof(float);

std::atomic<int> packings{0};

void addKernel(void **buffers, const int64_t *scalars, int64_t begin,
               int64_t end) {
  packings += scalars[0];
  const auto *x = static_cast<const float *>(buffers[0]);
  const auto *y = static_cast<const float *>(buffers[1]);
  auto *sum = static_cast<float *>(buffers[2]);
  for (int64_t i = begin; i < end; ++i)
    sum[i] = x[i] + y[i];
}

Step add(Slot x, Slot y, Slot sum, bool isPacking) {
  KernelCall call;
  call.kernel = std::make_shared<const Kernel>(Kernel{&addKernel, "add"});
  call.scalars = {isPacking};
  call.parallelRange = kElements;
  Step step;
  step.action = std::move(call);
  step.buffers = {x, y, sum};
  step.numInputs = 2;
  return step;
}

/// Of w and x.
ProgramData makeProgram(bool isChecked) {
  ProgramData program;
  program.arguments = {kBytes, kBytes, 8};
  program.results = {{3, kBytes}};
  program.arenaBytes = 2 * 4096;
  program.packed = {{0, kBytes}, {4096, kBytes}};
  auto slot = [](int64_t entry) { return Slot{entry, 0, kBytes}; };
  Slot w = slot(0), x = slot(1), result = slot(3);
  Slot first = slot(program.getPacked(0)), second = slot(program.getPacked(1));
  if (isChecked) {
    Step &step = program.steps.emplace_back();
    step.action = Check{{0, 10, false, std::nullopt}, ""};
    step.buffers = {{2, 0, 8}, {2, 0, 8}};
    step.numInputs = 2;
  }
  program.steps.push_back(add(w, w, first, /*isPacking=*/true));
  program.steps.push_back(add(x, x, second, /*isPacking=*/true));
  program.steps.push_back(add(first, second, result, /*isPacking=*/false));
  return program;
}

class PackedWeightsTest : public testing::Test {
protected:
  explicit PackedWeightsTest(bool isChecked = false)
      : program(
            llvm::cantFail(CompiledProgram::create(makeProgram(isChecked)))),
        packed(pool, program->getData(), {0, std::nullopt, std::nullopt}) {
    packings = 0;
    for (int64_t i = 0; i < kElements; ++i)
      weights[i] = float(i);
  }

  /// Runs the program on a number; whether the result is right.
  bool run(float number, int64_t index = 0) {
    return run(packed, number, index);
  }
  bool run(PackedWeights &packed, float number, int64_t index = 0) {
    std::vector<float> x(kElements, number), y(kElements);
    auto wrap = [](void *data, size_t bytes) {
      return Buffer::wrap(data, bytes, nullptr);
    };
    ProgramRun run;
    run.arguments = {wrap(weights.data(), kBytes), wrap(x.data(), kBytes),
                     wrap(&index, sizeof(index))};
    run.results = {wrap(y.data(), kBytes)};
    run.scratch = memory.allocate(program->getScratchBytes());
    packed.begin(run, memory);
    ThreadPool threads(1);
    llvm::Error error = program->execute(run, threads, nullptr, nullptr);
    packed.end(run);
    if (error) {
      llvm::consumeError(std::move(error));
      return false;
    }
    for (int64_t i = 0; i < kElements; ++i)
      if (y[i] != 2 * weights[i] + 2 * number)
        return false;
    return true;
  }

  std::vector<float> weights = std::vector<float>(kElements);
  Allocator memory;
  std::shared_ptr<CompiledProgram> program;
  std::shared_ptr<PackedPool> pool = std::make_shared<PackedPool>();
  PackedWeights packed;
};

TEST_F(PackedWeightsTest, ThePackingOfWeightsIsLeftOutAfterTheFirstRun) {
  EXPECT_EQ(packed.getBytes(), 0);
  EXPECT_TRUE(run(1));
  EXPECT_EQ(packings, 2);
  EXPECT_EQ(packed.getBytes(), kBytes);
  for (float number : {2, 3, 4})
    EXPECT_TRUE(run(number));
  // What is made of the input is made in each run.
  EXPECT_EQ(packings, 2 + 3);
  EXPECT_EQ(packed.getBytes(), kBytes);
}

TEST_F(PackedWeightsTest, AnotherProgramUsesWhatIsTheSame) {
  EXPECT_TRUE(run(1));
  PackedWeights same(pool, program->getData(), {0, std::nullopt, std::nullopt});
  EXPECT_EQ(same.getBytes(), kBytes);
  packings = 0;
  EXPECT_TRUE(run(same, 2));
  EXPECT_EQ(packings, 1);
  // A result of another weight is not the same.
  PackedWeights other(pool, program->getData(),
                      {1, std::nullopt, std::nullopt});
  EXPECT_EQ(other.getBytes(), 0);
  packings = 0;
  EXPECT_TRUE(run(other, 3));
  EXPECT_EQ(packings, 2);
}

TEST_F(PackedWeightsTest, CallsWithOtherNumbersAreNotTheSame) {
  EXPECT_TRUE(run(1));
  ProgramData changed = makeProgram(/*isChecked=*/false);
  std::get<KernelCall>(changed.steps[0].action).scalars.push_back(7);
  PackedWeights other(pool, changed, {0, std::nullopt, std::nullopt});
  EXPECT_EQ(other.getBytes(), 0);
}

TEST_F(PackedWeightsTest, RunsBesideEachOtherDoNotSeeHalfOfIt) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> others;
  for (int thread = 0; thread < 4; ++thread)
    others.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i)
        wrong += !run(float(thread * 100 + i));
    });
  for (std::thread &other : others)
    other.join();
  EXPECT_EQ(wrong, 0);
  // Each thread's first run may have been beside the one that packed.
  EXPECT_GE(packings, 200 + 1);
  EXPECT_LE(packings, 200 + 200);
  int before = packings;
  EXPECT_TRUE(run(7));
  EXPECT_EQ(packings, before + 1);
}

TEST_F(PackedWeightsTest, WithoutMemoryNothingIsKept) {
  memory.setLimit(program->getScratchBytes() + 64);
  EXPECT_TRUE(run(1));
  EXPECT_EQ(packed.getBytes(), 0);
  EXPECT_TRUE(run(2));
  EXPECT_EQ(packings, 4);
  memory.setLimit(0);
  EXPECT_TRUE(run(3));
  EXPECT_TRUE(run(4));
  EXPECT_EQ(packings, 7);
}

class FailingRunTest : public PackedWeightsTest {
protected:
  FailingRunTest() : PackedWeightsTest(/*isChecked=*/true) {}
};

TEST_F(FailingRunTest, ARunThatFailsLeavesItToTheNext) {
  EXPECT_FALSE(run(1, /*index=*/10));
  EXPECT_EQ(packings, 0);
  EXPECT_EQ(packed.getBytes(), 0);
  EXPECT_TRUE(run(2));
  EXPECT_TRUE(run(3));
  EXPECT_EQ(packings, 3);
}

} // namespace
