//===- FunctionCallTest.cpp - Tests of derivatives of one's own -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/FunctionRecorder.h"
#include "SessionFixture.h"

#include <functional>

using namespace metaops;

namespace {

/// x * x, whose gradient is 10 * x times that of the result, so that it is seen
/// who has made it.
class TenfoldSquare : public FunctionCall {
public:
  using Work = std::function<void()>;

  TenfoldSquare(RecordingSession &session, Var x, int &alive,
                Work work = nullptr)
      : session(session), x(std::move(x)), alive(alive), work(std::move(work)) {
    ++alive;
  }
  ~TenfoldSquare() override { --alive; }

  const std::string &getName() const override { return name; }
  std::vector<Var> pullBack(std::vector<Var> cotangents) override {
    if (work)
      work();
    SessionScope scope(session);
    Recorder &recorder = session.getRecorder();
    std::vector<Var> result;
    result.push_back(session.wrap(
        recorder.binary("mul", cotangents.front(),
                        recorder.binary("mul", x, Number::ofFloat(10)))));
    return result;
  }
  std::vector<Var> pushForward(std::vector<Var> tangents) override {
    fail(ErrorKind::NoForwardMode, "no tangents");
  }
  void lock(RecordingSession &locked) noexcept override {
    locked.getMutex().lock();
  }

private:
  RecordingSession &session;
  Var x;
  int &alive;
  Work work;
  std::string name = "TenfoldSquare";
};

class FunctionCallTest : public SessionFixture {
protected:
  Var square(const Var &x, TenfoldSquare::Work work = nullptr) {
    SessionScope scope(*session);
    FunctionRecorder recorder(*session, &x);
    Var result = binary("mul", x, x);
    std::vector<Var> made =
        recorder.record(*session, &result, true,
                        std::make_shared<TenfoldSquare>(
                            *session, share(x), alive, std::move(work)));
    return std::move(made.front());
  }

  std::vector<Var> grad(const Var &loss, llvm::ArrayRef<const Var *> targets) {
    SessionScope scope(*session);
    return session->grad(loss, targets);
  }

  int alive = 0;
};

TEST_F(FunctionCallTest, IsAskedForItsGradient) {
  Var x = tensor({2}, {1, 3});
  Var y = square(x);
  std::vector<Var> gradients = grad(y, &x);
  EXPECT_EQ(values(y), floats({1, 9}));
  EXPECT_EQ(values(gradients.front()), floats({10, 30}));
  // Computed, too.
  EXPECT_EQ(values(grad(y, &x).front()), floats({10, 30}));
}

TEST_F(FunctionCallTest, DiesWithItsResults) {
  Var x = tensor({2}, {1, 3});
  {
    Var y = square(x);
    Var never = square(x);
    EXPECT_EQ(alive, 2);
    values(y);
    EXPECT_EQ(alive, 2);
  }
  SessionScope scope(*session);
  recorder().getGraph().collect();
  EXPECT_EQ(alive, 0);
}

TEST_F(FunctionCallTest, KeepsNothingThatComputedItsResults) {
  Var x = tensor({2}, {1, 3});
  Var y = square(x);
  values(y);
  SessionScope scope(*session);
  std::vector<std::string> names;
  recorder().getGraph().collect();
  recorder().getGraph().forEachNode([&](Node *node) {
    names.push_back(node->op->getName().getStringRef().str());
  });
  EXPECT_EQ(names, (std::vector<std::string>{"metaop.buffer",
                                             "metaop.custom_derivative"}));
}

TEST_F(FunctionCallTest, IsAskedInTheMidstOfUpdates) {
  Var p = tensor({2}, {8, 16}), x = tensor({2}, {1, 3});
  int asked = 0;
  Var y = square(x, [&] {
    ++asked;
    // Each would write over p, which the sweep reads behind this.
    for (int i = 0; i < 3; ++i) {
      SessionScope scope(*session);
      session->update(p, binary("mul", p, number(0)));
      session->syncAll();
    }
  });
  Var loss;
  {
    SessionScope scope(*session);
    loss = binary("mul", y, binary("mul", p, x));
  }
  std::vector<Var> gradients = grad(loss, &x);
  EXPECT_EQ(asked, 1);
  // y * p + 10 * x * (p * x)
  EXPECT_EQ(values(gradients.front()),
            floats({8 + 10 * 8, 9 * 16 + 10 * 3 * 16 * 3}));
  EXPECT_EQ(values(p), floats({0, 0}));
}

TEST_F(FunctionCallTest, LeavesNothingWhereItThrows) {
  Var x = tensor({2}, {1, 3});
  bool fails = true;
  Var y = square(square(x, [&] {
    if (fails)
      throw std::runtime_error("not today");
  }));
  size_t before = statistics().opsInBlock;
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(grad(y, &x), std::runtime_error);
    EXPECT_EQ(statistics().opsInBlock, before);
  }
  fails = false;
  EXPECT_EQ(values(grad(y, &x).front()), floats({100, 10 * 9 * 10 * 3}));
}

TEST_F(FunctionCallTest, RefusesTargetsThatAreNoArguments) {
  Var x = tensor({2}, {1, 3}), w = tensor({2}, {2, 2});
  Var y;
  {
    SessionScope scope(*session);
    FunctionRecorder recorder(*session, &x);
    Var result = binary("mul", x, w);
    std::vector<Var> made = recorder.record(
        *session, &result, true,
        std::make_shared<TenfoldSquare>(*session, share(x), alive));
    y = std::move(made.front());
  }
  EXPECT_EQ(values(grad(y, &x).front()), floats({10, 30}));
  try {
    grad(y, {&x, &w});
    FAIL() << "no error";
  } catch (const SessionError &error) {
    EXPECT_TRUE(contains(error.what(), "is no argument of it"));
  }
}

TEST_F(FunctionCallTest, IsRefusedInForwardMode) {
  Var x = tensor({2}, {1, 3});
  Var y = square(x);
  SessionScope scope(*session);
  try {
    session->jvp(&y, &x, &x);
    FAIL() << "no error";
  } catch (const SessionError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::NoForwardMode);
  }
}

} // namespace
