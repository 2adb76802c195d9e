//===- UpdateTest.cpp - Tests of updates, donation and fetches ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionFixture.h"

using namespace metaops;

namespace {

class UpdateTest : public SessionFixture {
protected:
  /// One step of p <- p - grad(sum(p * p * x)) / 4 at line `line`; the loss.
  Var step(Var &p, const Var &x, unsigned line = 1) {
    SessionScope scope(*session);
    Var loss = binary("mul", binary("mul", p, p), x);
    std::vector<Var> gradients = session->grad(loss, {&p});
    setLine("train.py", line);
    Var scaled = binary("mul", gradients[0], number(0.25));
    session->update(p, binary("sub", p, scaled));
    return loss;
  }

  void syncAll() {
    SessionScope scope(*session);
    session->syncAll();
  }
};

//===----------------------------------------------------------------------===//
// When updates run
//===----------------------------------------------------------------------===//

TEST_F(UpdateTest, WaitForTheNextIteration) {
  Var p = tensor({2}, {8, 16}), x = tensor({2}, {1, 1});
  step(p, x);
  EXPECT_EQ(statistics().programsRun, 0);
  step(p, x);
  EXPECT_EQ(statistics().programsRun, 1);
  EXPECT_EQ(values(p), floats({2, 4}));
}

TEST_F(UpdateTest, LoopsCompileOnce) {
  Var p = tensor({2}, {8, 16}), x = tensor({2}, {1, 1});
  SessionStatistics early;
  for (int i = 0; i < 20; ++i) {
    step(p, x);
    if (i == 2)
      early = statistics();
  }
  SessionStatistics late = statistics();
  EXPECT_EQ(late.programsCompiled, early.programsCompiled);
  EXPECT_EQ(late.opsInBlock, early.opsInBlock);
  EXPECT_EQ(late.memory.bytesInUse, early.memory.bytesInUse);
  EXPECT_EQ(late.programsRun, 19);
}

TEST_F(UpdateTest, ReadEachOtherInOneProgram) {
  Var p = tensor({1}, {1}), m = tensor({1}, {0});
  for (int i = 0; i < 4; ++i) {
    SessionScope scope(*session);
    session->update(m, binary("add", m, number(1)));
    session->update(p, binary("add", p, m));
  }
  syncAll();
  EXPECT_EQ(values(p), floats({1 + 1 + 2 + 3 + 4}));
  EXPECT_EQ(statistics().programsRun, 4);
}

TEST_F(UpdateTest, OfOneStepRunTogether) {
  Var mean = tensor({1}, {1});
  auto move = [&](double by, uint64_t place) {
    SessionScope scope(*session);
    session->updateAt(mean, binary("mul", mean, number(by)), {place});
  };
  for (int i = 0; i < 4; ++i) {
    move(2, /*place=*/1);
    move(3, /*place=*/2);
    EXPECT_EQ(statistics().programsRun, i);
  }
  EXPECT_EQ(values(mean), floats({6 * 6 * 6 * 6}));
  EXPECT_EQ(statistics().programsRun, 4);
  // Those of which nobody knows where they stand are of a step each.
  move(2, /*place=*/1);
  move(2, /*place=*/0);
  EXPECT_EQ(statistics().programsRun, 5);
  EXPECT_EQ(values(mean), floats({6 * 6 * 6 * 6 * 4}));
}

TEST_F(UpdateTest, OfTheNextStepComeAfterOtherUpdates) {
  Var mean = tensor({1}, {1}), weight = tensor({1}, {2});
  for (int i = 0; i < 4; ++i) {
    SessionScope scope(*session);
    // Other lines each time, as of a branch.
    session->updateAt(mean, binary("add", mean, weight), {uint64_t(1 + i)});
    EXPECT_EQ(Inspector(*session).getStatistics().programsRun, i);
    session->update(weight, binary("mul", weight, number(2)));
  }
  EXPECT_EQ(values(mean), floats({1 + 2 + 4 + 8 + 16}));
  EXPECT_EQ(values(weight), floats({32}));
}

TEST_F(UpdateTest, AtEverNewPlacesRunAllTheSame) {
  Var count = tensor({1}, {0});
  for (uint64_t i = 1; i <= 64; ++i) {
    SessionScope scope(*session);
    session->updateAt(count, binary("add", count, number(1)), {i});
  }
  EXPECT_EQ(statistics().programsRun, 7);
  EXPECT_EQ(values(count), floats({64}));
}

TEST_F(UpdateTest, OfOneStepSpareWhatIsHeldBetween) {
  Var mean = tensor({2}, {1, 2}), between;
  {
    SessionScope scope(*session);
    session->updateAt(mean, binary("mul", mean, number(2)), {1});
    between = session->wrap(session->getNode(mean));
    session->updateAt(mean, binary("add", mean, number(1)), {2});
  }
  EXPECT_EQ(statistics().programsRun, 0);
  EXPECT_EQ(values(mean), floats({3, 5}));
  EXPECT_EQ(values(between), floats({2, 4}));
}

TEST_F(UpdateTest, RunWhereTheyAreWrittenByHand) {
  Var p = tensor({2}, {8, 16}), x = tensor({2}, {1, 1});
  for (int i = 0; i < 4; ++i) {
    SessionScope scope(*session);
    Var loss = binary("mul", binary("mul", p, p), x);
    std::vector<Var> gradients = session->grad(loss, {&p});
    EXPECT_EQ(Inspector(*session).getStatistics().programsRun, i);
    Var scaled = binary("mul", gradients[0], number(0.25));
    session->assign(p, recorder().binary("sub", p, scaled));
  }
  EXPECT_EQ(values(p), floats({0.5, 1}));
  EXPECT_EQ(statistics().programsRun, 4);
  EXPECT_LE(statistics().programsCompiled, 2);
}

TEST_F(UpdateTest, RunWhenTheirValueIsAskedFor) {
  Var p = tensor({1}, {3}), q = tensor({1}, {5}), y;
  {
    SessionScope scope(*session);
    session->update(p, binary("mul", p, number(2)));
    session->update(q, binary("mul", q, number(2)));
    y = binary("add", p, number(1));
  }
  EXPECT_EQ(values(y), floats({7}));
  EXPECT_EQ(statistics().programsRun, 2);
  EXPECT_EQ(values(q), floats({10}));
  EXPECT_EQ(statistics().programsRun, 2);
}

TEST_F(UpdateTest, StopGradients) {
  Var p = tensor({1}, {3});
  Var old;
  std::vector<Var> gradients;
  {
    SessionScope scope(*session);
    old = share(p);
    session->update(p, binary("mul", p, number(2)));
    gradients = session->grad(binary("mul", p, p), {&p, &old});
  }
  EXPECT_EQ(values(gradients[0]), floats({12}));
  EXPECT_EQ(values(gradients[1]), floats({0}));
}

TEST_F(UpdateTest, AreDroppedWithTheirVar) {
  int64_t before = statistics().opsInBlock;
  {
    Var p = tensor({1}, {3});
    SessionScope scope(*session);
    session->update(p, binary("mul", p, number(2)));
  }
  EXPECT_EQ(statistics().opsInBlock, before);
  syncAll();
  EXPECT_EQ(statistics().programsRun, 0);
}

TEST_F(UpdateTest, CheckShapeAndType) {
  Var p = tensor({2}, {1, 2}), q = tensor({1}, {1});
  EXPECT_EQ(errorOf([&] { session->update(p, q); }),
            "value: update: the value has shape (1,), expected the Var's shape "
            "(2,)");
  EXPECT_EQ(
      errorOf([&] { session->update(p, recorder().cast(p, DType::F64)); }),
      "type: update: the value is float64, expected the Var's float32");
}

//===----------------------------------------------------------------------===//
// Donation
//===----------------------------------------------------------------------===//

TEST_F(UpdateTest, ReuseTheOldValuesMemory) {
  Var p = tensor({2}, {8, 16}), x = tensor({2}, {1, 1});
  values(p);
  step(p, x);
  syncAll();
  int64_t bytes = statistics().memory.bytesInUse;
  int64_t allocations = statistics().memory.allocations;
  step(p, x);
  syncAll();
  EXPECT_EQ(statistics().memory.bytesInUse, bytes);
  // The interpreter's own result, and the number 0.25.
  EXPECT_LE(statistics().memory.allocations - allocations, 3);
  EXPECT_EQ(values(p), floats({2, 4}));
}

TEST_F(UpdateTest, SpareWhatAVarHolds) {
  Var p = tensor({1}, {8}), x = tensor({1}, {1});
  Var old;
  {
    SessionScope scope(*session);
    old = share(p);
  }
  step(p, x);
  syncAll();
  EXPECT_EQ(values(old), floats({8}));
  EXPECT_EQ(values(p), floats({4}));
}

TEST_F(UpdateTest, SpareWhatSomebodyWaitsFor) {
  Var p = tensor({1}, {8}), x = tensor({1}, {1});
  Var waiting;
  {
    SessionScope scope(*session);
    waiting = binary("add", p, number(1));
  }
  step(p, x);
  {
    SessionScope scope(*session);
    session->sync(&p);
  }
  EXPECT_EQ(values(p), floats({4}));
  EXPECT_EQ(values(waiting), floats({9}));
}

TEST_F(UpdateTest, SpareWhatNumPySees) {
  Var p = tensor({1}, {8}), x = tensor({1}, {1});
  TensorData seen;
  {
    SessionScope scope(*session);
    seen = session->getData(p);
    seen.buffer->markExported();
  }
  step(p, x);
  syncAll();
  EXPECT_EQ(*static_cast<float *>(seen.buffer->data()), 8);
}

TEST_F(UpdateTest, SpareWhatAnotherTensorShares) {
  Var p = tensor({4}, {1, 2, 3, 4});
  Var view;
  {
    SessionScope scope(*session);
    view = wrap(recorder().reshape(p.getNode(), {2, 2}));
    session->sync(&view);
    session->update(p, binary("mul", p, number(2)));
    session->sync(&p);
  }
  EXPECT_EQ(values(view), floats({1, 2, 3, 4}));
  EXPECT_EQ(values(p), floats({2, 4, 6, 8}));
}

TEST_F(UpdateTest, EndTheHistoryThatNeedsTheOldValue) {
  Var p = tensor({1}, {8}), x = tensor({1}, {1});
  Var loss = step(p, x, /*line=*/42);
  EXPECT_EQ(values(loss), floats({64}));
  syncAll();
  // The loss's history reads the old value of p.
  EXPECT_TRUE(
      contains(errorOf([&] { session->grad(loss, {&x}); }), "train.py:42"));
  EXPECT_EQ(values(loss), floats({64}));
  EXPECT_EQ(values(p), floats({4}));
}

TEST_F(UpdateTest, MayReadTheOldValueTransposed) {
  Var p = tensor({2, 2}, {1, 2, 3, 4});
  for (int i = 0; i < 2; ++i) {
    SessionScope scope(*session);
    Var turned = wrap(recorder().transpose(p.getNode(), std::nullopt));
    session->update(p, binary("sub", p, turned));
  }
  syncAll();
  EXPECT_EQ(values(p), floats({0, -2, 2, 0}));
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

TEST_F(UpdateTest, FreshParametersAreComputedFirst) {
  Var p, m, x = tensor({2}, {1, 1});
  {
    SessionScope scope(*session);
    p = wrap(recorder().random({2}, DType::F32));
    m = wrap(recorder().full({2}, number(0), DType::F32));
  }
  SessionStatistics first;
  for (int i = 0; i < 5; ++i) {
    {
      SessionScope scope(*session);
      session->update(m, binary("add", m, number(1)));
    }
    step(p, x);
    if (i == 1)
      first = statistics();
  }
  EXPECT_EQ(statistics().programsCompiled, first.programsCompiled);
}

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

TEST_F(UpdateTest, FetchesComeWithTheUpdates) {
  Var p = tensor({1}, {8}), x = tensor({1}, {1});
  std::vector<float> fetched;
  auto read = [&](std::vector<CompletedFetch> fetches) {
    for (CompletedFetch &fetch : fetches) {
      session->wait(fetch.values[0]);
      fetched.push_back(*static_cast<float *>(fetch.values[0].buffer->data()));
    }
  };
  for (int i = 0; i < 4; ++i) {
    Var loss = step(p, x);
    SessionScope scope(*session);
    session->fetch(&loss);
    read(session->takeCompletedFetches());
  }
  SessionScope scope(*session);
  session->syncAll();
  read(session->takeCompletedFetches());
  EXPECT_EQ(fetched, floats({64, 16, 4, 1}));
  EXPECT_EQ(Inspector(*session).getStatistics().programsRun, 4);
}

TEST_F(UpdateTest, FetchesOfComputedValuesComeAtOnce) {
  Var x = tensor({1}, {3});
  SessionScope scope(*session);
  uint64_t id = session->fetch(&x);
  std::vector<CompletedFetch> completed = session->takeCompletedFetches();
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_EQ(completed[0].id, id);
}

} // namespace
