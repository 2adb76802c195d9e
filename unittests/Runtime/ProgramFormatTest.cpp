//===- ProgramFormatTest.cpp - Tests of programs in bytes -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SortCalls.h"
#include "StepsFixture.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

using namespace metaops;

namespace {

/// A program with a step of each kind.
class ProgramFormatTest : public StepsFixture {
protected:
  ProgramFormatTest() {
    data.arguments = {kBytes, kBytes, 2 * sizeof(int64_t)};
    data.results[0] = {data.getResult(0), kBytes};
    Step loop = makeDoubling(100);
    auto &carry = std::get<While>(loop.action).carries.front();
    carry.settles = true;
    data.pointers.push_back(kBytes);
    int64_t chosen = data.getPointer(2);
    data.packed = {{640, kBytes}};
    Step sums = makeSums();
    int64_t packed = data.getPacked(0);
    carry.even = slot(arena(), 128);
    If branches;
    branches.onTrue = {makeStep(View{chosen}, {slot(x())})};
    branches.onFalse = {makeStep(View{chosen}, {slot(y())})};
    RoutineCall sort = makeSortCall(1, kElements, 1, /*givesIndices=*/false);
    Slot scratch = slot(arena(), 704, sort.getEstimate().scratchBytes);
    Copy copy{0, 4, {{kElements, kElements, 0, -1}}};
    data.steps = {
        makeStep(Check{{std::nullopt, 3, true, -100}, ""},
                 {number(2), number(2, 8)}),
        makeStep(call(scaleKernel, {3}), {slot(y())}, {slot(packed)}),
        loop,
        makeStep(call(lessKernel, {10}, 1), {slot(packed)}, {flag(arena(), 0)}),
        makeStep(branches, {flag(arena(), 0)}),
        makeStep(call(addKernel), {slot(carry.current), slot(chosen)},
                 {slot(arena(), 256)}),
        sums,
        makeStep(sort, {slot(arena(), 384)}, {slot(arena(), 320), scratch}),
        makeStep(Copies{copy}, {slot(arena(), 320)}, {slot(result())})};
    info.calls.resize(countSteps(data.steps));
    info.calls[1].name = "scale";
    bytes = writeProgram(data, info);
  }

  /// Adds up elements from the last to the first, each of which is a row; what
  /// is carried is a row of the sums.
  Step makeSums() {
    constexpr int64_t row = sizeof(float);
    data.pointers.insert(data.pointers.end(), 3, row);
    For loop;
    loop.trips = kElements;
    loop.isReverse = true;
    Carry &sum = loop.carries.emplace_back();
    sum.current = data.getPointer(5);
    sum.next = data.getPointer(4);
    sum.isRow = true;
    sum.initial = slot(data.getPacked(0), 0, row);
    sum.even = slot(arena(), 448, row);
    sum.settles = true;
    loop.rows = {{data.getPointer(3), slot(arena(), 256), false},
                 {data.getPointer(4), slot(arena(), 384), true}};
    loop.body = {
        makeStep(call(addKernel, {}, 1),
                 {slot(sum.current, 0, row), slot(data.getPointer(3), 0, row)},
                 {slot(sum.next, 0, row)})};
    return makeStep(std::move(loop), {});
  }

  llvm::Expected<DescribedProgram> readBytes(llvm::StringRef from) {
    return readProgram(
        from,
        [this](llvm::StringRef name) {
          return name == "a kernel" ? known : nullptr;
        },
        *createHostRoutines());
  }
  /// The functions in the order of the steps, since all have one name here.
  static void setKernels(const StepList &from, StepList &to) {
    for (size_t i = 0; i < from.size(); ++i) {
      if (auto *kernel = std::get_if<KernelCall>(&to[i].action))
        kernel->kernel = std::get<KernelCall>(from[i].action).kernel;
      if (auto *branches = std::get_if<If>(&to[i].action)) {
        setKernels(std::get<If>(from[i].action).onTrue, branches->onTrue);
        setKernels(std::get<If>(from[i].action).onFalse, branches->onFalse);
      }
      if (auto *loop = std::get_if<While>(&to[i].action)) {
        setKernels(std::get<While>(from[i].action).condition, loop->condition);
        setKernels(std::get<While>(from[i].action).body, loop->body);
      }
      if (auto *loop = std::get_if<For>(&to[i].action))
        setKernels(std::get<For>(from[i].action).body, loop->body);
    }
  }
  std::vector<float> runOn(ProgramData program) {
    BufferRef indices = memory.allocate(2 * sizeof(int64_t));
    static_cast<int64_t *>(indices->data())[0] = -100;
    static_cast<int64_t *>(indices->data())[1] = 2;
    llvm::SmallVector<BufferRef> results;
    llvm::cantFail(llvm::cantFail(CompiledProgram::create(std::move(program)))
                       ->run({makeBuffer({3, 5, 1, 4, 2}),
                              makeBuffer({9, 8, 7, 6, 5}), indices},
                             results, memory, threads));
    return read(*results[0]);
  }

  ProgramInfo info;
  std::string bytes;
  std::shared_ptr<const Kernel> known =
      std::make_shared<const Kernel>(Kernel{scaleKernel, "a kernel"});
};

TEST_F(ProgramFormatTest, WhatIsReadIsWhatWasWritten) {
  EXPECT_EQ(findProblem(), "");
  DescribedProgram program = llvm::cantFail(readBytes(bytes));
  EXPECT_EQ(writeProgram(program.data, program.info), bytes);
  EXPECT_EQ(program.info.calls[1].name, "scale");
  EXPECT_TRUE(program.info.isLoaded);
  setKernels(data.steps, program.data.steps);
  // 3 is doubled six times; 27 is not under 10, so y is added. That is 201,
  // 328, 71, 262 and 133, of which the sums from behind are taken, beside 27.
  std::vector<float> expected = {160, 422, 493, 821, 1022};
  EXPECT_EQ(runOn(program.data), expected);
  EXPECT_EQ(runOn(data), expected);
}

TEST_F(ProgramFormatTest, GridsOfFurtherFunctionsAreNoScalars) {
  KernelCall made = call(scaleKernel, {3, 4});
  made.furtherGrids = {7, 0};
  data.packed.clear();
  data.steps = {makeStep(made, {slot(y())}, {slot(result())})};
  info.calls.assign(1, {});
  DescribedProgram program =
      llvm::cantFail(readBytes(writeProgram(data, info)));
  const auto &found = std::get<KernelCall>(program.data.steps[0].action);
  EXPECT_EQ(found.scalars, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(found.furtherGrids, (std::vector<int64_t>{7, 0}));
  std::get<KernelCall>(data.steps[0].action).furtherGrids = {7, -1};
  EXPECT_EQ(llvm::toString(readBytes(writeProgram(data, info)).takeError()),
            "step 0 of a program has no kernel to call");
}

TEST_F(ProgramFormatTest, AMissingKernelIsNamed) {
  auto program = readProgram(
      bytes, [](llvm::StringRef) { return nullptr; }, *createHostRoutines());
  EXPECT_EQ(llvm::toString(program.takeError()),
            "a program has a kernel 'a kernel' that is not there");
}

TEST_F(ProgramFormatTest, NestingHasAnEnd) {
  for (int64_t depth : {20, 100}) {
    StepList steps;
    for (int64_t i = 0; i < depth; ++i) {
      If branches;
      branches.onTrue = std::move(steps);
      steps = {makeStep(std::move(branches), {flag(arena(), 0)})};
    }
    data.packed.clear();
    data.steps = std::move(steps);
    info.calls.assign(depth, {});
    auto program = readBytes(writeProgram(data, info));
    EXPECT_EQ(llvm::toString(program.takeError()),
              depth == 20 ? ""
                          : "a program has control flow that is nested too "
                            "deeply");
  }
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

/// A kernel that touches nothing: where a mutant's kernels compute is theirs to
/// say.
void emptyKernel(void **, const int64_t *, int64_t, int64_t) {}

class ProgramMutantTest : public ProgramFormatTest {
protected:
  /// Changes up to three places of a program's bytes.
  std::string mutate(std::string mutant) {
    for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
      size_t place = random() % mutant.size();
      switch (random() % 4) {
      case 0:
        mutant[place] = static_cast<char>(random());
        break;
      case 1:
        mutant[place] = static_cast<char>(random() % 8);
        break;
      case 2:
        mutant.erase(place, 1 + random() % 4);
        break;
      case 3:
        mutant.insert(place, 1, static_cast<char>(random()));
        break;
      }
      if (mutant.empty())
        mutant = "x";
    }
    return mutant;
  }

  /// Reads mutants of the program, at most `usual` where nothing else is asked
  /// for. What is not refused is another sound program: no run of it reads or
  /// writes outside of its memory.
  void readMutants(unsigned usual) {
    const char *given = std::getenv("METAOPS_TEST_MUTANTS");
    unsigned mutants = given ? std::strtoul(given, nullptr, 10) : usual;
    known = std::make_shared<const Kernel>(Kernel{emptyKernel, "a kernel"});
    unsigned numRead = 0, numRefused = 0;
    for (unsigned i = 0; i < mutants; ++i) {
      auto program = readBytes(mutate(bytes));
      if (program) {
        ++numRead;
        runFor(std::move(program->data), /*most=*/100);
      } else {
        ++numRefused;
        llvm::consumeError(program.takeError());
      }
    }
    // Both are exercised.
    EXPECT_GT(numRead, mutants / 120);
    EXPECT_GT(numRefused, mutants / 2);
    EXPECT_GT(numRun, mutants / 120);
  }

private:
  /// Runs a program until it has asked that often whether it is to stop. One
  /// that takes much memory is made only.
  void runFor(ProgramData mutant, int most) {
    constexpr int64_t kMuch = 1 << 16;
    int64_t bytes = mutant.arenaBytes;
    auto add = [&](int64_t more) { bytes = std::max(bytes, more); };
    llvm::for_each(mutant.arguments, add);
    for (const auto &result : mutant.results)
      add(result.bytes);
    for (const auto &packed : mutant.packed)
      add(packed.bytes);
    std::vector<BufferRef> arguments;
    if (bytes <= kMuch)
      for (int64_t size : mutant.arguments)
        arguments.push_back(makeArgument(size));
    auto program = llvm::cantFail(CompiledProgram::create(std::move(mutant)));
    if (bytes > kMuch)
      return;
    BufferRef scratch;
    ProgramRun run =
        llvm::cantFail(program->prepare(arguments, memory, scratch));
    ++numRun;
    int asked = 0;
    llvm::consumeError(program->execute(
        run, threads, [&] { return ++asked == most; }, nullptr));
  }

  /// Returns memory of numbers that are none, few, many and less than none.
  BufferRef makeArgument(int64_t size) {
    const int64_t numbers[] = {0,
                               1,
                               2,
                               5,
                               6,
                               -1,
                               int64_t(1) << 62,
                               std::numeric_limits<int64_t>::min()};
    BufferRef buffer = memory.allocate(size);
    for (int64_t at = 0; at < size; ++at)
      static_cast<char *>(buffer->data())[at] = static_cast<char>(random());
    for (int64_t at = 0; at + 8 <= size; at += 8)
      if (random() % 2)
        std::memcpy(static_cast<char *>(buffer->data()) + at,
                    &numbers[random() % std::size(numbers)], 8);
    return buffer;
  }

  std::mt19937 random{5};
  unsigned numRun = 0;
};

TEST_F(ProgramMutantTest, MutantsAreSafe) { readMutants(60000); }

TEST_F(ProgramMutantTest, MutantsOfABoundedLoopAreSafe) {
  data.steps = {data.steps[6]};
  Step &step = data.steps.front();
  step.buffers = {number(2, 8)};
  step.numInputs = 1;
  std::get<For>(step.action).carries.front().initial =
      slot(x(), 0, sizeof(float));
  data.packed.clear();
  info.calls.assign(countSteps(data.steps), {});
  EXPECT_EQ(findProblem(), "");
  bytes = writeProgram(data, info);
  readMutants(20000);
}

} // namespace
