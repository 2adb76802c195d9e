//===- TraceTest.cpp - Tests of functions that are recorded once ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/Trace.h"

#include "MetaOps/Runtime/Trace/ControlFlow.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "SessionFixture.h"

using namespace metaops;

namespace {
class TraceTest : public SessionFixture {
protected:
  std::shared_ptr<Trace> makeTrace() {
    SessionScope scope(*session);
    return std::make_shared<Trace>(session);
  }

  using SessionFixture::binary;
  Var binary(Trace &trace, llvm::StringRef name, Operand x, Operand y) {
    return trace.wrap(trace.getRecorder().binary(name, x, y));
  }

  /// Momentum: v = 0.5 v + g; x = x - r v.
  std::shared_ptr<const RecordedFunction> recordMomentum() {
    std::shared_ptr<Trace> trace = makeTrace();
    Var pair = tensor({2}, {0, 0}), single = tensor({}, {0});
    Var x, g, v, rate;
    {
      SessionScope scope(*trace);
      x = trace->addArgument(pair);
      g = trace->addArgument(pair);
      v = trace->addArgument(pair);
      rate = trace->addArgument(single);
      trace->setArguments({&x, &g, &v, &rate});
      Var half = binary(*trace, "mul", v, number(0.5));
      Var moved = binary(*trace, "add", half, g);
      binary(*trace, "add", moved, number(100)); // of no use
      trace->update(v, moved);
      trace->update(
          x, binary(*trace, "sub", x, binary(*trace, "mul", rate, moved)));
    }
    SessionScope scope(*trace);
    return trace->finish();
  }

  std::string errorIn(Trace &trace, llvm::function_ref<void()> call) {
    try {
      SessionScope scope(trace);
      call();
    } catch (const SessionError &error) {
      return error.what();
    }
    return "no error";
  }
};
} // namespace

TEST_F(TraceTest, ReplaysUpdates) {
  auto momentum = recordMomentum();
  EXPECT_EQ(momentum->getNumArguments(), 4u);
  Var x = tensor({2}, {1, 2}), g = tensor({2}, {10, 20});
  Var v = tensor({2}, {2, 4}), rate = tensor({}, {0.5});
  for (int step = 0; step < 2; ++step) {
    SessionScope scope(*session);
    momentum->replay(*session, {&x, &g, &v, &rate});
  }
  EXPECT_EQ(values(v), floats({15.5, 31}));
  EXPECT_EQ(values(x), floats({1 - 5.5 - 7.75, 2 - 11 - 15.5}));
  EXPECT_EQ(values(g), floats({10, 20}));
}

TEST_F(TraceTest, ReplaysWhatIsRecordedInline) {
  auto momentum = recordMomentum();
  for (bool isReplayed : {false, true}) {
    Var x = tensor({2}, {1, 2}), g = tensor({2}, {10, 20});
    Var v = tensor({2}, {2, 4}), rate = tensor({}, {0.5});
    {
      SessionScope scope(*session);
      if (isReplayed) {
        momentum->replay(*session, {&x, &g, &v, &rate});
      } else {
        Var moved = binary("add", binary("mul", v, number(0.5)), g);
        session->update(v, moved);
        session->update(x, binary("sub", x, binary("mul", rate, moved)));
      }
    }
    EXPECT_EQ(values(x), floats({-4.5, -9}));
    // The program of the one is that of the other.
    EXPECT_EQ(statistics().programsCompiled, 1);
  }
}

TEST_F(TraceTest, ReadsWhatAnArgumentHeld) {
  std::shared_ptr<Trace> trace = makeTrace();
  Var single = tensor({1}, {0});
  std::shared_ptr<const RecordedFunction> swap;
  {
    SessionScope scope(*trace);
    Var x = trace->addArgument(single);
    Var y = trace->addArgument(single);
    trace->setArguments({&x, &y});
    Var old = trace->wrap(x.getNode());
    trace->update(x, y);
    trace->update(y, binary(*trace, "add", old, x));
    swap = trace->finish();
  }
  EXPECT_EQ(swap->getNumOperations(), 1u);
  Var x = tensor({1}, {3}), y = tensor({1}, {4});
  {
    SessionScope scope(*session);
    swap->replay(*session, {&x, &y});
  }
  EXPECT_EQ(values(x), floats({4}));
  EXPECT_EQ(values(y), floats({7}));
}

TEST_F(TraceTest, TakesArgumentsOfItsTypesOnly) {
  auto momentum = recordMomentum();
  Var x = tensor({2}, {1, 2}), rate = tensor({}, {0.5});
  EXPECT_TRUE(momentum->takes({&x, &x, &x, &rate}));
  EXPECT_FALSE(momentum->takes({&x, &x}));
  EXPECT_FALSE(momentum->takes({&x, &x, &rate, &rate}));
}

TEST_F(TraceTest, KeepsValuesApart) {
  Var outside = tensor({2}, {1, 2});
  std::shared_ptr<Trace> trace = makeTrace();
  Var x;
  {
    SessionScope scope(*trace);
    x = trace->addArgument(outside);
  }
  // Of the session in the trace,
  EXPECT_TRUE(
      contains(errorIn(*trace, [&] { binary(*trace, "add", x, outside); }),
               "takes a value of a function"));
  EXPECT_TRUE(contains(errorIn(*trace, [&] { trace->wrap(outside.getNode()); }),
                       "is used inside of a function"));
  // and of the trace in the session.
  EXPECT_TRUE(contains(errorOf([&] { binary("add", outside, x); }),
                       "takes a value of a function"));
  EXPECT_TRUE(contains(errorOf([&] { session->getData(x); }),
                       "outside of the one that it was recorded in"));
  EXPECT_TRUE(contains(errorOf([&] { session->sync({&outside, &x}); }),
                       "outside of the one"));
  EXPECT_EQ(values(outside), floats({1, 2}));
}

TEST_F(TraceTest, RefusesWhatAReplayWouldNotDo) {
  std::shared_ptr<Trace> trace = makeTrace();
  Var pair = tensor({2}, {0, 0}), outside = tensor({2}, {1, 2});
  SessionScope scope(*trace);
  Var x = trace->addArgument(pair);
  trace->setArguments({&x});
  EXPECT_THROW(
      trace->update(x, trace->getRecorder().scalar(number(1), DType::F32)),
      SessionError);
  // A Var from outside keeps its type.
  EXPECT_THROW(trace->assign(outside, trace->getRecorder().constant(
                                          {3}, number(1), DType::F32)),
               SessionError);
  trace->close();
}

TEST_F(TraceTest, CapturesVarsOfItsHost) {
  Var outside = tensor({2}, {1, 2}), state = tensor({2}, {10, 20});
  Var like = tensor({2}, {0, 0});
  std::shared_ptr<Trace> trace = makeTrace();
  std::shared_ptr<const RecordedFunction> function;
  {
    SessionScope scope(*trace);
    Var x = trace->addArgument(like), n = trace->addNumber(DType::F32);
    trace->setArguments({&x}, {&like});
    // A Var that is given is the argument, however the function comes to it.
    EXPECT_TRUE(trace->getMet().empty());
    EXPECT_EQ(&trace->resolve(like), &x);
    EXPECT_EQ(trace->getMet(), std::vector<unsigned>{0});
    Var sum = binary(*trace, "add", x, trace->getNode(outside));
    trace->update(state, binary(*trace, "mul", sum, n));
    trace->assign(outside, trace->getNode(state));
    Var result =
        binary(*trace, "add", trace->getNode(state), trace->getNode(outside));
    EXPECT_EQ(trace->getCaptured(), llvm::ArrayRef<Var *>({&outside, &state}));
    function = trace->finish({&result, &x});
    trace->close();
  }
  EXPECT_EQ(function->getNumArguments(), 4u);
  EXPECT_EQ(values(outside), floats({1, 2}));
  Var given = tensor({2}, {100, 200}), two = tensor({}, {2});
  std::vector<Var> results;
  {
    SessionScope scope(*session);
    results = function->replay(*session, {&given, &outside, &state, &two});
  }
  EXPECT_EQ(values(state), floats({202, 404}));
  EXPECT_EQ(values(outside), floats({202, 404}));
  EXPECT_EQ(values(results[0]), floats({404, 808}));
  EXPECT_EQ(values(results[1]), floats({100, 200}));
}

TEST_F(TraceTest, TellsTwoRecordingsApart) {
  Var like = tensor({2}, {0, 0});
  auto record = [&](const char *name, double factor) {
    std::shared_ptr<Trace> trace = makeTrace();
    SessionScope scope(*trace);
    Var x = trace->addArgument(like);
    trace->setArguments({&x});
    Var scaled = binary(*trace, name, x, number(factor));
    std::shared_ptr<const RecordedFunction> function = trace->finish({&scaled});
    trace->close();
    return function;
  };
  auto first = record("mul", 2.5), same = record("mul", 2.5),
       sum = record("add", 2.5), other = record("mul", 3.5);
  SessionScope scope(*session);
  EXPECT_EQ(first->findDifference(*same), "");
  EXPECT_TRUE(contains(first->findDifference(*sum), "'metaop.mul'"));
  std::string numbers = first->findDifference(*other);
  EXPECT_TRUE(contains(numbers, "2.5") && contains(numbers, "3.5")) << numbers;
}

TEST_F(TraceTest, DifferentiatesInside) {
  std::shared_ptr<Trace> trace = makeTrace();
  Var pair = tensor({2}, {0, 0});
  std::shared_ptr<const RecordedFunction> descend;
  {
    SessionScope scope(*trace);
    Var x = trace->addArgument(pair);
    trace->setArguments({&x});
    Var loss = binary(*trace, "mul", x, x);
    std::vector<Var> gradients = trace->grad(loss, {&x});
    trace->update(x, binary(*trace, "sub", x, gradients[0]));
    descend = trace->finish();
  }
  Var x = tensor({2}, {1, 2});
  {
    SessionScope scope(*session);
    descend->replay(*session, {&x});
  }
  EXPECT_EQ(values(x), floats({-1, -2}));
}

TEST_F(TraceTest, RecordsCheckpoints) {
  Var x = tensor({2}, {1, 2}), state = tensor({2}, {10, 20});
  Var last = tensor({2}, {0, 0});
  std::shared_ptr<Trace> trace;
  {
    SessionScope scope(*session);
    trace = std::make_shared<Trace>(session, Trace::Kind::Checkpoint);
  }
  RecordedBody body;
  std::vector<Trace::Rebound> rebound;
  {
    SessionScope scope(*trace);
    trace->setArguments({});
    Var product = binary(*trace, "mul", trace->getNode(x), trace->getNode(x));
    trace->update(state, binary(*trace, "add", trace->getNode(state), product));
    trace->assign(last, trace->getNode(product));
    Var result =
        binary(*trace, "add", trace->getNode(product), trace->getNode(state));
    rebound = trace->getRebound();
    ASSERT_EQ(rebound.size(), 2u);
    EXPECT_EQ(rebound[0].var, &state);
    EXPECT_TRUE(rebound[0].isUpdate);
    EXPECT_EQ(rebound[1].var, &last);
    EXPECT_FALSE(rebound[1].isUpdate);
    body.function = trace->finish(
        {&result, &rebound[0].values.back(), &rebound[1].values.back()});
  }
  EXPECT_EQ(values(state), floats({10, 20}));
  std::vector<Var> results;
  {
    SessionScope scope(*session);
    for (const Var *var : trace->getCaptured())
      body.captured.push_back(session->wrap(session->getNode(*var)));
    results = recordCheckpoint(*session, body, /*numKept=*/0);
  }
  trace->close();
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(values(results[0]), floats({12, 28}));
  EXPECT_EQ(values(results[1]), floats({11, 24}));
  std::vector<Var> gradients;
  {
    SessionScope scope(*session);
    gradients = session->grad(results[0], {&x});
  }
  // None flows through what is updated.
  EXPECT_EQ(values(gradients[0]), floats({2, 4}));
}
