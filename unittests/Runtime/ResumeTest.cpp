//===- ResumeTest.cpp - Programs that are stopped and go on ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is stopped wherever it asks whether it is to stop, and leaves
// the same bytes in its arguments and results as a run that was not stopped.
// What its kernels write over is made of what was there, so that nothing may be
// done twice, or be left out.
//
//===----------------------------------------------------------------------===//

#include "SortCalls.h"
#include "StepsFixture.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string>

using namespace metaops;

namespace {

/// x = x * a number + y, of the part of the range that is asked for.
void mixKernel(void **buffers, const int64_t *scalars, int64_t begin,
               int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    at<float>(buffers, 2)[i] =
        at<float>(buffers, 0)[i] * static_cast<float>(scalars[0]) +
        at<float>(buffers, 1)[i];
}

/// The same of all elements, in one step of the range.
void mixAllKernel(void **buffers, const int64_t *scalars, int64_t, int64_t) {
  mixKernel(buffers, scalars, 0, kElements);
}

/// A call that asks before each step of its range.
KernelCall longCall(KernelFunction function, std::vector<int64_t> scalars = {},
                    int64_t range = kElements) {
  KernelCall made = call(function, std::move(scalars), range);
  made.workPerStep = 10'000'000'000;
  return made;
}

/// One number in eight, at random.
bool isChosen(uint32_t number) {
  number *= 0x9e3779b1;
  number ^= number >> 15;
  number *= 0x85ebca77;
  return (number ^ number >> 13) % 8 == 0;
}

class ResumeTest : public StepsFixture {
protected:
  using Bytes = std::vector<std::string>;
  using Prepare = llvm::function_ref<ProgramRun()>;

  std::vector<float> makeValues(size_t count) {
    std::vector<float> values(count);
    std::uniform_real_distribution<float> distribution(0.5f, 1.5f);
    for (float &value : values)
      value = distribution(random);
    return values;
  }
  /// On copies of the same values each time.
  ProgramRun prepareRun() {
    llvm::SmallVector<BufferRef> arguments;
    for (const std::vector<float> &argument : values)
      arguments.push_back(makeBuffer(argument));
    return llvm::cantFail(program->prepare(arguments, memory, scratch));
  }
  static Bytes readAll(const ProgramRun &run) {
    Bytes bytes;
    for (const auto &list : {run.arguments, run.results})
      for (const RunRef &buffer : list)
        bytes.emplace_back(static_cast<const char *>(buffer->data()),
                           buffer->bytes());
    return bytes;
  }

  /// Executes until the run is done; how often it was stopped.
  unsigned finish(ProgramRun &run, std::function<bool()> shouldStop) {
    for (unsigned stops = 0;; ++stops) {
      llvm::Error error = program->execute(run, threads, shouldStop, nullptr);
      if (!error) {
        EXPECT_FALSE(run.progress.hasBegun());
        return stops;
      }
      EXPECT_TRUE(error.isA<Interrupted>());
      EXPECT_TRUE(run.progress.hasBegun());
      llvm::consumeError(std::move(error));
    }
  }

  /// Stops runs at each question alone, and at many.
  void stopEverywhere(Prepare prepare) {
    threads.setThreads(1);
    int64_t questions = 0;
    ProgramRun run = prepare();
    finish(run, [&] {
      ++questions;
      return false;
    });
    Bytes expected = readAll(run);
    EXPECT_GE(questions, 2);
    for (int64_t stop = 1; stop <= questions; ++stop) {
      ProgramRun stopped = prepare();
      int64_t asked = 0;
      EXPECT_EQ(finish(stopped, [&] { return ++asked == stop; }), 1u);
      // The question is asked again where the run was.
      EXPECT_GE(asked, questions + 1);
      ASSERT_EQ(readAll(stopped), expected) << "at question " << stop;
    }
    for (unsigned count : {1, 3}) {
      threads.setThreads(count);
      unsigned stops = 0;
      for (int round = 0; round < 30; ++round) {
        ProgramRun stopped = prepare();
        std::atomic<uint32_t> asked = 1000 * round;
        stops += finish(stopped, [&] { return isChosen(++asked); });
        ASSERT_EQ(readAll(stopped), expected);
      }
      EXPECT_GE(stops, 10u);
    }
  }
  void stopEverywhere() {
    program = compile();
    for (int64_t bytes : data.arguments)
      values.push_back(makeValues(bytes / sizeof(float)));
    stopEverywhere([&] { return prepareRun(); });
  }

  std::mt19937 random{7};
  std::vector<std::vector<float>> values;
  std::shared_ptr<CompiledProgram> program;
  BufferRef scratch;
};

TEST_F(ResumeTest, KernelsGoOnInTheirRange) {
  data.steps = {makeStep(longCall(addKernel), {slot(x()), slot(y())},
                         {slot(arena(), 64)}),
                makeStep(call(scaleKernel, {3}), {slot(arena(), 64)},
                         {slot(arena(), 128)}),
                makeStep(longCall(mixKernel, {5}),
                         {slot(arena(), 128), slot(arena(), 64)},
                         {slot(result())})};
  stopEverywhere();
}

TEST_F(ResumeTest, ArgumentsAreWrittenOverOnce) {
  data.results = {{x(), kBytes}, {y(), kBytes}};
  auto mix = [&](int64_t first, int64_t second, int64_t factor) {
    return makeStep(longCall(mixKernel, {factor}), {slot(first), slot(second)},
                    {slot(first)});
  };
  data.steps = {mix(x(), y(), 2), mix(y(), x(), 3), mix(x(), y(), 5)};
  stopEverywhere();
}

TEST_F(ResumeTest, ABranchThatWasTakenIsTaken) {
  // Its condition is written over by its first step.
  data.results = {{x(), kBytes}};
  for (int64_t limit : {0, 10}) {
    If branches;
    branches.onTrue = {
        makeStep(call(lessKernel, {-1}, 1), {slot(x())}, {flag(arena(), 0)}),
        makeStep(longCall(mixKernel, {2}), {slot(x()), slot(y())}, {slot(x())}),
        makeStep(call(mixKernel, {2}), {slot(x()), slot(y())}, {slot(x())})};
    branches.onFalse = {
        makeStep(call(lessKernel, {100}, 1), {slot(x())}, {flag(arena(), 0)}),
        makeStep(longCall(mixKernel, {7}), {slot(x()), slot(y())},
                 {slot(x())})};
    data.steps = {
        makeStep(call(lessKernel, {limit}, 1), {slot(x())}, {flag(arena(), 0)}),
        makeStep(branches, {flag(arena(), 0)}),
        makeStep(call(mixKernel, {3}), {slot(x()), slot(y())}, {slot(x())})};
    values.clear();
    stopEverywhere();
  }
}

TEST_F(ResumeTest, ALoopGoesOnInItsTrip) {
  for (int64_t limit : {0, 2, 3, 60}) {
    data.steps = {makeDoubling(limit),
                  makeStep(call(mixKernel, {2}), {slot(result()), slot(y())},
                           {slot(result())})};
    values.clear();
    stopEverywhere();
  }
}

/// As often as y's first element stays under 10, x is doubled until its first
/// one is at least 4, and y becomes y * 2 and that.
TEST_F(ResumeTest, ALoopInALoopGoesOn) {
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
  inner.carries[0].settles = true;
  int64_t doubled = inner.carries[0].current;
  inner.condition = {
      makeStep(call(lessKernel, {4}, 1), {slot(doubled)}, {flag(arena(), 1)})};
  inner.body = {makeStep(longCall(scaleKernel, {2}), {slot(doubled)},
                         {slot(inner.carries[0].next)})};
  outer.condition = {
      makeStep(call(lessKernel, {10}, 1), {slot(sum)}, {flag(arena(), 0)})};
  outer.body = {makeStep(inner, {flag(arena(), 1)}),
                makeStep(longCall(mixKernel, {2}), {slot(sum), slot(doubled)},
                         {slot(outer.carries[0].next)})};
  data.steps = {
      makeStep(outer, {flag(arena(), 0)}),
      makeStep(call(scaleKernel, {1}), {slot(sum)}, {slot(result())})};
  stopEverywhere();
}

/// Rows are added to what is carried, from the last one on, and made of the
/// sums by a loop inside, whose rows are single numbers of them.
TEST_F(ResumeTest, ALoopOverRowsGoesOnAtItsRow) {
  constexpr int64_t trips = 3, number = sizeof(float);
  data.arguments = {kBytes, trips * kBytes};
  data.results.resize(2);
  data.results[0] = {data.getResult(0), trips * kBytes};
  data.results[1] = {data.getResult(1), kBytes};
  data.pointers = {kBytes, kBytes, kBytes, kBytes, number, number};
  auto pointer = [&](int64_t i) { return data.getPointer(i); };
  For inner;
  inner.trips = kElements;
  inner.rows = {{pointer(4), slot(pointer(1)), false},
                {pointer(5), slot(pointer(3)), true}};
  inner.body = {makeStep(longCall(scaleKernel, {3}, 1),
                         {slot(pointer(4), 0, number)},
                         {slot(pointer(5), 0, number)})};
  For outer;
  outer.trips = trips;
  outer.isReverse = true;
  Carry &carry = outer.carries.emplace_back();
  carry.current = pointer(0);
  carry.next = pointer(1);
  carry.initial = slot(x());
  carry.even = slot(data.getResult(1));
  carry.odd = slot(arena(), 64);
  carry.settles = true;
  outer.rows = {{pointer(2), slot(y(), 0, trips * kBytes), false},
                {pointer(3), slot(result(), 0, trips * kBytes), true}};
  outer.body = {makeStep(longCall(mixKernel, {2}),
                         {slot(pointer(0)), slot(pointer(2))},
                         {slot(pointer(1))}),
                makeStep(inner, {})};
  data.steps = {makeStep(outer, {})};
  stopEverywhere();
}

TEST_F(ResumeTest, CallsBesideOthersGoOn) {
  // Each is one step, so the four run side by side.
  data.results = {{x(), kBytes}, {y(), kBytes}};
  std::vector<Slot> places = {slot(x()), slot(y()), slot(arena(), 64),
                              slot(arena(), 128)};
  data.steps = {
      makeStep(call(addKernel), {slot(x()), slot(y())}, {places[2]}),
      makeStep(call(mixKernel, {3}), {slot(x()), slot(y())}, {places[3]})};
  for (const Slot &place : places)
    data.steps.push_back(
        makeStep(longCall(mixAllKernel, {3}, 1), {place, place}, {place}));
  for (int64_t i : {0, 1})
    data.steps.push_back(makeStep(call(mixKernel, {2}),
                                  {places[i], places[i + 2]}, {places[i]}));
  stopEverywhere();
}

TEST_F(ResumeTest, CopiesGoOn) {
  // More blocks than are copied between two questions.
  constexpr int64_t rows = 3, row = (int64_t(10) << 20) + 4;
  data.arguments = {rows * row, kBytes};
  data.results = {{data.getResult(0), 2 * rows * row}};
  Copies copies = {
      {0, 4, {{rows, 2 * rows, 0, -1}, {row / 4, row / 4, 0, -1}}},
      {0, 4, {{rows, 2 * rows, rows, -1}, {row / 4, row / 4, 0, -1}}}};
  data.steps = {makeStep(copies, {slot(x(), 0, rows * row)},
                         {slot(result(), 0, 2 * rows * row)})};
  program = compile();
  values = {makeValues(rows * row / 4), makeValues(kElements)};
  ProgramRun run = prepareRun();
  std::atomic<unsigned> asked = 0;
  EXPECT_GE(finish(run, [&] { return ++asked % 3 == 0; }), 3u);
  auto *copied = static_cast<const float *>(run.results[0]->data());
  EXPECT_TRUE(std::equal(values[0].begin(), values[0].end(), copied));
  EXPECT_TRUE(std::equal(values[0].begin(), values[0].end(),
                         copied + values[0].size()));
}

TEST_F(ResumeTest, SortsOfManyLinesGoOn) {
  constexpr int64_t lines = 200, extent = 33;
  constexpr int64_t bytes = lines * extent * int64_t(sizeof(float));
  for (bool isInner : {false, true}) {
    data.arguments = {bytes};
    data.results = {{data.getResult(0), bytes}, {data.getResult(1), 2 * bytes}};
    RoutineCall sort =
        makeSortCall(isInner ? 1 : lines, extent, isInner ? lines : 1,
                     /*givesIndices=*/true);
    data.arenaBytes = sort.getEstimate().scratchBytes;
    data.steps = {makeStep(sort, {slot(0, 0, bytes)},
                           {slot(data.getResult(0), 0, bytes),
                            slot(data.getResult(1), 0, 2 * bytes),
                            slot(arena(), 0, data.arenaBytes)})};
    values.clear();
    stopEverywhere();
  }
}

/// What is packed of the same weights is made once, by a run that goes on too,
/// and is not made again by one that was stopped where another has made it.
TEST_F(ResumeTest, PackedResultsAreMadeOnce) {
  // Several would ask more or less often.
  threads.setThreads(1);
  data.packed = {{640, kBytes}};
  data.steps = {makeStep(longCall(scaleKernel, {3}), {slot(y())},
                         {slot(data.getPacked(0))}),
                makeStep(longCall(mixKernel, {2}),
                         {slot(data.getPacked(0)), slot(x())},
                         {slot(result())})};
  program = compile();
  BufferRef weights = makeBuffer(makeValues(kElements));
  std::vector<float> input = makeValues(kElements);
  auto prepareKept = [&](BufferRef &own) {
    ProgramRun run = llvm::cantFail(
        program->prepare({makeBuffer(input), weights}, memory, own));
    program->keepPacked(run, memory);
    return run;
  };
  ProgramRun first = prepareKept(scratch);
  finish(first, [] { return false; });
  std::vector<float> expected = read(*first.results[0].get());
  for (int64_t stop = 1; stop <= 12; ++stop) {
    // A new program has kept nothing.
    program = compile();
    ProgramRun seen = prepareKept(scratch);
    finish(seen, [] { return false; });
    BufferRef own;
    ProgramRun stopped = prepareKept(own), other = prepareKept(scratch);
    ASSERT_TRUE(stopped.packed[0].copy && other.packed[0].copy);
    int64_t asked = 0;
    llvm::Error error = program->execute(
        stopped, threads, [&] { return ++asked == stop; }, nullptr);
    EXPECT_TRUE(error.isA<Interrupted>());
    llvm::consumeError(std::move(error));
    finish(other, [] { return false; });
    EXPECT_EQ(read(*other.results[0].get()), expected);
    finish(stopped, [] { return false; });
    EXPECT_EQ(read(*stopped.results[0].get()), expected) << stop;
  }
}

TEST_F(ResumeTest, AFailureAfterAStopSaysWhere) {
  threads.setThreads(1);
  data.arguments = {kBytes, 2 * sizeof(int64_t)};
  Step step = makeDoubling(1000);
  If isLate;
  isLate.onFalse = {
      makeStep(Check{{0, 3, false}, ""}, {number(y()), number(y(), 8)})};
  auto &loop = std::get<While>(step.action);
  loop.body.push_back(makeStep(call(lessKernel, {2}, 1),
                               {slot(loop.carries[0].current)},
                               {flag(arena(), 1)}));
  loop.body.push_back(makeStep(isLate, {flag(arena(), 1)}));
  data.steps = {step};
  program = compile();
  BufferRef indices = memory.allocate(2 * sizeof(int64_t));
  static_cast<int64_t *>(indices->data())[0] = 0;
  static_cast<int64_t *>(indices->data())[1] = 7;
  ProgramRun run = llvm::cantFail(program->prepare(
      {makeBuffer({1, 1, 1, 1, 1}), indices}, memory, scratch));
  uint32_t asked = 0, stops = 0;
  for (bool hasFailed = false; !hasFailed;)
    llvm::handleAllErrors(
        program->execute(
            run, threads, [&] { return isChosen(++asked); }, nullptr),
        [&](const Interrupted &) { ++stops; },
        [&](const KernelFailure &failure) {
          EXPECT_EQ(failure.getCall(), 5u);
          EXPECT_EQ(failure.getTrips().vec(), std::vector<int64_t>{1});
          hasFailed = true;
        });
  EXPECT_GE(stops, 1u);
  EXPECT_FALSE(run.progress.hasBegun());
}

TEST_F(ResumeTest, TimesAreOfAllParts) {
  threads.setThreads(1);
  data.steps = {
      makeStep(longCall(addKernel), {slot(x()), slot(y())}, {slot(result())})};
  program = compile();
  values = {makeValues(kElements), makeValues(kElements)};
  ProgramRun run = prepareRun();
  std::vector<CallTime> times;
  int64_t asked = 0;
  while (llvm::Error error = program->execute(
             run, threads, [&] { return ++asked % 3 == 0; }, &times))
    llvm::consumeError(std::move(error));
  ASSERT_EQ(times.size(), 1u);
  EXPECT_GE(times[0].statistics.runs, 2);
}

} // namespace
