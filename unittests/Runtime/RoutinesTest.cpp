//===- RoutinesTest.cpp - Tests of routines and of their registry ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SortCalls.h"
#include "StepsFixture.h"

#include <cstring>
#include <limits>

using namespace metaops;

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
/// Numbers of the second argument, which is not read.
const std::vector<float> kOther(kElements);

std::string failureOf(const Routine &routine) {
  return toString(verifyRoutine(routine));
}

bool contains(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

TEST(RoutineTest, TensorsAreCountedInBytes) {
  EXPECT_EQ(countBytes(makeDenseTensor("", DType::F64, {3, 5})), 120);
  EXPECT_EQ(countBytes(makeDenseTensor("", DType::F32, {})), 4);
  EXPECT_EQ(countBytes(makeDenseTensor("", DType::I64, {4, 0})), 0);
  RoutineTensor columns{"", DType::F32, {3, 2}, {8, 1}};
  EXPECT_EQ(countBytes(columns), (2 * 8 + 1 + 1) * 4);
  EXPECT_FALSE(columns.isDense());
  // Strides of dimensions of one element do not matter.
  EXPECT_TRUE((RoutineTensor{"", DType::F32, {1, 2}, {77, 1}}.isDense()));
}

TEST(RoutineTest, ImpossibleTensorsHaveNoBytes) {
  const RoutineTensor impossible[] = {
      {"", DType::F32, {-1}, {1}},
      {"", DType::F32, {2}, {-1}},
      {"", DType::F32, {2}, {}},
      {"", DType::F32, {kMost}, {1}},
      {"", DType::F32, {2, 2}, {kMost, kMost}},
      {"", DType::F32, {kMost / 2, 0, kMost / 2}, {1, 1, 1}},
      {"", DType::F32, {1 << 30, 1 << 30, 1 << 30}, {0, 0, 0}},
      {"", static_cast<DType>(99), {2}, {1}}};
  for (const RoutineTensor &tensor : impossible)
    EXPECT_EQ(countBytes(tensor), std::nullopt);
}

TEST(RoutineTest, ResultsHaveAPlaceForEachElement) {
  Routine routine;
  routine.name = "any";
  routine.operands = {makeDenseTensor("x", DType::F32, {4, 4})};
  RoutineTensor result{"y", DType::F32, {4, 4}, {1, 4}};
  routine.results = {result};
  EXPECT_EQ(failureOf(routine), "");
  // Operands may be read as often as somebody likes.
  routine.operands[0].strides = {0, 1};
  EXPECT_EQ(failureOf(routine), "");
  for (std::vector<int64_t> strides :
       {std::vector<int64_t>{0, 1}, {1, 1}, {3, 1}, {1, 3}, {2, 1}}) {
    routine.results[0].strides = strides;
    EXPECT_TRUE(contains(failureOf(routine), "two elements in one place"));
  }
}

TEST(RoutineTest, ResultsAreMadeOverOperandsThatAreLikeThem) {
  Routine routine;
  routine.operands = {makeDenseTensor("x", DType::F32, {4}),
                      makeDenseTensor("n", DType::I64, {4})};
  routine.results = {makeDenseTensor("y", DType::F32, {4}),
                     makeDenseTensor("z", DType::F32, {4})};
  routine.results[0].over = 0;
  EXPECT_EQ(failureOf(routine), "");
  for (int64_t over : {-2, 1, 2}) {
    routine.results[0].over = over;
    EXPECT_TRUE(contains(failureOf(routine), "not like it")) << over;
  }
  // Two results would be in one place.
  routine.results[0].over = routine.results[1].over = 0;
  EXPECT_TRUE(contains(failureOf(routine), "not like it"));
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

/// Doubles a vector, in its place where it may, and fails on numbers below 0.
class Doubling : public RoutineImplementation {
public:
  Doubling(std::string library, int64_t most, int64_t scratchBytes = 0)
      : library(std::move(library)), most(most), scratchBytes(scratchBytes) {}

  llvm::StringRef getRoutine() const override { return "double"; }
  llvm::StringRef getLibrary() const override { return library; }
  llvm::StringRef getVersion() const override { return "3"; }
  llvm::Error accept(const Routine &routine) const override {
    if (routine.operands.front().countElements() <= most)
      return llvm::Error::success();
    return llvm::createStringError("it is too long");
  }
  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    struct Plan : RoutinePlan {
      Plan(RoutineEstimate estimate, int64_t count)
          : RoutinePlan(estimate), count(count) {}
      llvm::Expected<std::optional<int64_t>>
      run(const RoutineRun &run) const override {
        const auto *x = static_cast<const float *>(run.operands[0]);
        auto *y = static_cast<float *>(run.results[0]);
        if (int64_t bytes = getEstimate().scratchBytes)
          std::memset(run.scratch, 0xff, bytes);
        for (int64_t i = 0; i < count; ++i) {
          if (x[i] < 0)
            return llvm::createStringError("a number is below 0");
          y[i] = 2 * x[i];
        }
        return std::nullopt;
      }
      int64_t count;
    };
    RoutineEstimate estimate;
    estimate.scratchBytes = scratchBytes;
    estimate.mayFail = true;
    return std::make_shared<Plan>(estimate,
                                  routine.operands.front().countElements());
  }

private:
  std::string library;
  int64_t most, scratchBytes;
};

Routine makeRoutine(int64_t count = kElements) {
  Routine routine;
  routine.name = "double";
  routine.operands = {makeDenseTensor("x", DType::F32, {count})};
  routine.results = {makeDenseTensor("y", DType::F32, {count})};
  return routine;
}

TEST(RoutineRegistryTest, TheFirstThatTakesARoutineComputesIt) {
  RoutineRegistry registry;
  registry.add(std::make_shared<Doubling>("patient", kMost / 1024));
  registry.add(std::make_shared<Doubling>("quick", 8));
  auto libraryOf = [&](int64_t count, llvm::StringRef library = "") {
    return llvm::cantFail(registry.plan(makeRoutine(count), library))
        .implementation->getLibrary();
  };
  EXPECT_EQ(libraryOf(5), "quick");
  EXPECT_EQ(libraryOf(9), "patient");
  EXPECT_EQ(libraryOf(5, "patient"), "patient");
  EXPECT_EQ(registry.describe(), "double by quick 3\ndouble by patient 3\n");
  // One of the same library replaces it.
  registry.add(std::make_shared<Doubling>("quick", 16));
  EXPECT_EQ(libraryOf(9), "quick");
  EXPECT_EQ(registry.list().size(), 2u);
}

TEST(RoutineRegistryTest, RefusalsSayWhoAndWhy) {
  RoutineRegistry registry;
  registry.add(std::make_shared<Doubling>("quick", 8));
  auto problemOf = [&](const Routine &routine, llvm::StringRef library = "") {
    return toString(registry.plan(routine, library).takeError());
  };
  EXPECT_EQ(problemOf(makeRoutine(9)),
            "the routine 'double' is taken by nobody: quick 3: it is too long");
  EXPECT_EQ(
      problemOf(makeRoutine(), "slow"),
      "the routine 'double' of slow is not there; it is there of quick 3");
  Routine unknown = makeRoutine();
  unknown.name = "halve";
  EXPECT_EQ(problemOf(unknown), "the routine 'halve' is not there");
  Routine impossible = makeRoutine();
  impossible.operands[0].shape = {-5};
  EXPECT_TRUE(contains(problemOf(impossible), "of an impossible size"));
}

TEST(RoutineRegistryTest, SortsOfOtherThingsAreRefused) {
  auto registry = createHostRoutines();
  auto isTaken = [&](const Routine &routine) {
    auto planned = registry->plan(routine);
    if (!planned)
      llvm::consumeError(planned.takeError());
    return bool(planned);
  };
  const Routine sort = makeSort(2, 6, 3, 4, /*givesIndices=*/true);
  ASSERT_TRUE(isTaken(sort));
  std::vector<Routine> others(12, sort);
  others[0].attributes.clear();
  others[1].attributes[0].values = RoutineAttribute::Integers{3};
  others[2].attributes[0].values = RoutineAttribute::Integers{-1};
  others[3].attributes[1].values = RoutineAttribute::Floats{1.0};
  others[4].operands[0].strides = {1, 2, 12};
  others[5].results[0].shape = {2, 7, 3};
  others[6].results[1].dtype = DType::I32;
  others[7].results.pop_back();
  others[7].results.pop_back();
  others[8].results[0].role = "elements";
  others[9].operands.clear();
  others[10].operands.push_back(makeDenseTensor("begin", DType::I32, {}));
  others[11].results[1].shape = {2, 4, 2};
  for (auto [number, routine] : llvm::enumerate(others))
    EXPECT_FALSE(isTaken(routine)) << number;
}

//===----------------------------------------------------------------------===//
// Steps that call routines
//===----------------------------------------------------------------------===//

class RoutineStepTest : public StepsFixture {
protected:
  RoutineStepTest() {
    registry.add(std::make_shared<Doubling>("test", kMost / 1024, 200));
    data.steps = {makeStep(makeCall(), {slot(x())},
                           {slot(result()), slot(arena(), 128, 200)})};
  }

  RoutineCall makeCall(bool isOver = false) {
    Routine routine = makeRoutine();
    if (isOver)
      routine.results[0].over = 0;
    auto planned = llvm::cantFail(registry.plan(routine));
    return {routine, "test", "3", planned.plan};
  }
  Step &step() { return data.steps.front(); }

  RoutineRegistry registry;
};

TEST_F(RoutineStepTest, RunsInMemoryOfItsOwn) {
  EXPECT_EQ(findProblem(), "");
  EXPECT_EQ(run({1, 2, 3, 4, 5}, kOther), (std::vector<float>{2, 4, 6, 8, 10}));
}

TEST_F(RoutineStepTest, FailsWithItsMessage) {
  auto result = tryRun({1, 2, -3, 4, 5}, kOther);
  EXPECT_EQ(toString(result.takeError()), "a number is below 0");
}

TEST_F(RoutineStepTest, IsMadeOverTheOperandThatItNames) {
  data.arenaBytes = 1024;
  data.steps = {
      makeStep(call(scaleKernel, {3}), {slot(x())}, {slot(arena(), 0)}),
      makeStep(makeCall(/*isOver=*/true), {slot(arena(), 0)},
               {slot(arena(), 0), slot(arena(), 128, 200)}),
      makeStep(call(scaleKernel, {1}), {slot(arena(), 0)}, {slot(result())})};
  EXPECT_EQ(findProblem(), "");
  EXPECT_EQ(run({1, 2, 3, 4, 5}, kOther),
            (std::vector<float>{6, 12, 18, 24, 30}));
  std::get<RoutineCall>(data.steps[1].action).routine.results[0].over = -1;
  EXPECT_TRUE(contains(findProblem(), "overlap"));
}

TEST_F(RoutineStepTest, HostileCallsAreRefused) {
  const Step sound = step();
  auto expect = [&](llvm::StringRef problem) {
    EXPECT_TRUE(contains(findProblem(), problem)) << findProblem();
    step() = sound;
  };
  auto routine = [&]() -> Routine & {
    return std::get<RoutineCall>(step().action).routine;
  };
  std::get<RoutineCall>(step().action).plan = nullptr;
  expect("does not exist");
  step().buffers.pop_back();
  expect("does not exist");
  step().numInputs = 2;
  expect("does not exist");
  routine().results.clear();
  expect("does not exist");
  step().buffers[0].bytes -= 4;
  expect("of other sizes");
  step().buffers[1].row = step().buffers[1].pitch = 4;
  expect("of other sizes");
  routine().operands[0].strides = {kMost};
  expect("of other sizes");
  routine().operands[0].strides = {2};
  expect("of other sizes");
  step().buffers[2].bytes = 199;
  expect("without scratch memory");
  step().buffers[2].offset = 130;
  expect("without scratch memory");
  step().buffers[2] = slot(y(), 0, 0);
  expect("without scratch memory");
  step().buffers[2] = slot(arena(), 960, 200);
  expect("memory that is not there");
  step().buffers[1] = slot(x());
  expect("overlap");
  step().buffers[0] = slot(arena(), 140);
  expect("overlap");
}

TEST_F(RoutineStepTest, ArgumentsAreOverwrittenBehindWhatMayFail) {
  data.steps.insert(data.steps.begin(),
                    makeStep(call(scaleKernel, {3}), {slot(y())}, {slot(y())}));
  EXPECT_TRUE(contains(findProblem(), "may fail when an argument has been"));
  std::swap(data.steps[0], data.steps[1]);
  EXPECT_EQ(findProblem(), "");
}

/// Memory behind a pointer is known when the routine runs.
TEST_F(RoutineStepTest, BuffersBehindPointersAreCompared) {
  data.pointers = {kBytes};
  int64_t pointer = data.getPointer(0);
  for (bool isApart : {true, false}) {
    Slot seen = isApart ? slot(arena(), 512) : slot(result());
    data.steps = {makeStep(call(scaleKernel, {1}), {slot(x())}, {seen}),
                  makeStep(View{pointer}, {seen}),
                  makeStep(makeCall(), {slot(pointer)},
                           {slot(result()), slot(arena(), 128, 200)})};
    EXPECT_EQ(findProblem(), "");
    auto made = tryRun({1, 2, 3, 4, 5}, kOther);
    EXPECT_EQ(bool(made), isApart);
    if (!made)
      EXPECT_EQ(toString(made.takeError()),
                "the routine 'double' is called on buffers that overlap");
  }
}

TEST_F(RoutineStepTest, IsReadByTheNamesOfTheRoutineAndTheLibrary) {
  auto &call = std::get<RoutineCall>(step().action);
  call.routine.attributes = {
      {"numbers", RoutineAttribute::Integers{1, -2}},
      {"scales", RoutineAttribute::Floats{0.5, -kMost * 2.0}},
      {"texts", RoutineAttribute::Texts{"a", ""}}};
  ProgramInfo info;
  info.calls.resize(1);
  std::string bytes = writeProgram(data, info);
  auto noKernel = [](llvm::StringRef) { return nullptr; };
  auto program = llvm::cantFail(readProgram(bytes, noKernel, registry));
  EXPECT_EQ(writeProgram(program.data, program.info), bytes);
  data = program.data;
  EXPECT_EQ(run({1, 2, 3, 4, 5}, kOther), (std::vector<float>{2, 4, 6, 8, 10}));
  RoutineRegistry others;
  others.add(std::make_shared<Doubling>("another", kMost / 1024));
  auto refused = readProgram(bytes, noKernel, others);
  EXPECT_EQ(toString(refused.takeError()),
            "a program has the routine 'double' of test is not there; it is "
            "there of another 3");
}

/// Another version of a library may take more scratch memory than the file has.
TEST_F(RoutineStepTest, ScratchMemoryGrowsWithTheLibrary) {
  ProgramInfo info;
  info.calls.resize(1);
  std::string bytes = writeProgram(data, info);
  registry.add(std::make_shared<Doubling>("test", kMost / 1024, 5000));
  auto noKernel = [](llvm::StringRef) { return nullptr; };
  auto program = llvm::cantFail(readProgram(bytes, noKernel, registry));
  EXPECT_EQ(program.data.arenaBytes, 1024 + 5000);
  data = program.data;
  EXPECT_EQ(run({1, 2, 3, 4, 5}, kOther), (std::vector<float>{2, 4, 6, 8, 10}));
}

} // namespace
