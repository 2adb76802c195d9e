//===- SessionTest.cpp - Tests of recording, running and forgetting -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionFixture.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace metaops;

namespace {

class SessionTest : public SessionFixture {};

//===----------------------------------------------------------------------===//
// Recording and running
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, ComputesWhatIsAsked) {
  Var x = tensor({3}, {1, 2, 3});
  Var y;
  {
    SessionScope scope(*session);
    y = binary("add", binary("mul", x, number(2)), x);
  }
  EXPECT_EQ(statistics().programsRun, 0);
  EXPECT_EQ(values(y), floats({3, 6, 9}));
  EXPECT_EQ(values(y), floats({3, 6, 9}));
  EXPECT_EQ(statistics().programsRun, 1);
}

TEST_F(SessionTest, NumbersMakeNoNewPrograms) {
  Var x = tensor({4}, {1, 2, 3, 4});
  for (int64_t i = 0; i < 3; ++i) {
    Var y;
    {
      SessionScope scope(*session);
      IndexItem window{IndexItem::Kind::Slice, i, i + 2, std::nullopt};
      Var part = wrap(recorder().getItem(x.getNode(), window));
      y = binary("mul", part, number(i + 0.5));
    }
    float scale = i + 0.5f;
    EXPECT_EQ(values(y), floats({(i + 1) * scale, (i + 2) * scale}));
  }
  EXPECT_EQ(statistics().programsCompiled, 1);
  EXPECT_EQ(statistics().programHits, 2);
}

TEST_F(SessionTest, ExtentsAndStructureMakeNewPrograms) {
  auto run = [&](llvm::StringRef op, llvm::ArrayRef<float> data) {
    Var x = tensor(data.size(), data);
    Var y;
    {
      SessionScope scope(*session);
      y = unary(op, x);
    }
    return values(y);
  };
  EXPECT_EQ(run("neg", {1, 2}), floats({-1, -2}));
  EXPECT_EQ(run("neg", {3, 4}), floats({-3, -4}));
  EXPECT_EQ(run("neg", {1, 2, 3}), floats({-1, -2, -3}));
  EXPECT_EQ(run("abs", {-1, 2}), floats({1, 2}));
  EXPECT_EQ(statistics().programsCompiled, 3);
}

TEST_F(SessionTest, OperandOrderMatters) {
  Var x = tensor({1}, {5}), y = tensor({1}, {3});
  Var a, b;
  {
    SessionScope scope(*session);
    a = binary("sub", x, y);
    b = binary("sub", y, x);
  }
  EXPECT_EQ(values(a), floats({2}));
  EXPECT_EQ(values(b), floats({-2}));
}

TEST_F(SessionTest, ViewsOfValuesNeedNoProgram) {
  Var x = tensor({2, 2}, {1, 2, 3, 4});
  Var y;
  {
    SessionScope scope(*session);
    y = stopGrad(wrap(recorder().reshape(x.getNode(), {4})));
  }
  EXPECT_EQ(values(y), floats({1, 2, 3, 4}));
  EXPECT_EQ(statistics().programsRun, 0);
}

TEST_F(SessionTest, RunsDeepGraphs) {
  Var x = tensor({1}, {0});
  {
    SessionScope scope(*session);
    for (int i = 0; i < 20000; ++i)
      x = binary("add", x, number(1));
  }
  EXPECT_EQ(values(x), floats({20000}));
}

//===----------------------------------------------------------------------===//
// Forgetting
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, ForgetsWhatNobodyHolds) {
  Var x = tensor({2}, {1, 2});
  int64_t before = statistics().opsInBlock;
  {
    SessionScope scope(*session);
    Var y = unary("exp", x);
    y = unary("neg", y);
  }
  EXPECT_EQ(statistics().opsInBlock, before);
  EXPECT_EQ(statistics().liveVars, 1);
}

TEST_F(SessionTest, KeepsTheHistoryOfDifferentiableValues) {
  Var x = tensor({2}, {1, 2});
  Var y;
  {
    SessionScope scope(*session);
    y = binary("mul", x, x);
  }
  EXPECT_EQ(values(y), floats({1, 4}));
  std::vector<Var> gradients;
  {
    SessionScope scope(*session);
    gradients = session->grad(y, {&x});
  }
  EXPECT_EQ(values(gradients[0]), floats({2, 4}));
}

TEST_F(SessionTest, DropsHistoryThatNoGradientNeeds) {
  Var x = tensor({2}, {1, 2});
  Var mask, stopped;
  {
    SessionScope scope(*session);
    Var y = unary("exp", x);
    mask = wrap(recorder().compare("lt", y, number(5)));
    stopped = stopGrad(unary("neg", y));
    session->sync({&mask, &stopped});
  }
  // x and the two values, each a buffer.
  EXPECT_EQ(statistics().opsInBlock, 3);
}

TEST_F(SessionTest, AnOperationGoesWithAllOfItsResults) {
  Var x = tensor({3}, {2, 3, 1});
  std::vector<Var> sorted;
  {
    SessionScope scope(*session);
    sorted = session->wrapResults(
        recorder().sort(x.getNode(), 0, /*descending=*/false));
    session->sync({&sorted[1]});
  }
  // The values, which keep their history, and the indices beside them.
  EXPECT_EQ(statistics().programsRun, 1);
  EXPECT_EQ(statistics().opsInBlock, 2);
  EXPECT_EQ(values(sorted[0]), floats({1, 2, 3}));
  EXPECT_EQ(statistics().programsRun, 1);
  sorted.erase(sorted.begin());
  {
    SessionScope scope(*session);
  }
  // x, and the indices, which have no history.
  EXPECT_EQ(statistics().opsInBlock, 2);
  sorted.clear();
  {
    SessionScope scope(*session);
  }
  EXPECT_EQ(statistics().opsInBlock, 1);
}

TEST_F(SessionTest, ASortIsDifferentiatedByTheIndicesBesideIt) {
  Var x = tensor({3}, {2, 3, 1}), weights = tensor({3}, {10, 20, 30});
  std::vector<Var> sorted, gradients;
  {
    SessionScope scope(*session);
    sorted = session->wrapResults(
        recorder().sort(x.getNode(), 0, /*descending=*/true));
    Var loss = binary("mul", sorted[0], weights);
    session->sync({&loss});
    sorted.erase(sorted.begin());
    gradients = session->grad(loss, {&x});
  }
  EXPECT_EQ(values(gradients[0]), floats({20, 10, 30}));
}

TEST_F(SessionTest, ChainsOfSyncedValuesDoNotGrow) {
  Var x = tensor({2}, {1, 2});
  int64_t ops = 0;
  for (int i = 0; i < 10; ++i) {
    Var y;
    {
      SessionScope scope(*session);
      y = binary("mul", x, number(0.5));
      session->sync(&y);
    }
    x = std::move(y);
    y = Var();
    if (i == 1)
      ops = statistics().opsInBlock;
  }
  EXPECT_EQ(statistics().opsInBlock, ops);
}

TEST_F(SessionTest, ChainsOfSyncedValuesEndAtABound) {
  session->setFlag("history_bytes", int64_t(16 << 10));
  Var x = tensor({2}, {1, 2}), factor = tensor({2}, {0.5, 1});
  std::vector<int64_t> ops;
  for (int i = 0; i < 60; ++i) {
    SessionScope scope(*session);
    x = binary("mul", x, factor);
    session->sync(&x);
    ops.push_back(Inspector(*session).getStatistics().opsInBlock);
  }
  // A step of one operator is in memory beside the bound.
  EXPECT_LE(ops[59], 18);
  EXPECT_TRUE(contains(errorOf([&] { session->grad(x, {&factor}); }),
                       "all histories took more than 16384 bytes"));
}

TEST_F(SessionTest, SavedValuesSpareAGradientTheForwardPass) {
  Var x = tensor({2, 2}, {1, 2, 3, 4});
  Var y;
  {
    SessionScope scope(*session);
    Node *sums = recorder().reduce("sum", recorder().unary("exp", x),
                                   llvm::ArrayRef<int64_t>{1}, false);
    y = wrap(recorder().reduce("sum", recorder().unary("log", sums),
                               std::nullopt, false));
    session->sync(&y);
  }
  {
    SessionScope scope(*session);
    std::vector<Var> gradients = session->grad(y, {&x});
    session->sync(&gradients[0]);
  }
  // The gradient's slice begins at the saved sums: no reduction is in it.
  SessionScope scope(*session);
  for (const KernelInfo &call :
       session->getLastRun()->cached->program->getInfo().calls)
    EXPECT_NE(call.name, "metaop.reduce");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, ErrorsSayWhatWasGivenAndLeaveNothingBehind) {
  Var x = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), y = tensor({2}, {1, 2});
  int64_t before = statistics().opsInBlock;
  EXPECT_EQ(errorOf([&] { binary("add", x, y); }),
            "value: add: shapes (2, 3) and (2,) do not broadcast together");
  EXPECT_EQ(errorOf([&] { unary("foo", x); }),
            "value: there is no element-wise operator 'foo' with 1 operand");
  EXPECT_EQ(errorOf([&] { binary("and", x, x); }),
            "type: and: given float32, expected integers or booleans");
  EXPECT_TRUE(contains(errorOf([&] { recorder().reshape(x.getNode(), {4}); }),
                       "has 6 elements"));
  EXPECT_TRUE(contains(errorOf([&] {
                         recorder().reindex(x.getNode(), {2}, {"i0", "i7"},
                                            number(0), {});
                       }),
                       "i7"));
  EXPECT_TRUE(
      contains(errorOf([&] { recorder().full({-1}, number(0), DType::F32); }),
               "negative"));
  EXPECT_TRUE(contains(errorOf([&] {
                         recorder().full({1 << 30, 1 << 30, 1 << 30}, number(0),
                                         DType::F32);
                       }),
                       "too many"));
  EXPECT_TRUE(contains(
      errorOf([&] { session->setFlag("colour", std::string("blue")); }),
      "the flags are"));
  EXPECT_EQ(statistics().opsInBlock, before);
  EXPECT_EQ(values(y), floats({1, 2}));
}

TEST_F(SessionTest, GradientsAreOfFloats) {
  Var x = tensor({1}, {1});
  Var n;
  {
    SessionScope scope(*session);
    n = wrap(recorder().cast(x, DType::I32));
  }
  EXPECT_EQ(errorOf([&] { session->grad(n, {&x}); }),
            "type: grad: the loss is int32, expected floats");
  EXPECT_EQ(errorOf([&] { session->grad(x, {&n}); }),
            "type: grad: a target is int32, expected floats");
}

//===----------------------------------------------------------------------===//
// Looking inside
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, DumpsAModuleThatVerifies) {
  Var x = tensor({2}, {1, 2});
  Var y;
  std::string text;
  {
    SessionScope scope(*session);
    setLine("model.py", 12);
    y = unary("exp", x);
    text = Inspector(*session).dump();
  }
  EXPECT_TRUE(contains(text, "metaop.exp"));
  EXPECT_TRUE(contains(text, "\"model.py\":12"));
  mlir::MLIRContext context;
  context.loadDialect<mlir::metaop::MetaOpDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
}

TEST_F(SessionTest, ReportsTheLinesOfTheLastRun) {
  for (unsigned line : {3, 7}) {
    Var x = tensor({2}, {1, 2});
    Var y;
    {
      SessionScope scope(*session);
      setLine("model.py", line);
      y = unary("exp", x);
      session->sync(&y);
    }
    SessionScope scope(*session);
    std::shared_ptr<const RunRecord> run = session->getLastRun();
    ASSERT_EQ(run->locations.size(), 1u);
    EXPECT_EQ(formatLine(run->locations[0]),
              "model.py:" + std::to_string(line));
  }
  EXPECT_EQ(statistics().programsCompiled, 1);
}

//===----------------------------------------------------------------------===//
// Processes and threads
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, RefusesToWorkInAForkedChild) {
  Var x = tensor({1}, {1});
  pid_t child = fork();
  if (child == 0)
    _exit(errorOf([] {}).find("forked") == std::string::npos);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(values(x), floats({1}));
}

TEST_F(SessionTest, ServesSeveralThreads) {
  Var x = tensor({2}, {1, 2});
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        Var y;
        {
          SessionScope scope(*session);
          y = binary("mul", x, number(t + i));
        }
        results[t] = values(y);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int t = 0; t < 4; ++t)
    EXPECT_EQ(results[t], floats({t + 49.0, 2 * (t + 49.0)}));
  EXPECT_EQ(statistics().opsInBlock, 1);
}

} // namespace
