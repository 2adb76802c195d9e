//===- ProfilerTest.cpp - What a profiler adds up -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Profiler/Profiler.h"
#include "MetaOps/Runtime/Profiler/SliceGraph.h"
#include "SessionFixture.h"

using namespace metaops;

namespace {

/// Two calls that nobody makes; only the description matters.
struct DescribedProgram : Program {
  DescribedProgram() {
    for (const char *name : {"kernel_0", "kernel_1"}) {
      KernelInfo &call = info.calls.emplace_back();
      call.name = name;
      call.nodes = {2, 0, 1};
    }
    info.compileSeconds = 0.25;
  }
  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef>, Allocator &,
                                     BufferRef &) override {
    return ProgramRun();
  }
  llvm::Error execute(ProgramRun &, ThreadPool &, StopCheck,
                      std::vector<CallTime> *) override {
    return llvm::Error::success();
  }
};

class ProfilerTest : public SessionFixture {
protected:
  static std::shared_ptr<const CachedProgram> makeProgram() {
    auto cached = std::make_shared<CachedProgram>();
    cached->program = std::make_shared<DescribedProgram>();
    return cached;
  }

  mlir::Location lineAt(unsigned line) {
    return recorder().makeLocation("model.py", line);
  }

  std::shared_ptr<const RunRecord>
  makeRun(std::shared_ptr<const CachedProgram> cached,
          std::vector<mlir::Location> locations, bool wasCompiled = false) {
    auto record = std::make_shared<RunRecord>();
    record->cached = std::move(cached);
    record->locations = std::move(locations);
    record->wasCompiled = wasCompiled;
    return record;
  }

  /// Runs a new program of the session.
  void runSomething() {
    Var x = tensor({3}, {1, 2, 3});
    Var y;
    {
      SessionScope scope(*session);
      y = unary("exp", x);
    }
    values(y);
  }

  static int64_t countRuns(const Profiler &profiler) {
    int64_t runs = 0;
    for (const ProfiledProgram &program : profiler.getPrograms())
      runs += program.runs;
    return runs;
  }
};

/// A call that was run once.
CallTime timeOf(unsigned call, int64_t begin, int64_t end) {
  CallTime time;
  time.call = call;
  time.add(begin, end);
  return time;
}

TEST_F(ProfilerTest, AddsUpTheRunsOfAProgram) {
  Profiler profiler(/*keepsRuns=*/true);
  auto program = makeProgram();
  std::vector<mlir::Location> lines = {lineAt(1), lineAt(2), lineAt(3)};
  profiler.ran(makeRun(program, lines, /*wasCompiled=*/true),
               {timeOf(0, 100, 110), timeOf(1, 120, 150)});
  profiler.ran(makeRun(program, lines),
               {timeOf(0, 200, 240), timeOf(1, 240, 245)});

  auto programs = profiler.getPrograms();
  ASSERT_EQ(programs.size(), 1u);
  EXPECT_EQ(programs[0].runs, 2);
  EXPECT_EQ(programs[0].compilations, 1);
  EXPECT_EQ(programs[0].compileSeconds, 0.25);
  ASSERT_EQ(programs[0].calls.size(), 2u);
  const CallStatistics &first = programs[0].calls[0];
  EXPECT_EQ(first.runs, 2);
  EXPECT_EQ(first.total, 50);
  EXPECT_EQ(first.min, 10);
  EXPECT_EQ(first.max, 40);
  EXPECT_EQ(programs[0].calls[1].total, 35);
  EXPECT_EQ(programs[0].calls[1].min, 5);

  auto runs = profiler.getRuns();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_TRUE(runs[0].wasCompiled);
  EXPECT_FALSE(runs[1].wasCompiled);
  EXPECT_EQ(runs[1].times[0].begin, 200);
}

TEST_F(ProfilerTest, OtherLinesAndOtherProgramsAreApart) {
  Profiler profiler(/*keepsRuns=*/true);
  auto program = makeProgram();
  profiler.ran(makeRun(program, {lineAt(1)}), {timeOf(0, 0, 1)});
  profiler.ran(makeRun(program, {lineAt(9)}), {timeOf(0, 0, 2)});
  profiler.ran(makeRun(makeProgram(), {lineAt(1)}), {timeOf(0, 0, 3)});
  profiler.ran(makeRun(program, {lineAt(9)}), {timeOf(0, 0, 4)});

  auto programs = profiler.getPrograms();
  ASSERT_EQ(programs.size(), 3u);
  EXPECT_EQ(programs[0].calls[0].total, 1);
  EXPECT_EQ(programs[1].calls[0].total, 6);
  EXPECT_EQ(programs[2].calls[0].total, 3);
  std::vector<unsigned> order;
  for (const ProfiledRun &run : profiler.getRuns())
    order.push_back(run.program);
  EXPECT_EQ(order, std::vector<unsigned>({0, 1, 2, 1}));
}

TEST_F(ProfilerTest, ACallInALoopIsAddedUpFirst) {
  Profiler profiler(/*keepsRuns=*/true);
  auto program = makeProgram();
  CallTime time = timeOf(0, 10, 30);
  time.add(40, 45);
  profiler.ran(makeRun(program, {}), {time});
  profiler.ran(makeRun(program, {}), {timeOf(0, 50, 57)});
  CallStatistics call = profiler.getPrograms()[0].calls[0];
  EXPECT_EQ(call.runs, 3);
  EXPECT_EQ(call.total, 32);
  EXPECT_EQ(call.min, 5);
  EXPECT_EQ(call.max, 20);
  CallTime kept = profiler.getRuns()[0].times[0];
  EXPECT_EQ(kept.begin, 10);
  EXPECT_EQ(kept.end, 45);
}

TEST_F(ProfilerTest, ARunThatStoppedHasFewerCalls) {
  Profiler profiler(/*keepsRuns=*/false);
  auto program = makeProgram();
  profiler.ran(makeRun(program, {}), {timeOf(0, 5, 7)});
  profiler.ran(makeRun(program, {}), {});
  profiler.ran(makeRun(program, {}), {timeOf(0, 8, 9), CallTime{}});
  auto programs = profiler.getPrograms();
  EXPECT_EQ(programs[0].runs, 3);
  EXPECT_EQ(programs[0].calls[0].runs, 2);
  EXPECT_EQ(programs[0].calls[0].min, 1);
  EXPECT_EQ(programs[0].calls[1].runs, 0);
  EXPECT_TRUE(profiler.getRuns().empty());
}

TEST_F(ProfilerTest, LinesAreListedOnceInTheOrderOfTheSlice) {
  auto run = makeRun(makeProgram(), {lineAt(7), lineAt(4), lineAt(7)});
  const KernelInfo &call = run->cached->program->getInfo().calls[0];
  EXPECT_EQ(getLines(*run, call),
            std::vector<std::string>({"model.py:7", "model.py:4"}));
  auto unknown = mlir::UnknownLoc::get(session->getContext());
  auto other = makeRun(makeProgram(), {unknown, lineAt(4)});
  EXPECT_EQ(getLines(*other, call), std::vector<std::string>({"model.py:4"}));
}

TEST_F(ProfilerTest, AllActiveProfilersSeeARun) {
  ActiveProfilers active;
  auto outer = std::make_shared<Profiler>(true);
  auto inner = std::make_shared<Profiler>(false);
  runSomething();
  {
    SessionScope scope(*session);
    active.add(*session, outer);
  }
  runSomething();
  {
    SessionScope scope(*session);
    active.add(*session, inner);
  }
  runSomething();
  runSomething();
  {
    SessionScope scope(*session);
    active.remove(*session, outer.get());
  }
  runSomething();
  {
    SessionScope scope(*session);
    active.remove(*session, inner.get());
  }
  runSomething();
  EXPECT_EQ(countRuns(*outer), 3);
  EXPECT_EQ(countRuns(*inner), 3);
}

TEST_F(ProfilerTest, RunsInTheQueueAreReportedAfterTheEnd) {
  ActiveProfilers active;
  auto profiler = std::make_shared<Profiler>(true);
  Var x = tensor({2}, {1, 2});
  {
    SessionScope scope(*session);
    active.add(*session, profiler);
    Var y = unary("neg", x);
    session->sync({&y});
    active.remove(*session, profiler.get());
  }
  session->drain();
  EXPECT_EQ(countRuns(*profiler), 1);
}

TEST_F(ProfilerTest, ASliceIsReadAsPlainData) {
  Var x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Var y;
  std::shared_ptr<const RunRecord> run;
  {
    SessionScope scope(*session);
    y = binary("mul", x, unary("exp", x));
    session->sync({&y});
    run = session->getLastRun();
  }
  session->drain();
  SliceGraph graph = llvm::cantFail(readSliceGraph(run->cached->slice));
  ASSERT_EQ(graph.leaves, std::vector<std::string>({"2x3xf32"}));
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].name, "exp");
  EXPECT_EQ(graph.nodes[0].operands, std::vector<int64_t>({-1}));
  EXPECT_EQ(graph.nodes[1].name, "mul");
  EXPECT_EQ(graph.nodes[1].operands, std::vector<int64_t>({-1, 0}));
  EXPECT_EQ(graph.nodes[1].type, "2x3xf32");
  EXPECT_EQ(graph.outputs, std::vector<int64_t>({1}));
}

TEST_F(ProfilerTest, WhatIsNoSliceIsAnError) {
  EXPECT_TRUE(contains(
      llvm::toString(readSliceGraph("func.func @f() { return }").takeError()),
      "the slice has no function @main"));
  EXPECT_TRUE(contains(llvm::toString(readSliceGraph("not MLIR").takeError()),
                       "the slice could not be read"));
}

} // namespace
