//===- StepsTest.cpp - Programs as trees of steps -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Results are compared with loops over plain numbers.
//
//===----------------------------------------------------------------------===//

#include "StepsFixture.h"

#include <atomic>
#include <functional>
#include <numeric>

using namespace metaops;

namespace {

using StepsTest = StepsFixture;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST_F(StepsTest, StepsRunInOrder) {
  data.steps = {
      makeStep(call(addKernel), {slot(x()), slot(y())}, {slot(arena(), 64)}),
      makeStep(call(scaleKernel, {3}), {slot(arena(), 64)}, {slot(result())})};
  EXPECT_EQ(run({1, 2, 3, 4, 5}, {5, 6, 7, 8, 9}),
            (std::vector<float>{18, 24, 30, 36, 42}));
}

TEST_F(StepsTest, ABranchIsTaken) {
  If branches;
  branches.onTrue = {
      makeStep(call(addKernel), {slot(x()), slot(y())}, {slot(result())})};
  branches.onFalse = {
      makeStep(call(scaleKernel, {7}), {slot(y())}, {slot(result())})};
  data.steps = {
      makeStep(call(lessKernel, {10}, 1), {slot(x())}, {flag(arena(), 0)}),
      makeStep(branches, {flag(arena(), 0)})};
  EXPECT_EQ(run({9, 1, 1, 1, 1}, {1, 2, 3, 4, 5}),
            (std::vector<float>{10, 3, 4, 5, 6}));
  EXPECT_EQ(run({10, 1, 1, 1, 1}, {1, 2, 3, 4, 5}),
            (std::vector<float>{7, 14, 21, 28, 35}));
}

TEST_F(StepsTest, ABranchMayGiveWhatIsThere) {
  data.pointers = {kBytes};
  If branches;
  branches.onTrue = {makeStep(View{data.getPointer(0)}, {slot(x())})};
  branches.onFalse = {makeStep(View{data.getPointer(0)}, {slot(y())})};
  data.steps = {
      makeStep(call(lessKernel, {10}, 1), {slot(x())}, {flag(arena(), 0)}),
      makeStep(branches, {flag(arena(), 0)}),
      makeStep(call(addKernel), {slot(data.getPointer(0)), slot(x())},
               {slot(result())})};
  EXPECT_EQ(run({9, 1, 1, 1, 1}, {1, 2, 3, 4, 5}),
            (std::vector<float>{18, 2, 2, 2, 2}));
  EXPECT_EQ(run({10, 1, 1, 1, 1}, {1, 2, 3, 4, 5}),
            (std::vector<float>{11, 3, 4, 5, 6}));
}

TEST_F(StepsTest, ALoopMakesItsTrips) {
  for (int64_t limit : {0, 1, 2, 3, 4, 5, 8, 9, 1000}) {
    data.steps = {makeDoubling(limit)};
    std::vector<float> expected = {1, 2, 3, 4, 5};
    while (expected[0] < static_cast<float>(limit))
      for (float &value : expected)
        value *= 2;
    EXPECT_EQ(run({1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}), expected) << limit;
  }
}

TEST_F(StepsTest, WhatALoopCarriesIsNotCopied) {
  // Without a place where it is to lie, a carry's last value is where it is:
  // in either place, or what the loop has begun with.
  for (int64_t limit : {1, 2, 4}) {
    Step step = makeDoubling(limit);
    auto &carry = std::get<While>(step.action).carries.front();
    carry.settles = false;
    carry.even = slot(arena(), 128);
    data.steps = {step, makeStep(call(scaleKernel, {1}), {slot(carry.current)},
                                 {slot(result())})};
    EXPECT_EQ(run({1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}).front(),
              static_cast<float>(limit));
  }
}

/// x is added to y as often as y's first element stays under 10, and in each of
/// these trips doubled until its first one is at least that of y.
TEST_F(StepsTest, LoopsMayBeNested) {
  data.pointers = {kBytes, kBytes, kBytes, kBytes};
  auto makeLoop = [&](unsigned pointer, Slot initial, int64_t place) {
    While loop;
    Carry &carry = loop.carries.emplace_back();
    carry.current = data.getPointer(pointer);
    carry.next = data.getPointer(pointer + 1);
    carry.initial = initial;
    carry.even = slot(arena(), place);
    carry.odd = slot(arena(), place + 64);
    return loop;
  };
  While outer = makeLoop(0, slot(y()), 64);
  int64_t sum = outer.carries[0].current;
  While inner = makeLoop(2, slot(x()), 192);
  int64_t doubled = inner.carries[0].current;
  inner.condition = {
      makeStep(call(lessKernel, {4}, 1), {slot(doubled)}, {flag(arena(), 1)})};
  inner.body = {makeStep(call(scaleKernel, {2}), {slot(doubled)},
                         {slot(inner.carries[0].next)})};
  outer.condition = {
      makeStep(call(lessKernel, {10}, 1), {slot(sum)}, {flag(arena(), 0)})};
  outer.body = {makeStep(inner, {flag(arena(), 1)}),
                makeStep(call(addKernel), {slot(sum), slot(doubled)},
                         {slot(outer.carries[0].next)})};
  data.steps = {
      makeStep(outer, {flag(arena(), 0)}),
      makeStep(call(scaleKernel, {1}), {slot(sum)}, {slot(result())})};
  // 1 is doubled twice, so 4 is added until 2 + 4 + 4.
  EXPECT_EQ(run({1, 10, 100, 0, 7}, {2, 0, 1, 5, 0}),
            (std::vector<float>{10, 80, 801, 5, 56}));
}

TEST_F(StepsTest, TimesOfALoopAreAddedUp) {
  data.steps = {makeDoubling(16)};
  auto program = compile();
  BufferRef scratch;
  ProgramRun run = llvm::cantFail(program->prepare(
      {makeBuffer({1, 0, 0, 0, 0}), makeBuffer({0, 0, 0, 0, 0})}, memory,
      scratch));
  std::vector<CallTime> times;
  llvm::cantFail(program->execute(run, threads, nullptr, &times));
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].statistics.runs, 0); // the loop itself
  EXPECT_EQ(times[1].statistics.runs, 5);
  EXPECT_EQ(times[2].statistics.runs, 4);
  EXPECT_LE(times[2].statistics.total, times[2].end - times[2].begin);
  EXPECT_LE(times[1].begin, times[2].begin);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

TEST_F(StepsTest, AFailedCheckLeavesArgumentsAlone) {
  data.arguments = {kBytes, 2 * sizeof(int64_t)};
  data.results[0] = {x(), kBytes};
  data.steps = {
      makeStep(Check{{0, 3, true}, ""}, {number(y()), number(y(), 8)}),
      makeStep(call(scaleKernel, {2}), {slot(x())}, {slot(x())})};
  auto attempt = [&](int64_t lowest, int64_t highest) {
    BufferRef indices = memory.allocate(2 * sizeof(int64_t));
    static_cast<int64_t *>(indices->data())[0] = lowest;
    static_cast<int64_t *>(indices->data())[1] = highest;
    BufferRef first = makeBuffer({1, 2, 3, 4, 5});
    llvm::SmallVector<BufferRef> results;
    std::string message = llvm::toString(
        compile()->run({first, indices}, results, memory, threads));
    EXPECT_EQ(read(*first)[0], message.empty() ? 2 : 1);
    return message;
  };
  EXPECT_EQ(attempt(-3, 2), "");
  EXPECT_EQ(attempt(-4, 2),
            "index -4 is out of range for dimension 0 of extent 3");
  EXPECT_EQ(attempt(0, 3),
            "index 3 is out of range for dimension 0 of extent 3");
}

TEST_F(StepsTest, AFailureSaysWhere) {
  data.arguments = {kBytes, 2 * sizeof(int64_t)};
  Step step = makeDoubling(1000);
  // The second trip's.
  If isLate;
  isLate.onFalse = {
      makeStep(Check{{0, 3, false}, ""}, {number(y()), number(y(), 8)})};
  auto &loop = std::get<While>(step.action);
  loop.body.push_back(makeStep(call(lessKernel, {2}, 1),
                               {slot(loop.carries[0].current)},
                               {flag(arena(), 1)}));
  loop.body.push_back(makeStep(isLate, {flag(arena(), 1)}));
  data.steps = {step};
  auto program = compile();
  BufferRef indices = memory.allocate(2 * sizeof(int64_t));
  static_cast<int64_t *>(indices->data())[0] = 0;
  static_cast<int64_t *>(indices->data())[1] = 7;
  llvm::SmallVector<BufferRef> results;
  llvm::Error error = program->run({makeBuffer({1, 1, 1, 1, 1}), indices},
                                   results, memory, threads);
  llvm::handleAllErrors(std::move(error), [](const KernelFailure &failure) {
    EXPECT_EQ(failure.getCall(), 5u);
    EXPECT_EQ(failure.getTrips().vec(), std::vector<int64_t>{1});
  });
}

//===----------------------------------------------------------------------===//
// Stopping
//===----------------------------------------------------------------------===//

namespace {
/// Adds, and fails where the first sum is above a limit.
class AddLauncher : public KernelLauncher {
public:
  explicit AddLauncher(float limit) : limit(limit) {}

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &, LaunchMeasures *measures) const override {
    EXPECT_EQ(numInputs, 2u);
    EXPECT_EQ(call.parallelRange, kElements);
    llvm::SmallVector<void *> pointers;
    for (KernelBuffer buffer : buffers) {
      EXPECT_EQ(buffer.size(), size_t(kBytes));
      pointers.push_back(buffer.data());
    }
    addKernel(pointers.data(), nullptr, 0, call.parallelRange);
    float first = *at<float>(pointers.data(), 2);
    if (first > limit)
      return llvm::createStringError("the first sum is " +
                                     std::to_string(first));
    if (measures)
      measures->nanoseconds = kLaunchTime;
    return llvm::Error::success();
  }

  static constexpr int64_t kLaunchTime = 12345;

private:
  float limit;
};
} // namespace

TEST_F(StepsTest, LaunchersRunKernelsThatAreNotOfThisProcess) {
  auto launched = [](float limit) {
    KernelCall made;
    made.kernel = std::make_shared<const Kernel>(
        Kernel{nullptr, "far away", std::make_shared<AddLauncher>(limit)});
    made.parallelRange = kElements;
    return made;
  };
  // One beside a host's kernel, and one that reads both.
  data.steps.push_back(
      makeStep(launched(100), {slot(x()), slot(y())}, {slot(arena())}));
  data.steps.push_back(
      makeStep(call(scaleKernel, {3}), {slot(x())}, {slot(arena(), 64)}));
  data.steps.push_back(makeStep(
      launched(100), {slot(arena()), slot(arena(), 64)}, {slot(result())}));
  EXPECT_EQ(run({1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}),
            (std::vector<float>{14, 28, 42, 56, 70}));
  // Their time is what they say.
  llvm::SmallVector<BufferRef> results;
  std::vector<CallTime> times;
  llvm::cantFail(compile()->run(
      {makeBuffer({1, 2, 3, 4, 5}), makeBuffer({10, 20, 30, 40, 50})}, results,
      memory, threads, &times));
  EXPECT_EQ(times[0].statistics.total, AddLauncher::kLaunchTime);
  EXPECT_EQ(times[2].end - times[2].begin, AddLauncher::kLaunchTime);

  data.steps[2].action = launched(13);
  auto failed = tryRun({1, 2, 3, 4, 5}, {10, 20, 30, 40, 50});
  bool isTold = false;
  llvm::handleAllErrors(failed.takeError(), [&](const KernelFailure &failure) {
    isTold = true;
    EXPECT_EQ(failure.getCall(), 2u);
    EXPECT_EQ(failure.getMessage(), "the first sum is 14.000000");
  });
  EXPECT_TRUE(isTold);
}

namespace {
/// Counts its calls, and stops the first ones.
class StoppedLauncher : public KernelLauncher {
public:
  explicit StoppedLauncher(int stops) : stops(stops) {}

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &, LaunchMeasures *) const override {
    if (calls++ < stops)
      return llvm::make_error<Interrupted>();
    std::memcpy(buffers[1].data(), buffers[0].data(), buffers[1].size());
    return llvm::Error::success();
  }

  mutable int calls = 0;

private:
  int stops;
};
} // namespace

TEST_F(StepsTest, ALauncherThatIsStoppedIsCalledAgain) {
  auto launcher = std::make_shared<StoppedLauncher>(/*stops=*/2);
  KernelCall made;
  made.kernel =
      std::make_shared<const Kernel>(Kernel{nullptr, "stopped", launcher});
  data.steps = {makeStep(call(scaleKernel, {3}), {slot(x())}, {slot(arena())}),
                makeStep(made, {slot(arena())}, {slot(result())})};
  auto program = compile();
  BufferRef scratch;
  ProgramRun run = llvm::cantFail(program->prepare(
      {makeBuffer({1, 2, 3, 4, 5}), makeBuffer({0, 0, 0, 0, 0})}, memory,
      scratch));
  int stops = 0;
  while (llvm::Error error = program->execute(run, threads, nullptr, nullptr)) {
    EXPECT_TRUE(error.isA<Interrupted>());
    EXPECT_TRUE(run.progress.hasBegun());
    llvm::consumeError(std::move(error));
    ++stops;
  }
  EXPECT_EQ(stops, 2);
  EXPECT_EQ(launcher->calls, 3);
  EXPECT_EQ(read(*run.results.front().get()),
            (std::vector<float>{3, 6, 9, 12, 15}));
}

TEST_F(StepsTest, AnEndlessLoopIsStopped) {
  // 2 * 0 is never as large as 1.
  data.steps = {makeDoubling(1)};
  auto program = compile();
  BufferRef scratch;
  BufferRef first = makeBuffer({0, 1, 2, 3, 4});
  ProgramRun run = llvm::cantFail(
      program->prepare({first, makeBuffer({0, 0, 0, 0, 0})}, memory, scratch));
  std::atomic<int> questions = 0;
  llvm::Error error =
      program->execute(run, threads, [&] { return ++questions > 3; }, nullptr);
  EXPECT_TRUE(error.isA<Interrupted>());
  llvm::consumeError(std::move(error));
  EXPECT_EQ(read(*first), (std::vector<float>{0, 1, 2, 3, 4}));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(StepsTest, MemoryHasToBeThere) {
  auto problemOf = [&](Slot slot) {
    data.steps = {
        makeStep(call(scaleKernel, {2}), {slot}, {{result(), 0, kBytes}})};
    return findProblem();
  };
  EXPECT_EQ(problemOf(slot(x())), "");
  EXPECT_EQ(problemOf(slot(arena(), 1024 - kBytes)), "");
  for (Slot bad :
       {slot(-1), slot(99), slot(x(), 1), slot(x(), -1), slot(x(), 0, -1),
        slot(arena(), 1025 - kBytes), slot(arena(), INT64_MAX),
        slot(arena(), 1, INT64_MAX), Slot{x(), 0, kBytes, 8, 4}})
    EXPECT_EQ(problemOf(bad),
              "step 0 of a program reads memory that is not there");
}

TEST_F(StepsTest, PointersAreSetBeforeTheyAreUsed) {
  data.pointers = {kBytes, kBytes};
  int64_t first = data.getPointer(0), second = data.getPointer(1);
  auto use = makeStep(call(scaleKernel, {2}), {slot(first)}, {slot(result())});
  data.steps = {use};
  EXPECT_EQ(findProblem(),
            "step 0 of a program reads memory that is not there");
  data.steps = {makeStep(View{first}, {slot(x())}), use};
  EXPECT_EQ(findProblem(), "");
  data.steps = {makeStep(View{first}, {slot(x())}),
                makeStep(View{first}, {slot(y())}), use};
  EXPECT_EQ(findProblem(),
            "step 1 of a program sets a pointer that cannot be set");
  data.steps = {makeStep(View{first}, {slot(x(), 4, kBytes - 4)}), use};
  EXPECT_EQ(findProblem(),
            "step 0 of a program points to memory that is too small");
  // Only to entries before it, so that no two point to each other.
  data.steps = {makeStep(View{second}, {slot(x())}),
                makeStep(View{first}, {slot(second)}), use};
  EXPECT_EQ(findProblem(),
            "step 1 of a program points to memory that is too small");
  // What one branch sets is not set.
  If branches;
  branches.onTrue = {makeStep(View{first}, {slot(x())})};
  data.steps = {
      makeStep(call(lessKernel, {10}, 1), {slot(x())}, {flag(arena(), 0)}),
      makeStep(branches, {flag(arena(), 0)}), use};
  EXPECT_EQ(findProblem(),
            "step 3 of a program reads memory that is not there");
  // Nor is it written through.
  data.steps = {makeStep(View{first}, {slot(x())}),
                makeStep(call(scaleKernel, {2}), {slot(y())}, {slot(first)})};
  EXPECT_EQ(findProblem(),
            "step 1 of a program writes memory that is not there "
            "or not to be written");
}

TEST_F(StepsTest, ALoopThatChecksLeavesArgumentsAlone) {
  Step step = makeDoubling(3);
  auto &loop = std::get<While>(step.action);
  loop.body.push_back(
      makeStep(call(scaleKernel, {2}), {slot(y())}, {slot(y())}));
  data.steps = {step};
  EXPECT_EQ(findProblem(), "");
  // In its text the check comes first, but not in its second trip.
  loop.body.insert(loop.body.begin(), makeStep(Check{{0, 3, true}, ""},
                                               {number(x()), number(x(), 8)}));
  data.steps = {step};
  EXPECT_EQ(findProblem(), "step 4 of a program overwrites an argument inside "
                           "of a loop that checks");
}

TEST_F(StepsTest, CarriesHaveThreePlaces) {
  auto problemOf = [&](llvm::function_ref<void(Carry &)> change) {
    Step step = makeDoubling(3);
    change(std::get<While>(step.action).carries.front());
    data.steps = {step};
    return findProblem();
  };
  EXPECT_EQ(problemOf([](Carry &) {}), "");
  EXPECT_EQ(problemOf([](Carry &carry) { carry.odd = carry.even; }),
            "step 0 of a program carries values in places that overlap");
  EXPECT_EQ(problemOf([](Carry &carry) { carry.next = carry.current; }),
            "step 0 of a program carries values in memory that is not there");
  EXPECT_EQ(problemOf([this](Carry &carry) { carry.odd = slot(y()); }),
            "step 0 of a program carries values in memory that is not there");
  EXPECT_EQ(problemOf([](Carry &carry) { carry.odd.bytes -= 4; }),
            "step 0 of a program carries values in places of different sizes");
  EXPECT_EQ(problemOf([](Carry &carry) { carry.initial.entry = 77; }),
            "step 0 of a program carries values in memory that is not there");
}

TEST_F(StepsTest, ChecksComeFirst) {
  data.steps = {
      makeStep(call(scaleKernel, {2}), {slot(x())}, {slot(x())}),
      makeStep(Check{{0, 3, true}, ""}, {number(y()), number(y(), 8)})};
  EXPECT_EQ(findProblem(), "step 1 of a program may fail when an argument has "
                           "been overwritten");
}

TEST_F(StepsTest, BuffersThatAreTooSmallAreRefused) {
  data.steps = {
      makeStep(call(addKernel), {slot(x()), slot(y())}, {slot(result())})};
  llvm::SmallVector<BufferRef> results;
  EXPECT_EQ(llvm::toString(compile()->run(
                {makeBuffer({1, 2, 3, 4, 5}), makeBuffer({1, 2, 3})}, results,
                memory, threads)),
            "argument 1 of the program has 20 bytes, given 12");
}

} // namespace
