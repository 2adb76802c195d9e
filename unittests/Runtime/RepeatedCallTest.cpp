//===- RepeatedCallTest.cpp - Tests of calls that are launched ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RepeatedCall.h"

#include "MetaOps/Runtime/Trace/Trace.h"
#include "SessionFixture.h"

#include <optional>

using namespace metaops;

namespace {
class RepeatedCallTest : public SessionFixture {
protected:
  /// Records a step that gives the product of x and w, and adds x to w.
  void record() {
    std::shared_ptr<Trace> trace;
    {
      SessionScope scope(*session);
      trace = std::make_shared<Trace>(session);
    }
    SessionScope scope(*trace);
    Recorder &recorder = trace->getRecorder();
    Var like = trace->addArgument(x);
    trace->setArguments({&like}, {&x});
    Node *former = trace->getNode(w);
    Var product = trace->wrap(recorder.binary("mul", like, former));
    trace->update(w, recorder.binary("add", former, like));
    function = trace->finish({&product});
    trace->close();
  }

  /// Calls it, and returns how many values that has recorded.
  uint64_t call(Var &argument) {
    SessionScope scope(*session);
    Graph &graph = session->getRecorder().getGraph();
    uint64_t before = graph.countRecorded();
    std::optional<std::vector<Var>> found;
    Var *arguments[] = {&argument, &w};
    session->call({*function, arguments, {}, {}, {}}, repeated, found);
    result = std::move(found->front());
    return graph.countRecorded() - before;
  }

  Var x = tensor({2}, {1, 2}), w = tensor({2}, {10, 20});
  std::shared_ptr<const RecordedFunction> function;
  RepeatedCall repeated;
  Var result;
};
} // namespace

TEST_F(RepeatedCallTest, LaunchesWhatHasBeenRecorded) {
  record();
  EXPECT_GT(call(x), 1u);
  EXPECT_EQ(values(result), floats({10, 40}));
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(call(x), 1u); // the result
    EXPECT_EQ(values(result), floats({10. + i, 40 + 4. * i}));
    EXPECT_EQ(values(w), floats({11. + i, 22 + 2. * i}));
  }
}

TEST_F(RepeatedCallTest, RecordsWhereTheOldValueIsSeen) {
  record();
  call(x);
  call(x);
  Var old = binary("mul", w, number(1)), seen;
  {
    SessionScope scope(*session);
    seen = session->wrap(w.getNode());
  }
  EXPECT_GT(call(x), 1u);
  EXPECT_EQ(values(seen), floats({12, 24}));
  EXPECT_EQ(values(old), floats({12, 24}));
  EXPECT_EQ(values(w), floats({13, 26}));
  old = Var();
  seen = Var();
  // The program that writes over the value is another one.
  EXPECT_GT(call(x), 1u);
  EXPECT_EQ(call(x), 1u);
  EXPECT_EQ(values(w), floats({15, 30}));
}

TEST_F(RepeatedCallTest, RecordsWhereAnArgumentIsPendingOrGivenTwice) {
  record();
  call(x);
  Var pending = binary("add", x, number(1));
  EXPECT_GT(call(pending), 1u);
  EXPECT_EQ(values(w), floats({13, 25}));
  EXPECT_GT(call(w), 1u);
  EXPECT_EQ(values(result), floats({169, 625}));
  EXPECT_EQ(values(w), floats({26, 50}));
}

TEST_F(RepeatedCallTest, EndsHistoriesOfWhatItWritesOver) {
  record();
  for (int i = 0; i < 3; ++i) {
    call(x);
    SessionScope scope(*session);
    for (const Var *target : {&x, &w})
      EXPECT_THROW(session->grad(result, {target}, UnusedTargets::Zero),
                   SessionError);
  }
}

namespace {
class CallWithNumbersTest : public SessionFixture {
protected:
  /// Records a step that adds x, times a number, to w.
  void SetUp() override {
    SessionFixture::SetUp();
    std::shared_ptr<Trace> trace;
    {
      SessionScope scope(*session);
      trace = std::make_shared<Trace>(session);
    }
    SessionScope scope(*trace);
    Recorder &recorder = trace->getRecorder();
    Var likeX = trace->addArgument(x), likeW = trace->addArgument(w);
    trace->setArguments({&likeX, &likeW});
    Var number = trace->addNumber(DType::F32);
    trace->update(
        likeW,
        recorder.binary("add", likeW, recorder.binary("mul", likeX, number)));
    function = trace->finish();
    trace->close();
  }

  /// Calls it alone. Returns how many values that has recorded, if it was.
  std::optional<uint64_t> call(Var &argument, double number) {
    SessionScope scope(*session);
    Graph &graph = session->getRecorder().getGraph();
    uint64_t before = graph.countRecorded();
    Var *arguments[] = {&argument, &w};
    Number numbers[] = {Number::ofFloat(number)};
    std::optional<std::vector<Var>> results;
    if (!session->callAlone({*function, arguments, numbers, {}, {}}, repeated,
                            results))
      return std::nullopt;
    return graph.countRecorded() - before;
  }

  Var x = tensor({2}, {1, 2}), w = tensor({2}, {10, 20});
  std::shared_ptr<const RecordedFunction> function;
  RepeatedCall repeated;
};
} // namespace

TEST_F(CallWithNumbersTest, TakesTheNumbersOfEachCall) {
  EXPECT_GT(call(x, 1), 0u);
  EXPECT_EQ(values(w), floats({11, 22}));
  EXPECT_EQ(call(x, 10), 0u);
  EXPECT_EQ(call(x, 100), 0u);
  EXPECT_EQ(values(w), floats({121, 242}));
}

TEST_F(CallWithNumbersTest, IsNotCalledWhereItIsNotAlone) {
  call(x, 1);
  Var pending = binary("add", x, number(1));
  EXPECT_EQ(call(pending, 1), std::nullopt);
  EXPECT_EQ(call(w, 1), std::nullopt);
  EXPECT_EQ(values(w), floats({11, 22}));
  EXPECT_EQ(values(pending), floats({2, 3}));
  EXPECT_TRUE(call(pending, 1).has_value());
  EXPECT_EQ(values(w), floats({13, 25}));
}

TEST_F(RepeatedCallTest, TakesTheValueOfWhatIsGivenAway) {
  record();
  for (int i = 0; i < 3; ++i) {
    Var given = tensor({2}, {1, 2});
    Var *arguments[] = {&given, &w};
    unsigned donated[] = {0};
    std::optional<std::vector<Var>> found;
    {
      SessionScope scope(*session);
      session->call({*function, arguments, {}, {}, donated}, repeated, found);
    }
    EXPECT_EQ(values(found->front()), floats({10. + i, 40 + 4. * i}));
    EXPECT_TRUE(given.isGivenAway());
    EXPECT_THROW(values(given), SessionError);
  }
  EXPECT_EQ(values(w), floats({13, 26}));
}
