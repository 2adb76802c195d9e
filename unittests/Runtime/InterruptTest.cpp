//===- InterruptTest.cpp - Tests of callers that stop waiting -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionFixture.h"

#include <atomic>
#include <cstring>
#include <thread>

using namespace metaops;

namespace {

/// Makes programs that take their time, as long as they are held. Their runs
/// have computed everything by then, but for copying it from their scratch
/// memory to their results; in these, and so in arguments, is nonsense.
class SlowCompiler : public DonatingCompiler {
public:
  struct Control {
    std::atomic<bool> isHeld{false};
    std::atomic<int> started{0}, begun{0}, finished{0}, compiled{0};
  };

  explicit SlowCompiler(std::shared_ptr<Control> control)
      : control(std::move(control)) {}

  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override {
    if (shouldStop && shouldStop())
      return llvm::make_error<Interrupted>();
    auto inner = DonatingCompiler::compile(slice, donatable, options, nullptr);
    if (!inner)
      return inner.takeError();
    ++control->compiled;
    return std::make_shared<Slow>(std::move(*inner), control);
  }

private:
  struct Slow : WrappedProgram {
    Slow(std::shared_ptr<Program> given, std::shared_ptr<Control> control)
        : WrappedProgram(std::move(given)), control(std::move(control)) {}

    llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                       Allocator &memory,
                                       BufferRef &scratch) override {
      auto run = inner->prepare(arguments, memory, scratch);
      if (!run)
        return run.takeError();
      size_t bytes = 0;
      for (const RunRef &result : run->results)
        bytes += result->bytes();
      if (!scratch || scratch->bytes() < bytes)
        scratch = memory.allocate(bytes, MemoryUse::Scratch);
      run->scratch = scratch;
      return run;
    }

    llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                        StopCheck shouldStop,
                        std::vector<CallTime> *times) override {
      ++control->started;
      if (!run.progress.hasBegun()) {
        if (llvm::Error error = begin(run, threads, times))
          return error;
        run.progress.table = {nullptr};
      }
      while (control->isHeld) {
        if (shouldStop())
          return llvm::make_error<Interrupted>();
        std::this_thread::yield();
      }
      run.progress = {};
      auto *from = static_cast<const char *>(run.scratch->data());
      for (const RunRef &result : run.results) {
        std::memcpy(result->data(), from, result->bytes());
        from += result->bytes();
      }
      ++control->finished;
      return llvm::Error::success();
    }

    llvm::Error begin(ProgramRun &run, ThreadPool &threads,
                      std::vector<CallTime> *times) {
      ++control->begun;
      Allocator memory;
      ProgramRun apart;
      apart.arguments = run.arguments;
      for (const RunRef &result : run.results)
        apart.results.push_back(memory.allocate(result->bytes()));
      if (llvm::Error error = inner->execute(apart, threads, nullptr, times))
        return error;
      auto *to = static_cast<char *>(run.scratch->data());
      for (auto [result, computed] :
           llvm::zip_equal(run.results, apart.results)) {
        std::memcpy(to, computed->data(), computed->bytes());
        std::memset(result->data(), 0x55, result->bytes());
        to += computed->bytes();
      }
      return llvm::Error::success();
    }

    std::shared_ptr<Control> control;
  };

  std::shared_ptr<Control> control;
};

class InterruptTest : public SessionFixture {
protected:
  std::shared_ptr<SlowCompiler::Control> control =
      std::make_shared<SlowCompiler::Control>();

  InterruptTest() {
    session = Session::create(std::make_unique<SlowCompiler>(control));
  }

  Var multiply(const Var &x, const Var &y) {
    SessionScope scope(*session);
    return binary("mul", x, y);
  }

  /// p <- p * x
  void step(Var &p, const Var &x) {
    SessionScope scope(*session);
    session->update(p, binary("mul", p, x));
  }

  /// Asks, and stops waiting when the run has started.
  template <typename Ask> void stop(Ask ask) {
    control->isHeld = true;
    int before = control->started;
    Tickets asked;
    {
      SessionScope scope(*session);
      ask();
      asked = session->getAsked();
    }
    std::string error = "none";
    try {
      session->wait(asked, [&] { return control->started > before; });
    } catch (const SessionError &thrown) {
      EXPECT_EQ(thrown.getKind(), ErrorKind::Interrupted);
      error = thrown.what();
    }
    EXPECT_TRUE(contains(error, "interrupted"));
    session->drain();
    control->isHeld = false;
  }
  void stop(const Var &var) {
    stop([&] { session->sync(&var); });
  }
};

TEST_F(InterruptTest, AStoppedValueIsComputedWhenItIsAskedForAgain) {
  Var x = tensor({3}, {1, 2, 3}), y = multiply(x, x);
  stop(y);
  stop(y);
  EXPECT_EQ(control->finished, 0);
  EXPECT_EQ(values(y), floats({1, 4, 9}));
  EXPECT_EQ(control->begun, 1);
  EXPECT_EQ(control->finished, 1);
  EXPECT_EQ(control->compiled, 1);
}

TEST_F(InterruptTest, LaterRunsDoNotTouchTheScratchMemoryOfAStoppedOne) {
  Var x = tensor({3}, {1, 2, 3}), y = multiply(x, x);
  stop(y);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(values(multiply(multiply(x, x), x)), floats({1, 8, 27}));
  EXPECT_EQ(values(y), floats({1, 4, 9}));
}

TEST_F(InterruptTest, WhatIsInTheQueueBehindAStoppedRunNeedsNotWaitForIt) {
  // All have one scratch memory.
  Var x = tensor({3}, {1, 2, 3});
  Var first = multiply(x, x), second = multiply(first, x),
      third = multiply(x, multiply(x, multiply(x, x)));
  control->isHeld = true;
  {
    SessionScope scope(*session);
    session->getData(first);
  }
  Var other = multiply(x, multiply(x, multiply(x, multiply(x, x))));
  TensorData data;
  {
    SessionScope scope(*session);
    session->getData(third);
    data = session->getData(other);
  }
  EXPECT_THROW(session->wait(data, [&] { return control->started.load() > 0; }),
               SessionError);
  session->drain();
  control->isHeld = false;
  EXPECT_EQ(control->finished, 0);
  EXPECT_EQ(control->begun, 1);
  EXPECT_EQ(values(other), floats({1, 32, 243}));
  EXPECT_EQ(control->finished, 1);
  EXPECT_EQ(values(second), floats({1, 8, 27}));
  EXPECT_EQ(values(third), floats({1, 16, 81}));
  EXPECT_EQ(control->begun, control->finished);
}

TEST_F(InterruptTest, WithoutMemoryForItAStoppedRunStaysWhereItIs) {
  Var x = tensor({4096}, std::vector<float>(4096, 2));
  Var first = multiply(x, x), second = multiply(x, multiply(x, x));
  control->isHeld = true;
  TensorData data;
  {
    SessionScope scope(*session);
    session->getData(first);
    data = session->getData(second);
  }
  EXPECT_THROW(session->wait(data, [&] { return control->started.load() > 0; }),
               SessionError);
  session->drain();
  control->isHeld = false;
  auto setLimit = [&](int64_t bytes) {
    SessionScope scope(*session);
    session->setFlag("memory_limit", bytes);
  };
  // The second one needs scratch memory, since the first one keeps it.
  setLimit(statistics().memory.bytesInUse);
  EXPECT_THROW(values(second), OutOfMemory);
  EXPECT_EQ(values(first)[4095], 4);
  EXPECT_EQ(values(second)[4095], 8);
  setLimit(0);
}

TEST_F(InterruptTest, NobodySeesWhatAnUpdateHasWrittenInPart) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  step(p, x);
  Var seen = multiply(p, x);
  stop([&] { session->syncAll(); });
  EXPECT_EQ(values(seen), floats({12, 20}));
  EXPECT_EQ(values(p), floats({6, 10}));
}

TEST_F(InterruptTest, ASessionMayEndWithARunThatWasStopped) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  step(p, x);
  stop([&] { session->syncAll(); });
  EXPECT_EQ(control->begun, 1);
  EXPECT_EQ(control->finished, 0);
}

TEST_F(InterruptTest, AStoppedUpdateIsMadeOnce) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  step(p, x);
  stop([&] { session->syncAll(); });
  EXPECT_EQ(control->finished, 0);
  step(p, x);
  EXPECT_EQ(values(p), floats({12, 20}));
  EXPECT_EQ(values(p), floats({12, 20}));
  EXPECT_EQ(control->finished, 2);
}

TEST_F(InterruptTest, WhatReadsAStoppedValueStartsItsRunAgain) {
  Var x = tensor({2}, {2, 3}), y = multiply(x, x);
  stop(y);
  EXPECT_EQ(values(multiply(y, x)), floats({8, 27}));
  EXPECT_EQ(values(y), floats({4, 9}));
}

TEST_F(InterruptTest, WhatDoesNotDoesNot) {
  Var x = tensor({2}, {2, 3}), y = multiply(x, x);
  stop(y);
  int before = control->started;
  EXPECT_EQ(values(multiply(x, multiply(x, x))), floats({8, 27}));
  EXPECT_EQ(control->started, before + 1);
}

TEST_F(InterruptTest, AllThatIsHeldIsComputedBySyncAll) {
  Var x = tensor({2}, {2, 3}), y = multiply(x, x);
  stop(y);
  Tickets asked;
  {
    SessionScope scope(*session);
    session->syncAll();
    asked = session->getAsked();
  }
  session->wait(asked);
  EXPECT_EQ(control->finished, 1);
}

TEST_F(InterruptTest, LaterUpdatesDoNotTouchWhatAStoppedRunReads) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  Var y = multiply(p, x);
  stop(y);
  step(p, x);
  EXPECT_EQ(values(p), floats({6, 10}));
  EXPECT_EQ(values(y), floats({6, 10}));
}

TEST_F(InterruptTest, AQueuedUpdateOfWhatAStoppedRunReadsComesAfterIt) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 4});
  Var y = multiply(p, x);
  control->isHeld = true;
  TensorData data;
  {
    SessionScope scope(*session);
    data = session->getData(y);
  }
  // The second one puts the first one into the queue, behind y.
  step(p, x);
  step(p, x);
  EXPECT_THROW(session->wait(data, [] { return true; }), SessionError);
  session->drain();
  EXPECT_EQ(control->finished, 0);
  control->isHeld = false;
  EXPECT_EQ(values(p), floats({12, 80}));
  EXPECT_EQ(values(y), floats({6, 20}));
  EXPECT_EQ(control->finished, 3);
}

TEST_F(InterruptTest, WhatNobodyHoldsIsDropped) {
  Var x = tensor({64}, std::vector<float>(64, 2));
  int64_t before = statistics().memory.bytesInUse;
  {
    Var y = multiply(x, x);
    stop(y);
    EXPECT_GT(statistics().memory.bytesInUse, before);
  }
  statistics();
  EXPECT_EQ(statistics().memory.bytesInUse, before);
  Var z = multiply(x, multiply(x, x));
  EXPECT_EQ(values(z)[63], 8);
  EXPECT_EQ(control->finished, 1);
}

TEST_F(InterruptTest, AStoppedCompilationLeavesWhatWasRecorded) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  Var y = multiply(p, x);
  step(p, x);
  bool isStopping = true;
  {
    SessionScope scope(*session);
    session->setStopCheck([&] { return isStopping; });
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(contains(errorOf([&] { session->syncAll(); }),
                         "interrupted: interrupted while a program was "
                         "compiled"));
    EXPECT_TRUE(contains(errorOf([&] { session->sync(&y); }), "interrupted: "));
  }
  EXPECT_EQ(control->started, 0);
  isStopping = false;
  EXPECT_EQ(values(p), floats({6, 10}));
  EXPECT_EQ(values(y), floats({6, 10}));
}

TEST_F(InterruptTest, WithoutAsynchronyACallStopsWhileItWaits) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  {
    SessionScope scope(*session);
    session->setFlag("asynchronous", false);
    session->setStopCheck([&] { return control->isHeld && control->started; });
  }
  step(p, x);
  control->isHeld = true;
  EXPECT_TRUE(contains(errorOf([&] { session->syncAll(); }), "interrupted"));
  session->drain();
  control->isHeld = false;
  EXPECT_EQ(control->finished, 0);
  EXPECT_EQ(values(p), floats({6, 10}));
  EXPECT_EQ(control->finished, 1);
}

TEST_F(InterruptTest, AFetchOfAStoppedValueComesWithTheValue) {
  Var x = tensor({2}, {2, 3}), y = multiply(x, x);
  {
    SessionScope scope(*session);
    session->fetch(&y);
  }
  std::vector<CompletedFetch> fetches;
  stop([&] {
    session->sync(&y);
    fetches = session->takeCompletedFetches();
  });
  ASSERT_EQ(fetches.size(), 1u);
  EXPECT_TRUE(session->wasStopped(fetches[0].values[0]));
  EXPECT_FALSE(session->refresh(fetches[0]));
  values(y);
  {
    SessionScope scope(*session);
    fetches = session->takeCompletedFetches();
  }
  ASSERT_EQ(fetches.size(), 1u);
  EXPECT_TRUE(session->refresh(fetches[0]));
  const TensorData &value = fetches[0].values[0];
  session->wait(value);
  EXPECT_EQ(static_cast<const float *>(value.buffer->data())[1], 9);
}

TEST_F(InterruptTest, AnotherThreadThatWaitsGetsItsValue) {
  for (int round = 0; round < 5; ++round) {
    Var x = tensor({2}, {2, 3}), y = multiply(x, x);
    control->isHeld = true;
    int before = control->started;
    std::vector<float> found;
    std::thread other([&] {
      TensorData data;
      do {
        {
          SessionScope scope(*session);
          data = session->getData(y);
        }
        data.ready.wait();
      } while (session->wasStopped(data));
      session->wait(data);
      auto *first = static_cast<const float *>(data.buffer->data());
      found.assign(first, first + 2);
    });
    while (control->started == before)
      std::this_thread::yield();
    TensorData data;
    {
      SessionScope scope(*session);
      data = session->getData(y);
    }
    EXPECT_THROW(session->wait(data, [] { return true; }), SessionError);
    control->isHeld = false;
    other.join();
    EXPECT_EQ(found, floats({4, 9}));
  }
}

} // namespace
