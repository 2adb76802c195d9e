//===- ForStepTest.cpp - Loops over rows ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop adds rows of the second argument to what it carries, from the first
// argument on, and makes rows of twice what it carries then. Rows have 20
// bytes, so that hardly one begins where a line does.
//
//===----------------------------------------------------------------------===//

#include "StepsFixture.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

using namespace metaops;

namespace {

class ForStepTest : public StepsFixture {
protected:
  int64_t pointer(int64_t number) { return data.getPointer(number); }
  int64_t last() { return data.getResult(1); }

  /// Results are the rows that are made, and the last carry. With `isCounted` a
  /// third argument says how many trips there are.
  Step makeSums(int64_t trips, bool isReverse, bool isCounted = false) {
    data.arguments = {kBytes, trips * kBytes};
    if (isCounted)
      data.arguments.push_back(sizeof(int64_t));
    data.results.resize(2);
    data.results[0] = {data.getResult(0), trips * kBytes};
    data.results[1] = {data.getResult(1), kBytes};
    data.pointers = {kBytes, kBytes, kBytes, kBytes};
    For loop;
    loop.trips = trips;
    loop.isReverse = isReverse;
    loop.carries = {makeCarry()};
    loop.rows = {{pointer(2), slot(y(), 0, trips * kBytes), false},
                 {pointer(3), slot(result(), 0, trips * kBytes), true}};
    loop.body = {makeStep(call(addKernel), {slot(pointer(0)), slot(pointer(2))},
                          {slot(pointer(1))}),
                 makeStep(call(scaleKernel, {2}), {slot(pointer(1))},
                          {slot(pointer(3))})};
    Step step = makeStep(std::move(loop), {});
    if (isCounted) {
      step.buffers = {number(2)};
      step.numInputs = 1;
    }
    return step;
  }
  Carry makeCarry() {
    Carry carry;
    carry.current = pointer(0);
    carry.next = pointer(1);
    carry.initial = slot(x());
    carry.even = slot(last());
    carry.odd = slot(arena(), 64);
    carry.settles = true;
    return carry;
  }

  std::vector<std::vector<float>> runAll(std::vector<BufferRef> arguments) {
    llvm::SmallVector<BufferRef> results;
    llvm::cantFail(compile()->run(arguments, results, memory, threads));
    std::vector<std::vector<float>> values;
    for (const BufferRef &buffer : results) {
      auto *begin = static_cast<const float *>(buffer->data());
      values.emplace_back(begin, begin + buffer->bytes() / sizeof(float));
    }
    return values;
  }

  /// Returns what is wrong with a loop of four rows that was changed.
  std::string findProblem(const std::function<void(For &, Step &)> &change) {
    Step step = makeSums(4, /*isReverse=*/false);
    change(std::get<For>(step.action), step);
    data.steps = {step};
    return StepsFixture::findProblem();
  }
};

TEST_F(ForStepTest, RowsAreTakenAndMade) {
  for (int64_t trips : {0, 1, 2, 3, 7})
    for (bool isReverse : {false, true}) {
      data.steps = {makeSums(trips, isReverse)};
      std::vector<float> carry = {1, 2, 3, 4, 5}, rows(trips * kElements),
                         made(trips * kElements);
      for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = static_cast<float>(i * i % 17);
      std::vector<BufferRef> arguments = {makeBuffer(carry), makeBuffer(rows)};
      for (int64_t trip = 0; trip < trips; ++trip) {
        int64_t row = (isReverse ? trips - 1 - trip : trip) * kElements;
        for (int64_t i = 0; i < kElements; ++i) {
          carry[i] += rows[row + i];
          made[row + i] = 2 * carry[i];
        }
      }
      EXPECT_EQ(runAll(arguments),
                (std::vector<std::vector<float>>{made, carry}))
          << trips << isReverse;
    }
}

TEST_F(ForStepTest, ANumberSaysHowManyRows) {
  constexpr int64_t kMost = 4;
  for (bool isReverse : {false, true})
    for (int64_t count :
         {std::numeric_limits<int64_t>::min(), int64_t(0), int64_t(1),
          int64_t(3), int64_t(4), std::numeric_limits<int64_t>::max()}) {
      data.steps = {makeSums(kMost, isReverse, /*isCounted=*/true)};
      BufferRef trips = memory.allocate(sizeof(count));
      std::memcpy(trips->data(), &count, sizeof(count));
      std::vector<float> carry(kElements), rows(kMost * kElements, 1);
      for (int64_t row = 0; row < kMost; ++row)
        rows[row * kElements] = static_cast<float>(row);
      auto results = runAll({makeBuffer(carry), makeBuffer(rows), trips});
      int64_t made = std::clamp<int64_t>(count, 0, kMost);
      for (int64_t trip = 0; trip < made; ++trip) {
        int64_t row = (isReverse ? made - 1 - trip : trip) * kElements;
        for (int64_t i = 0; i < kElements; ++i) {
          carry[i] += rows[row + i];
          EXPECT_EQ(results[0][row + i], 2 * carry[i]) << count << isReverse;
        }
      }
      EXPECT_EQ(results[1], carry) << count << isReverse;
    }
}

TEST_F(ForStepTest, ANumberSaysHowOften) {
  Step step = makeSums(0, /*isReverse=*/false);
  data.arguments = {kBytes, sizeof(int64_t)};
  auto &loop = std::get<For>(step.action);
  loop.trips = std::nullopt;
  loop.rows.clear();
  loop.body = {
      makeStep(call(scaleKernel, {2}), {slot(pointer(0))}, {slot(pointer(1))})};
  step.buffers = {number(y())};
  step.numInputs = 1;
  data.steps = {step};
  for (int64_t count : {std::numeric_limits<int64_t>::min(), int64_t(-1),
                        int64_t(0), int64_t(1), int64_t(5)}) {
    BufferRef trips = memory.allocate(sizeof(count));
    std::memcpy(trips->data(), &count, sizeof(count));
    auto factor = static_cast<float>(1 << std::max<int64_t>(count, 0));
    EXPECT_EQ(runAll({makeBuffer({1, 2, 3, 4, 5}), trips})[1],
              (std::vector<float>{factor, 2 * factor, 3 * factor, 4 * factor,
                                  5 * factor}));
  }
}

TEST_F(ForStepTest, ALoopWithoutEndIsStopped) {
  // Nothing in it asks.
  For loop;
  loop.trips = std::numeric_limits<int64_t>::max();
  data.steps = {makeStep(loop, {})};
  auto program = compile();
  BufferRef scratch;
  ProgramRun run = llvm::cantFail(program->prepare(
      {makeBuffer({1, 1, 1, 1, 1}), makeBuffer({1, 1, 1, 1, 1})}, memory,
      scratch));
  int asked = 0;
  llvm::Error error =
      program->execute(run, threads, [&] { return ++asked == 1000; }, nullptr);
  EXPECT_TRUE(error.isA<Interrupted>());
  llvm::consumeError(std::move(error));
}

TEST_F(ForStepTest, RowsAreInMemory) {
  EXPECT_EQ(findProblem([](For &, Step &) {}), "");
  auto expect = [&](const char *problem,
                    const std::function<void(For &, Step &)> &change) {
    EXPECT_NE(findProblem(change).find(problem), std::string::npos)
        << problem << ": " << findProblem(change);
  };
  static constexpr int64_t kMany = int64_t(1) << 62;
  for (int64_t trips : {int64_t(5), kMany, std::numeric_limits<int64_t>::max()})
    expect("has more rows than there is memory",
           [&](For &loop, Step &) { loop.trips = trips; });
  expect("has no number of trips", [](For &loop, Step &) { loop.trips = -1; });
  expect("has no number of trips",
         [](For &loop, Step &) { loop.trips = std::nullopt; });
  expect("has no number of trips", [&](For &, Step &step) {
    step.buffers = {slot(y())};
    step.numInputs = 1;
  });
  expect("has trips of a negative number",
         [](For &loop, Step &) { loop.firstTrip = -1; });
  expect("has trips of a negative number",
         [](For &loop, Step &) { loop.blockTrips = -kMany; });
  // A number bounds the trips, but not the rows.
  expect("has more rows than there is memory", [&](For &loop, Step &step) {
    step.buffers = {number(y())};
    step.numInputs = 1;
    loop.trips = 5;
  });
  expect("has rows by pointers that cannot be set",
         [&](For &loop, Step &) { loop.rows[0].entry = x(); });
  expect("has rows by pointers that cannot be set",
         [&](For &loop, Step &) { loop.rows[0].entry = pointer(3); });
  expect("carries by pointers that cannot be set",
         [&](For &loop, Step &) { loop.rows[0].entry = pointer(0); });
  for (int64_t entry : {int64_t(-1), kMany, pointer(1000), pointer(2)})
    expect("has rows of memory that is not there",
           [&](For &loop, Step &) { loop.rows[0].whole.entry = entry; });
  for (int64_t offset : {int64_t(-1), int64_t(4), kMany})
    expect("has rows of memory that is not there",
           [&](For &loop, Step &) { loop.rows[0].whole.offset = offset; });
  expect("makes rows in memory that is not to be written",
         [&](For &loop, Step &) { loop.rows[0].areMade = true; });
  expect("makes rows in memory that is not to be written",
         [&](For &loop, Step &) {
           loop.rows[1].whole = {pointer(2), 0, kBytes};
           loop.trips = 1;
         });
  // Rows that are read are not written.
  expect("writes memory that is not there or not to be written",
         [&](For &loop, Step &) { loop.rows[1].areMade = false; });
}

TEST_F(ForStepTest, PointersEndWithTheLoop) {
  Step step = makeSums(4, /*isReverse=*/false);
  for (int64_t number : {1, 2, 3}) {
    data.steps = {step, makeStep(call(scaleKernel, {2}),
                                 {slot(pointer(number))}, {slot(last())})};
    EXPECT_NE(
        StepsFixture::findProblem().find("reads memory that is not there"),
        std::string::npos);
  }
  data.steps = {step, makeStep(call(scaleKernel, {2}), {slot(pointer(0))},
                               {slot(arena(), 128)})};
  EXPECT_EQ(StepsFixture::findProblem(), "");
}

} // namespace
