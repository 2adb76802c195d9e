//===- CpuProgramTest.cpp - Programs for the CPU --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/CpuCompiler.h"
#include "PackedProduct.h"

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <vector>

using namespace metaops;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

class CpuProgramTest : public ::testing::Test {
protected:
  llvm::Expected<std::shared_ptr<Program>>
  compile(StringRef text, ArrayRef<bool> donatable = {}) {
    return compiler->compile(text, donatable, CompileOptions());
  }

  std::string failureOf(StringRef text, CompileOptions options = {}) {
    auto program = compiler->compile(text, {}, options);
    return program ? "no failure" : llvm::toString(program.takeError());
  }

  BufferRef makeBuffer(ArrayRef<float> values) {
    BufferRef buffer = memory.allocate(values.size() * sizeof(float));
    std::copy(values.begin(), values.end(), getData(buffer));
    return buffer;
  }
  static float *getData(const BufferRef &buffer) {
    return static_cast<float *>(buffer->data());
  }

  std::unique_ptr<Compiler> compiler = createCpuCompiler();
  Allocator memory;
  ThreadPool threads;
  llvm::SmallVector<BufferRef> results;
};

constexpr StringRef square =
    "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "  %0 = metaop.mul %x, %x : tensor<3xf32>\n"
    "  return %0 : tensor<3xf32>\n}\n";

TEST_F(CpuProgramTest, RunsAnyNumberOfTimes) {
  auto program = llvm::cantFail(compile(square));
  for (float x : {1.0f, 2.0f, 3.0f}) {
    results.clear();
    llvm::cantFail(
        program->run({makeBuffer({x, x, 2 * x})}, results, memory, threads));
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(getData(results[0])[0], x * x);
    EXPECT_EQ(getData(results[0])[2], 4 * x * x);
  }
}

TEST_F(CpuProgramTest, AnotherNumberOfArgumentsIsAnError) {
  auto program = llvm::cantFail(compile(square));
  BufferRef x = makeBuffer({1, 2, 3});
  EXPECT_EQ(toString(program->run({}, results, memory, threads)),
            "the program takes 1 arguments, given 0");
  EXPECT_EQ(toString(program->run({x, x}, results, memory, threads)),
            "the program takes 1 arguments, given 2");
  EXPECT_TRUE(results.empty());
}

/// x is added to itself until its largest element is 10 or more. The loop is in
/// a region as the session records them.
constexpr StringRef whileSmall =
    "func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<i64>) {\n"
    "  %0:2 = scf.execute_region -> (tensor<3xf32>, tensor<i64>) {\n"
    "    %zero = metaop.constant dense<0> : tensor<i64>\n"
    "    %one = metaop.constant dense<1> : tensor<i64>\n"
    "    %ten = metaop.constant dense<10.0> : tensor<f32>\n"
    "    %r:2 = scf.while (%y = %x, %n = %zero) : (tensor<3xf32>, tensor<i64>) "
    "-> (tensor<3xf32>, tensor<i64>) {\n"
    "      %top = metaop.reduce max %y dims = [0] : tensor<3xf32> -> "
    "tensor<f32>\n"
    "      %isLess = metaop.cmp lt %top, %ten : tensor<f32> -> tensor<i1>\n"
    "      %c = tensor.extract %isLess[] : tensor<i1>\n"
    "      scf.condition(%c) %y, %n : tensor<3xf32>, tensor<i64>\n"
    "    } do {\n"
    "    ^bb0(%y: tensor<3xf32>, %n: tensor<i64>):\n"
    "      %z = metaop.add %y, %y : tensor<3xf32>\n"
    "      %m = metaop.add %n, %one : tensor<i64>\n"
    "      scf.yield %z, %m : tensor<3xf32>, tensor<i64>\n"
    "    }\n"
    "    scf.yield %r#0, %r#1 : tensor<3xf32>, tensor<i64>\n"
    "  }\n"
    "  return %0#0, %0#1 : tensor<3xf32>, tensor<i64>\n}\n";

TEST_F(CpuProgramTest, LoopsRunUntilTheirValuesSayStop) {
  auto program = llvm::cantFail(compile(whileSmall));
  for (float x : {0.5f, 1.0f, 3.0f, 6.0f, 12.0f}) {
    results.clear();
    BufferRef given = makeBuffer({x / 4, x, x / 2});
    llvm::cantFail(program->run({given}, results, memory, threads));
    int64_t trips = 0;
    float expected = x;
    for (; expected < 10; ++trips)
      expected *= 2;
    EXPECT_EQ(getData(results[0])[1], expected);
    EXPECT_EQ(getData(results[0])[0], expected / 4);
    EXPECT_EQ(*static_cast<int64_t *>(results[1]->data()), trips);
    EXPECT_EQ(getData(given)[1], x);
  }
}

TEST_F(CpuProgramTest, ReportsHaveTheStepsOfLoops) {
  auto program = llvm::cantFail(compile(whileSmall));
  BufferRef scratch;
  ProgramRun run = llvm::cantFail(
      program->prepare({makeBuffer({1, 1, 1})}, memory, scratch));
  std::vector<CallTime> times;
  llvm::cantFail(program->execute(run, threads, nullptr, &times));
  const std::vector<KernelInfo> &calls = program->getInfo().calls;
  ASSERT_EQ(calls.size(), times.size());
  auto countRuns = [&](int64_t runs) {
    return llvm::count_if(times, [&](const CallTime &time) {
      return time.statistics.runs == runs;
    });
  };
  // Four trips, and the question five times; constants once.
  EXPECT_EQ(countRuns(4), 2);
  EXPECT_GE(countRuns(5), 1);
  EXPECT_GE(countRuns(1), 1);
  // The loop's time is that of its steps.
  auto loop = llvm::find_if(
      calls, [](const KernelInfo &call) { return call.name == "while"; });
  ASSERT_NE(loop, calls.end());
  EXPECT_FALSE(loop->isKernel);
  EXPECT_EQ(times[loop - calls.begin()].statistics.runs, 0);
}

TEST_F(CpuProgramTest, ALoopWithoutEndIsStopped) {
  auto program = llvm::cantFail(compile(whileSmall));
  BufferRef scratch;
  BufferRef x = makeBuffer({0, -1, -2});
  ProgramRun run = llvm::cantFail(program->prepare({x}, memory, scratch));
  std::atomic<int> questions = 0;
  llvm::Error error =
      program->execute(run, threads, [&] { return ++questions > 2; }, nullptr);
  EXPECT_TRUE(error.isA<Interrupted>());
  llvm::consumeError(std::move(error));
  EXPECT_EQ(getData(x)[1], -1);
}

TEST_F(CpuProgramTest, ADonatedBufferIsTheResult) {
  auto program = llvm::cantFail(compile(square, {true}));
  BufferRef x = makeBuffer({1, 2, 3});
  llvm::cantFail(program->run({x}, results, memory, threads));
  EXPECT_EQ(results[0]->data(), x->data());
  EXPECT_EQ(getData(x)[2], 9.0f);
}

TEST_F(CpuProgramTest, OtherBuffersAreNotWritten) {
  auto program = llvm::cantFail(compile(square, {false}));
  BufferRef x = makeBuffer({1, 2, 3});
  llvm::cantFail(program->run({x}, results, memory, threads));
  EXPECT_NE(results[0]->data(), x->data());
  EXPECT_EQ(getData(x)[2], 3.0f);
}

TEST_F(CpuProgramTest, ArgumentsMayBeResults) {
  auto program = llvm::cantFail(
      compile("func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, "
              "tensor<2x1xf32>) {\n"
              "  %0 = metaop.reshape %x : tensor<2xf32> -> tensor<2x1xf32>\n"
              "  return %x, %0 : tensor<2xf32>, tensor<2x1xf32>\n}\n"));
  BufferRef x = makeBuffer({1, 2});
  llvm::cantFail(program->run({x}, results, memory, threads));
  EXPECT_EQ(results[0]->data(), x->data());
  EXPECT_EQ(results[1]->data(), x->data());
}

TEST_F(CpuProgramTest, TellsWhatItDoes) {
  auto program = llvm::cantFail(
      compile("func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> "
              "(tensor<4xf32>, tensor<4xf32>) {\n"
              "  %0 = metaop.exp %x : tensor<4xf32>\n"
              "  %1 = metaop.stop_fuse %0 : tensor<4xf32>\n"
              "  %2 = metaop.exp %1 : tensor<4xf32>\n"
              "  %3 = metaop.exp %y : tensor<4xf32>\n"
              "  return %2, %3 : tensor<4xf32>, tensor<4xf32>\n}\n"));
  const ProgramInfo &info = program->getInfo();
  EXPECT_EQ(info.metaOps, 4u);
  EXPECT_EQ(info.calls.size(), 3u);
  EXPECT_EQ(info.distinctKernels, 1u);
  EXPECT_EQ(info.compiledKernels, 1u);
  EXPECT_EQ(info.calls[0].bytesRead, 16);
  EXPECT_EQ(info.calls[0].bytesWritten, 16);
  EXPECT_GT(info.compileSeconds, 0);
}

TEST_F(CpuProgramTest, AnotherProgramFindsTheKernel) {
  llvm::cantFail(compile(square));
  auto program = llvm::cantFail(compile(square));
  EXPECT_EQ(program->getInfo().compiledKernels, 0u);
}

TEST_F(CpuProgramTest, SlicesThatCannotBeCompiledAreErrors) {
  EXPECT_EQ(failureOf("func.func @f() {\n  return\n}\n"),
            "the slice has no function @main");
  EXPECT_NE(failureOf("func.func @main(").find("the slice could not be read"),
            std::string::npos);
  EXPECT_NE(failureOf("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                      "  %0 = metaop.absent %x : tensor<2xf32>\n"
                      "  return %0 : tensor<2xf32>\n}\n")
                .find("metaop.absent"),
            std::string::npos);
  CompileOptions options;
  options.rules = "blue";
  EXPECT_NE(failureOf(square, options).find("there are no fusion rules 'blue'"),
            std::string::npos);
}

TEST_F(CpuProgramTest, ShapesAreStatic) {
  EXPECT_EQ(
      failureOf("func.func @main(%x: tensor<?xf32>) -> tensor<f32> {\n"
                "  %0 = metaop.reduce add %x dims = [0] : tensor<?xf32> -> "
                "tensor<f32>\n"
                "  return %0 : tensor<f32>\n}\n"),
      "programs are compiled for tensors of static shape, but argument 0 is "
      "tensor<?xf32>");
  EXPECT_EQ(failureOf("func.func @main(%x: f32) {\n  return\n}\n"),
            "programs are compiled for tensors of static shape, but argument 0 "
            "is f32");
  EXPECT_EQ(failureOf("func.func @main(%x: f32) -> f32 {\n"
                      "  return %x : f32\n}\n"),
            "the slice could not be compiled: -:2:3: 'func.return' op memory "
            "is planned for ranked tensors, but value 0 that the program "
            "returns is 'f32'");
}

TEST_F(CpuProgramTest, MemoryThatIsNotThereIsAnError) {
  // A terabyte for each of many results.
  EXPECT_EQ(failureOf("func.func @main(%x: tensor<f32>) -> "
                      "tensor<4611686018427387904xf32> {\n"
                      "  %0 = metaop.broadcast %x dims = [] : tensor<f32> -> "
                      "tensor<4611686018427387904xf32>\n"
                      "  return %0 : tensor<4611686018427387904xf32>\n}\n")
                    .find("more elements than can be numbered") ==
                std::string::npos,
            false);
  auto program = llvm::cantFail(
      compile("func.func @main(%x: tensor<f32>) -> tensor<1099511627776xf32> {"
              "\n  %0 = metaop.broadcast %x dims = [] : tensor<f32> -> "
              "tensor<1099511627776xf32>\n"
              "  return %0 : tensor<1099511627776xf32>\n}\n"));
  EXPECT_THROW(
      llvm::cantFail(program->run({makeBuffer({1})}, results, memory, threads)),
      OutOfMemory);
}

TEST_F(CpuProgramTest, KernelsAreTakenAsTheyAreScheduled) {
  std::string schedule =
      "schedule(#metaop.schedule<[step(0, 2)], tile = [0: 2], lanes = 0: 2>)";
  std::string text =
      "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
      "  %k = metaop.kernel(%a = %x : tensor<3xf32>) -> tensor<3xf32> {\n"
      "    %f = metaop.fused(%b = %a : tensor<3xf32>) -> tensor<3xf32> " +
      schedule +
      " {\n      %0 = metaop.mul %b, %b : tensor<3xf32>\n"
      "      metaop.yield %0 : tensor<3xf32>\n    }\n"
      "    metaop.yield %f : tensor<3xf32>\n  }\n"
      "  return %k : tensor<3xf32>\n}\n";
  auto program = llvm::cantFail(compile(text));
  llvm::cantFail(
      program->run({makeBuffer({1, 2, 3})}, results, memory, threads));
  EXPECT_EQ(getData(results[0])[2], 9.0f);
  std::string printed =
      llvm::cantFail(compiler->print(text, "scheduled", {}, CompileOptions()));
  EXPECT_NE(printed.find(schedule), std::string::npos);
}

TEST_F(CpuProgramTest, ASlicePrintsAtEachPhase) {
  for (StringRef phase :
       {"graph", "fused", "scheduled", "kernels", "loops", "llvm"}) {
    auto text = compiler->print(square, phase, {}, CompileOptions());
    ASSERT_TRUE(static_cast<bool>(text)) << toString(text.takeError());
    EXPECT_FALSE(text->empty());
  }
  auto text = compiler->print(square, "absent", {}, CompileOptions());
  ASSERT_FALSE(text);
  EXPECT_NE(toString(text.takeError()).find("there is no phase 'absent'"),
            std::string::npos);
}

/// A program of many calls: x, then some results that each read the one before.
std::string getChain(unsigned length) {
  std::string text = "func.func @main(%x: tensor<4096xf32>) -> "
                     "tensor<4096xf32> {\n";
  std::string last = "%x";
  for (unsigned i = 0; i < length; ++i) {
    std::string name = "%v" + std::to_string(i);
    text += "  %a" + name.substr(1) + " = metaop.mul " + last + ", " + last +
            " : tensor<4096xf32>\n  " + name + " = metaop.stop_fuse %a" +
            name.substr(1) + " : tensor<4096xf32>\n";
    last = name;
  }
  return text + "  return " + last + " : tensor<4096xf32>\n}\n";
}

/// A sum of so many numbers that nobody waits for its end.
constexpr StringRef endless =
    "func.func @main(%x: tensor<1024xf32>) -> tensor<f32> {\n"
    "  %0 = metaop.broadcast %x dims = [1] : tensor<1024xf32> -> "
    "tensor<274877906944x1024xf32>\n"
    "  %1 = metaop.exp %0 : tensor<274877906944x1024xf32>\n"
    "  %2 = metaop.reduce add %1 dims = [0, 1] : "
    "tensor<274877906944x1024xf32> -> tensor<f32>\n"
    "  return %2 : tensor<f32>\n}\n";

TEST_F(CpuProgramTest, AKernelThatIsLongIsStopped) {
  auto program = llvm::cantFail(compile(endless));
  EXPECT_TRUE(program->isLong(threads.getThreads()));
  BufferRef x = makeBuffer(std::vector<float>(1024, 0.5f)), scratch;
  ProgramRun run = llvm::cantFail(program->prepare({x}, memory, scratch));
  for (unsigned count : {1, 2}) {
    threads.setThreads(count);
    std::atomic<int> asked = 0;
    EXPECT_EQ(
        toString(program->execute(run, threads, [&] { return ++asked > 5; })),
        "interrupted");
    EXPECT_LE(asked, 5 + int(count) + 1);
  }
}

TEST_F(CpuProgramTest, AShortProgramIsNotLong) {
  EXPECT_FALSE(llvm::cantFail(compile(square))->isLong(1));
  EXPECT_FALSE(llvm::cantFail(compile(getChain(3)))->isLong(1));
}

TEST_F(CpuProgramTest, ALoopIsLongForWhoWaits) {
  EXPECT_TRUE(llvm::cantFail(compile(whileSmall))->isLong(1));
}

TEST_F(CpuProgramTest, WhatOverwritesIsStoppedAndGoesOn) {
  auto program = llvm::cantFail(compile(square, {true}));
  BufferRef x = makeBuffer({1, 2, 3}), scratch;
  ProgramRun run = llvm::cantFail(program->prepare({x}, memory, scratch));
  int asked = 0, stops = 0;
  auto isThird = [&] { return ++asked % 3 == 1; };
  for (;; ++stops) {
    llvm::Error error = program->execute(run, threads, isThird);
    if (!error)
      break;
    EXPECT_EQ(toString(std::move(error)), "interrupted");
    EXPECT_TRUE(run.progress.hasBegun());
  }
  EXPECT_GE(stops, 1);
  EXPECT_FALSE(run.progress.hasBegun());
  EXPECT_EQ(getData(x)[2], 9.0f);
}

//===----------------------------------------------------------------------===//
// Results that are kept from run to run
//===----------------------------------------------------------------------===//

/// What writes over its argument.
constexpr StringRef doubling =
    "func.func @main(%w: tensor<128x512xf32>) -> tensor<128x512xf32> {\n"
    "  %0 = metaop.add %w, %w : tensor<128x512xf32>\n"
    "  return %0 : tensor<128x512xf32>\n}\n";

class KeptResultsTest : public CpuProgramTest {
protected:
  void SetUp() override {
    int64_t numKept = 0;
    for (const KernelInfo &call : program->getInfo().calls)
      numKept += call.mayKeep;
    if (numKept == 0)
      GTEST_SKIP() << "nothing is packed for this processor";
  }

  BufferRef makeFactor(int64_t rows, float value) {
    return makeBuffer(std::vector<float>(rows * 512, value));
  }
  ProgramRun prepare() {
    // Activations are new ones in each run.
    ProgramRun run = llvm::cantFail(
        program->prepare({makeFactor(256, 1), w}, memory, scratch));
    program->keepPacked(run, memory);
    return run;
  }
  /// How many calls it makes; each result is 512 times the weights' value.
  int64_t execute(ProgramRun run, float value) {
    std::vector<CallTime> times;
    llvm::cantFail(program->execute(run, threads, nullptr, &times));
    for (int64_t i = 0; i < 256 * 128; ++i)
      EXPECT_EQ(static_cast<const float *>(run.results[0]->data())[i],
                512 * value);
    return llvm::count_if(times,
                          [](const CallTime &time) { return time.end != 0; });
  }
  int64_t run(float value) { return execute(prepare(), value); }
  int64_t getPackedBytes() const { return memory.getStatistics().packedBytes; }

  std::shared_ptr<Program> program = llvm::cantFail(compile(packedProduct));
  int64_t numCalls = program->getInfo().calls.size();
  BufferRef w = makeFactor(128, 3);
  BufferRef scratch;
};

TEST_F(KeptResultsTest, TheThirdRunOnTheSameWeightsDoesWithoutPacking) {
  EXPECT_EQ(run(3), numCalls);
  EXPECT_EQ(getPackedBytes(), 0);
  EXPECT_EQ(run(3), numCalls);
  int64_t bytes = getPackedBytes();
  int64_t fewer = run(3);
  EXPECT_EQ(getPackedBytes(), bytes);
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(fewer, numCalls - 1);
}

TEST_F(KeptResultsTest, OfQueuedRunsTheFirstThatIsExecutedPacks) {
  run(3);
  ProgramRun second = prepare(), third = prepare(), fourth = prepare();
  int64_t fewer = numCalls - 1;
  // The second one may have failed before.
  EXPECT_EQ(execute(third, 3), numCalls);
  EXPECT_EQ(execute(second, 3), fewer);
  EXPECT_EQ(execute(fourth, 3), fewer);
}

TEST_F(KeptResultsTest, WhatIsWrittenOverIsPackedAgain) {
  auto update = llvm::cantFail(compile(doubling, {true}));
  for (int i = 0; i < 3; ++i)
    run(3);
  // The update is queued behind a run, and before another one.
  ProgramRun before = prepare();
  BufferRef noScratch;
  ProgramRun updating = llvm::cantFail(update->prepare({w}, memory, noScratch));
  ASSERT_EQ(updating.results[0].get(), w.get());
  ProgramRun behind = prepare();
  execute(before, 3);
  llvm::cantFail(update->execute(updating, threads));
  EXPECT_EQ(execute(behind, 6), numCalls);
  before = updating = behind = ProgramRun();
  EXPECT_EQ(getPackedBytes(), 0);
  EXPECT_EQ(run(6), numCalls);
  EXPECT_EQ(run(6), numCalls - 1);
}

TEST_F(KeptResultsTest, WhatWasDroppedForWantOfMemoryIsNotKeptAgain) {
  for (int i = 0; i < 3; ++i)
    run(3);
  program->dropPacked(/*isShort=*/false);
  EXPECT_EQ(getPackedBytes(), 0);
  EXPECT_EQ(run(3), numCalls);
  program->dropPacked(/*isShort=*/true);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(3), numCalls);
  EXPECT_EQ(getPackedBytes(), 0);
}

TEST_F(KeptResultsTest, AModelOnlyCounts) {
  run(3);
  auto model = Allocator::createModel(0);
  for (int i = 0; i < 2; ++i) {
    ProgramRun run = llvm::cantFail(
        program->prepare({makeFactor(256, 1), w}, *model, scratch));
    program->keepPacked(run, *model);
    scratch.reset();
  }
  EXPECT_EQ(getPackedBytes(), 0);
  EXPECT_EQ(run(3), numCalls);
}

TEST_F(KeptResultsTest, ADeadProgramKeepsNothing) {
  for (int i = 0; i < 3; ++i)
    run(3);
  program.reset();
  EXPECT_EQ(getPackedBytes(), 0);
}

TEST_F(CpuProgramTest, ACompilationIsStoppedAndMadeAgain) {
  std::string text = getChain(2);
  // At the first question, and so on: in passes, between kernels, in LLVM.
  int asked = 0;
  for (int limit = 0;; ++limit) {
    asked = 0;
    auto program = compiler->compile(text, {}, CompileOptions(),
                                     [&] { return asked++ >= limit; });
    if (program)
      break;
    EXPECT_TRUE(program.errorIsA<Interrupted>());
    llvm::consumeError(program.takeError());
    // Far more than there are passes of ours.
    ASSERT_LT(limit, 10000);
    limit += limit / 4;
  }
  EXPECT_GT(asked, 10);
  auto program = llvm::cantFail(compile(text));
  std::vector<float> values(4096, 3.0f);
  llvm::cantFail(program->run({makeBuffer(values)}, results, memory, threads));
  EXPECT_EQ(getData(results[0])[4095], 81.0f);
}

TEST_F(CpuProgramTest, AnotherErrorIsNotTakenForAStop) {
  auto program =
      compiler->compile("no slice", {}, CompileOptions(), [] { return false; });
  ASSERT_FALSE(program);
  EXPECT_FALSE(program.errorIsA<Interrupted>());
  llvm::consumeError(program.takeError());
}

} // namespace
