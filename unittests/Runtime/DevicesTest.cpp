//===- DevicesTest.cpp - Tests of sessions with several devices -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlledCompiler.h"
#include "PoisonedDevice.h"

#include <future>

using namespace metaops;

namespace {

class DevicesTest : public SessionFixture {
protected:
  std::shared_ptr<ControlledCompiler::Control> control =
      std::make_shared<ControlledCompiler::Control>();

  DevicesTest() {
    DeviceKind slow{"slow", 2, std::make_shared<ControlledCompiler>(control)};
    session = Session::create(std::make_shared<DonatingCompiler>(),
                              {makePoisonedKind(), slow});
  }
  ~DevicesTest() override { control->set(/*isHeld=*/false); }

  Device &on(llvm::StringRef name) { return session->getDevice(name); }

  /// A tensor of a device.
  Var tensorOn(llvm::StringRef name, llvm::ArrayRef<float> values) {
    SessionScope scope(*session);
    session->setDevice(on(name));
    return makeTensor(values.size(), values);
  }

  Var moved(const Var &x, llvm::StringRef name) {
    SessionScope scope(*session);
    return wrap(session->transfer(x.getNode(), on(name)));
  }

  Var sum(const Var &x, const Var &y) {
    SessionScope scope(*session);
    return binary("add", x, y);
  }

  std::string deviceOf(const Var &x) { return x.getNode()->device->getName(); }
};

//===----------------------------------------------------------------------===//
// Names and places
//===----------------------------------------------------------------------===//

TEST_F(DevicesTest, AreFoundByTheirNames) {
  SessionScope scope(*session);
  EXPECT_EQ(&on("cpu"), &on("cpu:0"));
  EXPECT_EQ(&on("cpu"), &session->getDevices().getFirst());
  EXPECT_NE(&on("cpu:0"), &on("cpu:1"));
  EXPECT_EQ(&on("cpu:1"), &on("cpu:1"));
  EXPECT_EQ(&on("cpu:01"), &on("cpu:1"));
  EXPECT_EQ(on("interpreter").getName(), "interpreter:0");
}

TEST_F(DevicesTest, UnknownNamesListThoseThatExist) {
  for (llvm::StringRef name :
       {"gpu", "cpu:8", "cpu:", "cpu:x", "cpu:-1", ":0", "", "interpreter:1"}) {
    std::string error = errorOf([&] { on(name); });
    EXPECT_EQ(error, ("value: there is no device '" + name +
                      "'; there are cpu:0 to cpu:7, interpreter:0, poisoned:0 "
                      "to poisoned:1, slow:0 to slow:1")
                         .str());
  }
}

TEST_F(DevicesTest, AnArrayIsWhereItWasMadeAndWhatIsMadeOfItThere) {
  Var x = tensorOn("cpu:1", {1, 2}), y = tensor(2, {3, 4});
  EXPECT_EQ(deviceOf(x), "cpu:1");
  EXPECT_EQ(deviceOf(y), "cpu:0");
  SessionScope scope(*session);
  EXPECT_EQ(deviceOf(binary("mul", x, number(2))), "cpu:1");
  session->setDevice(on("cpu:2"));
  EXPECT_EQ(deviceOf(wrap(recorder().full({2}, number(1), DType::F32))),
            "cpu:2");
}

TEST_F(DevicesTest, ValuesOfTwoDevicesAreNotUsedTogether) {
  Var x, y;
  {
    SessionScope scope(*session);
    setLine("a.py", 3);
    x = makeTensor(2, {1, 2});
    setLine("b.py", 7);
    session->setDevice(on("cpu:1"));
    y = makeTensor(2, {3, 4});
  }
  EXPECT_EQ(errorOf([&] { binary("add", x, y); }),
            "value: values of two devices are used together: one of shape (2,) "
            "on cpu:0, recorded at a.py:3, and one of shape (2,) on cpu:1, "
            "recorded at b.py:7; bring one over with .to('cpu:1') or "
            ".to('cpu:0')");
  // Nothing is left behind.
  EXPECT_EQ(values(sum(x, x)), floats({2, 4}));
  EXPECT_EQ(values(sum(y, y)), floats({6, 8}));
}

TEST_F(DevicesTest, UpdatesAndAssignmentsStayOnTheirDevice) {
  Var x = tensor(2, {1, 2}), y = tensorOn("cpu:1", {3, 4});
  EXPECT_TRUE(contains(errorOf([&] { session->update(x, y); }), "cpu:1"));
  EXPECT_EQ(values(x), floats({1, 2}));
}

TEST_F(DevicesTest, AnotherDeviceOfABackendCompilesNothingAnew) {
  Var x = tensor(2, {1, 2}), y = tensorOn("cpu:1", {3, 4});
  EXPECT_EQ(values(sum(x, x)), floats({2, 4}));
  int64_t compiled = statistics().programsCompiled;
  EXPECT_EQ(values(sum(y, y)), floats({6, 8}));
  EXPECT_EQ(statistics().programsCompiled, compiled);
  Var z = tensorOn("interpreter", {5, 6});
  EXPECT_EQ(values(sum(z, z)), floats({10, 12}));
  EXPECT_EQ(statistics().programsCompiled, compiled + 1);
}

TEST_F(DevicesTest, HaveMemoryAndLimitsOfTheirOwn) {
  Var x = tensorOn("cpu:1", std::vector<float>(1000));
  {
    SessionScope scope(*session);
    EXPECT_EQ(on("cpu:0").getMemory().getStatistics().bytesInUse, 0);
    EXPECT_GE(on("cpu:1").getMemory().getStatistics().bytesInUse, 4000);
    on("cpu:1").getMemory().setLimit(6000);
  }
  EXPECT_THROW(values(sum(x, x)), OutOfMemory);
  Var y = tensor(1000, std::vector<float>(1000, 1));
  EXPECT_EQ(values(sum(y, y)), std::vector<float>(1000, 2));
}

//===----------------------------------------------------------------------===//
// From device to device
//===----------------------------------------------------------------------===//

TEST_F(DevicesTest, ATransferToTheSamePlaceIsTheValue) {
  Var x = tensor(2, {1, 2});
  EXPECT_EQ(moved(x, "cpu:0").getNode(), x.getNode());
}

TEST_F(DevicesTest, ValuesGoFromDeviceToDeviceToDevice) {
  Var x = tensor(3, {1, 2, 3});
  Var y = moved(sum(x, x), "cpu:1");
  Var z = moved(sum(y, y), "poisoned:1");
  Var back = moved(sum(z, z), "cpu:0");
  EXPECT_EQ(deviceOf(z), "poisoned:1");
  EXPECT_EQ(values(sum(back, x)), floats({9, 18, 27}));
  EXPECT_EQ(values(z), floats({4, 8, 12}));
}

TEST_F(DevicesTest, GradientsGoBackToTheirTargets) {
  Var x = tensor(3, {1, 2, 3}), w = tensorOn("cpu:1", {4, 5, 6});
  std::vector<Var> gradients;
  {
    SessionScope scope(*session);
    Var y = wrap(session->transfer(x.getNode(), on("cpu:1")));
    Var product = binary("mul", binary("mul", y, y), w);
    gradients = session->grad(product, {&x, &w});
  }
  EXPECT_EQ(deviceOf(gradients[0]), "cpu:0");
  EXPECT_EQ(deviceOf(gradients[1]), "cpu:1");
  EXPECT_EQ(values(gradients[0]), floats({8, 20, 36}));
  EXPECT_EQ(values(gradients[1]), floats({1, 4, 9}));
}

TEST_F(DevicesTest, AGradientOfWhatDependsOnNothingIsAtItsTarget) {
  Var x = tensorOn("cpu:1", {1, 2}), y = tensor(2, {3, 4});
  std::vector<Var> gradients;
  {
    SessionScope scope(*session);
    gradients = session->grad(y, {&x}, UnusedTargets::Zero);
  }
  EXPECT_EQ(deviceOf(gradients[0]), "cpu:1");
  EXPECT_EQ(values(sum(gradients[0], x)), floats({1, 2}));
}

/// p and q are updated together, each from the other's old value, whose memory
/// the updates write over.
TEST_F(DevicesTest, CopiesComeBeforeUpdatesThatOverwriteWhatTheyRead) {
  for (const char *other : {"cpu:1", "poisoned:0"}) {
    Var p = tensor(2, {1, 2}), q = tensorOn(other, {10, 20});
    for (int step = 0; step < 3; ++step) {
      SessionScope scope(*session);
      Var pThere = wrap(session->transfer(p.getNode(), on(other)));
      Var qHere = wrap(session->transfer(q.getNode(), on("cpu:0")));
      session->update(p, binary("add", p, qHere));
      session->update(q, binary("sub", q, pThere));
    }
    // (1, 10), (11, 9), (20, -2), (18, -22)
    EXPECT_EQ(values(p), floats({18, 36}));
    EXPECT_EQ(values(q), floats({-22, -44}));
  }
}

TEST_F(DevicesTest, AnUpdateMayDependOnAnotherDevicesUpdate) {
  Var p = tensor(2, {1, 2}), q = tensorOn("cpu:1", {10, 20});
  {
    SessionScope scope(*session);
    session->update(p, binary("add", p, number(1)));
    Var there = wrap(session->transfer(p.getNode(), on("cpu:1")));
    session->update(q, binary("add", q, there));
  }
  EXPECT_EQ(values(q), floats({12, 23}));
  EXPECT_EQ(values(p), floats({2, 3}));
}

TEST_F(DevicesTest, PeaksAreOfTheDeviceThatIsAskedFor) {
  std::vector<float> ones(100000, 1);
  Var x = tensor(ones.size(), ones);
  Var y = moved(sum(x, x), "cpu:1");
  int64_t estimate;
  {
    SessionScope scope(*session);
    estimate = Inspector(*session).estimatePeak({&y});
  }
  values(y);
  SessionScope scope(*session);
  EXPECT_EQ(estimate, on("cpu:1").getMemory().getStatistics().peakBytes);
}

//===----------------------------------------------------------------------===//
// Memory that is not the host's
//===----------------------------------------------------------------------===//

TEST_F(DevicesTest, OnlyBackendsLookIntoADevicesMemory) {
  Var w = tensorOn("poisoned", {1, 2, 3, 4});
  for (int step = 0; step < 3; ++step) {
    SessionScope scope(*session);
    session->setDevice(on("poisoned"));
    Var x = makeTensor(4, {1, 1, 2, 2});
    Var loss = binary("mul", binary("mul", w, x), w);
    Var gradient = std::move(session->grad(loss, {&w}).front());
    session->update(w, binary("sub", w, binary("mul", gradient, number(0.25))));
    session->fetch({&w});
  }
  // By 1 - x / 2 each time.
  EXPECT_EQ(values(w), floats({0.125, 0.25, 0, 0}));
  std::vector<CompletedFetch> fetches;
  {
    SessionScope scope(*session);
    fetches = session->takeCompletedFetches();
  }
  ASSERT_EQ(fetches.size(), 3u);
  for (auto [step, fetch] : llvm::enumerate(fetches)) {
    session->wait(fetch.values.front());
    auto *first = static_cast<float *>(fetch.values.front().buffer->data());
    EXPECT_EQ(*first, std::ldexp(1.0f, -int(step) - 1));
  }
}

TEST_F(DevicesTest, IndicesAreCheckedWhereTheyAre) {
  Var x = tensorOn("poisoned", {1, 2, 3});
  auto take = [&](llvm::ArrayRef<int64_t> indices) {
    BufferRef buffer = session->getHostMemory().allocate(8 * indices.size());
    llvm::copy(indices, static_cast<int64_t *>(buffer->data()));
    session->setDevice(on("poisoned"));
    Var given = session->give(DType::I64, indices.size(), buffer);
    Node *checked = recorder().checkIndices(given.getNode(), {0, 3, true});
    return wrap(recorder().reindex(x.getNode(), {2}, {"@e0(i0)"}, number(0), {},
                                   checked));
  };
  Var fine, wrong;
  {
    SessionScope scope(*session);
    fine = take({2, -3});
  }
  EXPECT_EQ(values(fine), floats({3, 1}));
  {
    SessionScope scope(*session);
    wrong = take({0, 3});
  }
  EXPECT_THROW(values(wrong), SessionError);
  EXPECT_EQ(values(x), floats({1, 2, 3}));
}

//===----------------------------------------------------------------------===//
// Side by side
//===----------------------------------------------------------------------===//

TEST_F(DevicesTest, WorkBesideEachOther) {
  Var x = tensorOn("slow:0", {1, 2}), y = tensor(2, {3, 4});
  control->set(/*isHeld=*/true);
  Var slow = sum(x, x);
  {
    SessionScope scope(*session);
    session->sync({&slow});
  }
  // The one is on its way, and the other is done.
  EXPECT_EQ(values(sum(y, y)), floats({6, 8}));
  EXPECT_FALSE(slow.getNode()->ready.isDone());
  control->set(/*isHeld=*/false);
  EXPECT_EQ(values(slow), floats({2, 4}));
}

TEST_F(DevicesTest, WaitForWhatAnotherOneGives) {
  Var x = tensorOn("slow:0", {1, 2}), y = tensor(2, {3, 4});
  control->set(/*isHeld=*/true);
  Var total = sum(y, moved(sum(x, x), "cpu:0"));
  auto result = std::async(std::launch::async, [&] { return values(total); });
  EXPECT_EQ(result.wait_for(std::chrono::milliseconds(50)),
            std::future_status::timeout);
  control->set(/*isHeld=*/false);
  EXPECT_EQ(result.get(), floats({5, 8}));
}

TEST_F(DevicesTest, AFailureLeavesTheOthersWorking) {
  Var x = tensorOn("slow:0", {1, 2}), y = tensor(2, {3, 4});
  control->set(/*isHeld=*/false, /*fails=*/true);
  Var failed = sum(x, x), lost = sum(y, moved(failed, "cpu:0"));
  EXPECT_THROW(values(lost), SessionError);
  EXPECT_THROW(values(failed), SessionError);
  EXPECT_EQ(values(sum(y, y)), floats({6, 8}));
  control->set(/*isHeld=*/false);
  EXPECT_EQ(values(sum(x, x)), floats({2, 4}));
  EXPECT_EQ(values(x), floats({1, 2}));
}

TEST_F(DevicesTest, AFailureIsToldToWhoWaitsForItsDevice) {
  Var x = tensorOn("slow:0", {1, 2}), y = tensor(2, {3, 4});
  control->set(/*isHeld=*/false, /*fails=*/true);
  Var failed = sum(x, x);
  {
    SessionScope scope(*session);
    session->sync({&failed});
  }
  session->drain();
  EXPECT_EQ(values(sum(y, y)), floats({6, 8}));
  Tickets asked;
  {
    SessionScope scope(*session);
    session->syncAll();
    asked = session->getAsked();
  }
  EXPECT_THROW(session->wait(asked), SessionError);
  session->wait(asked);
}

TEST_F(DevicesTest, StoppedRunsAreStartedAgainWithWhatTheyNeed) {
  Var x = tensorOn("slow:0", {1, 2}), y = tensor(2, {3, 4});
  control->set(/*isHeld=*/true);
  Var total = sum(y, moved(sum(x, x), "cpu:0"));
  TensorData data;
  {
    SessionScope scope(*session);
    data = session->getData(total);
  }
  int asked = 0;
  EXPECT_THROW(session->wait(data, [&] { return ++asked > 1; }), SessionError);
  control->set(/*isHeld=*/false);
  session->drain();
  EXPECT_EQ(values(total), floats({5, 8}));
  EXPECT_EQ(values(y), floats({3, 4}));
}

} // namespace
