//===- AsyncTest.cpp - Tests of queued runs -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlledCompiler.h"

#include <cmath>
#include <future>

using namespace metaops;

namespace {

class AsyncTest : public SessionFixture {
protected:
  std::shared_ptr<ControlledCompiler::Control> control =
      std::make_shared<ControlledCompiler::Control>();

  AsyncTest() {
    session = Session::create(std::make_unique<ControlledCompiler>(control));
  }

  void set(bool isHeld, bool fails = false) { control->set(isHeld, fails); }

  /// p <- p * x, recorded at a line.
  void step(Var &p, const Var &x, unsigned line) {
    SessionScope scope(*session);
    setLine("model.py", line);
    session->update(p, binary("mul", p, x));
  }
};

TEST_F(AsyncTest, UpdatesRunWhileTheCallerGoesOn) {
  Var p = tensor({3}, {1, 2, 3}), x = tensor({3}, {2, 2, 2});
  set(/*isHeld=*/true);
  step(p, x, 1);
  step(p, x, 2); // puts the first update into the queue
  EXPECT_EQ(control->runs, 0);
  set(/*isHeld=*/false);
  EXPECT_EQ(values(p), floats({4, 8, 12}));
}

TEST_F(AsyncTest, AQueuedRunsArgumentsMayBeOverwrittenByLaterOnes) {
  Var p = tensor({64}, std::vector<float>(64, 1)),
      x = tensor({64}, std::vector<float>(64, 2));
  for (unsigned i = 0; i < 3; ++i)
    step(p, x, i);
  values(p);
  int64_t before = statistics().memory.bytesInUse;
  for (unsigned i = 0; i < 10; ++i)
    step(p, x, i);
  EXPECT_EQ(values(p)[63], std::pow(2.0f, 13.0f));
  EXPECT_EQ(statistics().memory.bytesInUse, before);
}

TEST_F(AsyncTest, AFailureIsToldOnceAtTheNextWaitWithTheLine) {
  Var x = tensor({2}, {1, 2});
  Var y;
  {
    SessionScope scope(*session);
    setLine("model.py", 7);
    y = unary("exp", x);
  }
  set(false, /*fails=*/true);
  std::string message;
  try {
    values(y);
  } catch (const SessionError &error) {
    message = error.what();
  }
  EXPECT_TRUE(contains(message, "an index is out of range"));
  EXPECT_TRUE(contains(message, "model.py:7"));
  set(false);
  // What was not computed is never handed out, and nothing else has suffered.
  EXPECT_THROW(values(y), SessionError);
  Var z;
  {
    SessionScope scope(*session);
    z = binary("add", y, x);
  }
  EXPECT_THROW(values(z), SessionError);
  EXPECT_EQ(values(x), floats({1, 2}));
  {
    SessionScope scope(*session);
    z = binary("add", x, x);
  }
  EXPECT_EQ(values(z), floats({2, 4}));
}

TEST_F(AsyncTest, AFailedUpdateLeavesTheParameter) {
  Var p = tensor({2}, {3, 5}), x = tensor({2}, {2, 2});
  set(false, /*fails=*/true);
  step(p, x, 9);
  EXPECT_THROW(
      {
        Tickets asked;
        {
          SessionScope scope(*session);
          session->syncAll();
          asked = session->getAsked();
        }
        session->wait(asked);
      },
      SessionError);
  set(false);
  EXPECT_EQ(values(p), floats({3, 5}));
}

TEST_F(AsyncTest, WithoutAsynchronyEachRunIsWaitedFor) {
  {
    SessionScope scope(*session);
    session->setFlag("asynchronous", false);
  }
  Var p = tensor({2}, {1, 2}), x = tensor({2}, {2, 3});
  step(p, x, 1);
  step(p, x, 2);
  EXPECT_TRUE(session->getDevice().getQueue().getLast().isDone());
  EXPECT_EQ(control->runs, 1);
  EXPECT_EQ(values(p), floats({4, 18}));
}

TEST_F(AsyncTest, EagerlyEachOperationIsAProgramOfItsOwn) {
  Var x = tensor({3}, {0, 1, 2});
  SessionScope scope(*session);
  session->setFlag("lazy_execution", false);
  Var y = unary("exp", x);
  Var z = binary("mul", y, y);
  EXPECT_EQ(control->runs, 2);
  TensorData data = session->getData(z);
  session->wait(data);
  EXPECT_FLOAT_EQ(static_cast<float *>(data.buffer->data())[2], std::exp(4.0f));
}

TEST_F(AsyncTest, AListenerHearsOfEachRunOnce) {
  struct Listener : RunListener {
    std::atomic<int> heard{0};
    void ran(const std::shared_ptr<const RunRecord> &record,
             std::vector<CallTime>) override {
      EXPECT_FALSE(record->locations.empty());
      ++heard;
    }
  };
  auto listener = std::make_shared<Listener>();
  {
    SessionScope scope(*session);
    session->setListener(listener);
  }
  Var p = tensor({2}, {1, 2}), x = tensor({2}, {2, 3});
  for (unsigned i = 0; i < 4; ++i)
    step(p, x, i);
  values(p);
  EXPECT_EQ(listener->heard, 4);
}

} // namespace
