//===- RecordingSessionTest.cpp - A session that only records -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/RecordingSession.h"

#include "MetaOps/Runtime/Graph/DroppedValues.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace metaops;

namespace {
/// Parts that a bare session is made of.
struct BareParts {
  BareParts() { context.loadDialect<mlir::func::FuncDialect>(); }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Graph graph{&context};
  Recorder recorder{graph};
  DroppedValues dropped{graph};
};

/// A session of a graph and a recorder. It has no devices, and computes
/// nothing.
class BareSession final : public RecordingSession {
public:
  explicit BareSession(BareParts &parts)
      : RecordingSession(parts.recorder), graph(parts.graph),
        dropped(parts.dropped) {}

  Graph &getGraph() { return graph; }
  Var makeInput(llvm::ArrayRef<int64_t> shape) {
    return give(DType::F32, shape, Buffer::wrap(nullptr, 0, {}));
  }

  std::timed_mutex &getMutex() override { return mutex; }
  void dropLater(Node *node) override { dropped.add(node); }
  void updateAt(Var &x, Operand value, CallPlace) override {
    ++numUpdates;
    assign(x, getRecorder().stopGrad(value.getNode()));
  }
  Device &getDevice(llvm::StringRef name) override { failNoDevices(); }
  Device &getDevice() override { failNoDevices(); }
  void setDevice(Device &device) override { failNoDevices(); }
  Node *transfer(Node *node, Device &to) override { failNoDevices(); }
  Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
           BufferRef buffer) override {
    return wrap(getRecorder().buffer(dtype, shape, std::move(buffer)));
  }

  int numUpdates = 0;

protected:
  void enter() override { dropped.release(); }
  void leave(bool failed) override {
    if (failed)
      graph.collectAll();
    else
      graph.collect();
  }

private:
  [[noreturn]] static void failNoDevices() {
    fail(ErrorKind::Runtime, "a bare session has no devices");
  }

  Graph &graph;
  DroppedValues &dropped;
  std::timed_mutex mutex;
};

class RecordingSessionTest : public testing::Test {
protected:
  /// With the session entered.
  Var unary(llvm::StringRef name, const Var &x) {
    return session->wrap(session->getRecorder().unary(name, x));
  }

  BareParts parts;
  std::shared_ptr<BareSession> session = std::make_shared<BareSession>(parts);
};
} // namespace

TEST_F(RecordingSessionTest, LetsGoOfWhatNoVarHolds) {
  Var x, y;
  {
    SessionScope scope(*session);
    x = session->makeInput({2, 3});
    y = unary("exp", unary("sin", x));
  }
  EXPECT_EQ(y.shape(), llvm::ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(y.getSession(), session);
  EXPECT_EQ(session->getGraph().size(), 3u);
  y = Var();
  {
    SessionScope scope(*session);
  }
  EXPECT_EQ(session->getGraph().size(), 1u);
}

TEST_F(RecordingSessionTest, RebindsVars) {
  SessionScope scope(*session);
  Var x = session->makeInput({4});
  Node *first = x.getNode();
  Var y = unary("exp", x);
  session->setItem(x, {}, y);
  EXPECT_NE(x.getNode(), first);
  ASSERT_EQ(x.getFormer().size(), 1u);
  EXPECT_EQ(x.getFormer().front().get(), first);
  session->update(x, y);
  EXPECT_EQ(session->numUpdates, 1);
  EXPECT_EQ(x.getFirstOrder(), first->order);
}

TEST_F(RecordingSessionTest, DifferentiatesByFormerValues) {
  SessionScope scope(*session);
  Var x = session->makeInput({4}), other = session->makeInput({4});
  Var loss = unary("exp", x);
  session->assign(x, session->getRecorder().unary("sin", x));
  std::vector<Var> gradients = session->grad(loss, {&x}, UnusedTargets::NotAll);
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_EQ(gradients[0].shape(), x.shape());
  gradients = session->grad(loss, {&other, &x}, UnusedTargets::Empty);
  EXPECT_FALSE(gradients[0]);
  EXPECT_TRUE(gradients[1]);
  std::vector<Var> tangents = session->jvp({&loss}, {&x}, {&other});
  ASSERT_EQ(tangents.size(), 1u);
  EXPECT_EQ(tangents[0].shape(), loss.shape());
  EXPECT_THROW(session->grad(loss, {&other}), SessionError);
}

TEST_F(RecordingSessionTest, IsAsItWasWhenACallFails) {
  Var x;
  {
    SessionScope scope(*session);
    x = session->makeInput({4});
  }
  try {
    SessionScope scope(*session);
    Node *recorded = session->getRecorder().unary("exp", x);
    session->transfer(recorded, session->getDevice());
    FAIL() << "there are no devices";
  } catch (const SessionError &error) {
    EXPECT_STREQ(error.what(), "a bare session has no devices");
  }
  EXPECT_EQ(session->getGraph().size(), 1u);
  EXPECT_TRUE(session->getMutex().try_lock());
  session->getMutex().unlock();
}
