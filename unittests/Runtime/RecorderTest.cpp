//===- RecorderTest.cpp - Recording without a session ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/Recorder.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "MetaOps/Runtime/Recording/Derivatives.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace metaops;
using namespace mlir;

namespace {
class RecorderTest : public testing::Test {
protected:
  Node *leaf(llvm::ArrayRef<int64_t> shape, DType dtype = DType::F32) {
    return recorder.buffer(dtype, shape, Buffer::wrap(nullptr, 0, {}));
  }

  /// The types of the results of the block, which has to be valid when it is
  /// read by another context.
  std::vector<std::string> typesOf(Graph &graph) {
    MLIRContext other(MLIRContext::Threading::DISABLED);
    other.loadDialect<metaop::MetaOpDialect, func::FuncDialect>();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(printBlock(graph), ParserConfig(&other));
    if (!module || failed(verify(*module)))
      return {"invalid"};
    std::vector<std::string> types;
    auto main = module->lookupSymbol<func::FuncOp>("main");
    for (Type type : main.getFunctionType().getResults())
      llvm::raw_string_ostream(types.emplace_back()) << type;
    return types;
  }

  template <typename Call> std::string errorOf(Call call) {
    try {
      call();
    } catch (const SessionError &error) {
      graph.collectAll();
      return error.what();
    }
    return "no error";
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  Graph graph{&context};
  Recorder recorder{graph};
};
} // namespace

TEST_F(RecorderTest, AGraphOfItsOwn) {
  Node *x = leaf({8, 3, 4}), *y = leaf({4, 5}, DType::I32);
  Node *product = recorder.matmul(x, y);
  Node *scaled = recorder.binary("mul", product, Number::ofFloat(0.5));
  graph.retainVar(scaled);
  EXPECT_EQ(product->shape(), llvm::ArrayRef<int64_t>({8, 3, 5}));
  EXPECT_EQ(product->dtype, DType::F32);
  EXPECT_EQ(typesOf(graph), std::vector<std::string>{"tensor<8x3x5xf32>"});
}

TEST_F(RecorderTest, SeveralResultsAndTheirLine) {
  recorder.setLine(recorder.makeLocation("model.py", 7));
  Node *sorted = recorder.sort(leaf({6}), 0, /*descending=*/false, 1, 3);
  Node *places = sorted->nextResult;
  EXPECT_EQ(places->dtype, DType::I64);
  EXPECT_EQ(places->shape(), llvm::ArrayRef<int64_t>(3));
  EXPECT_EQ(cast<FileLineColLoc>(sorted->op->getLoc()).getLine(), 7u);
  recorder.forgetLine();
  EXPECT_TRUE(isa<UnknownLoc>(recorder.unary("neg", sorted)->op->getLoc()));
}

TEST_F(RecorderTest, TwoGraphsOfOneContextAreApart) {
  Graph second(&context);
  Recorder other(second);
  recorder.seed(3);
  other.seed(3);
  Node *mine = recorder.random({2}, DType::F32);
  Node *theirs = other.random({2}, DType::F32);
  // Generators of one seed begin with the same numbers.
  EXPECT_EQ(mine->operands[1]->scalar, theirs->operands[1]->scalar);
  EXPECT_NE(recorder.random({2}, DType::F32)->operands[1]->scalar,
            mine->operands[1]->scalar);
  EXPECT_EQ(second.size(), 3u);
  EXPECT_EQ(graph.size(), 6u);
}

TEST_F(RecorderTest, WhatIsNotHeldGoes) {
  Node *x = leaf({4});
  graph.retainVar(x);
  EXPECT_EQ(graph.size(), 1u);
  EXPECT_EQ(errorOf([&] {
              recorder.binary("add", recorder.unary("exp", x), leaf({3}));
            }),
            "add: shapes (4,) and (3,) do not broadcast together");
  EXPECT_EQ(graph.size(), 1u);
}

TEST_F(RecorderTest, GradientsStopWhereAskedFor) {
  Node *x = leaf({4});
  EXPECT_EQ(recorder.applyStop(x), x);
  recorder.setStopsGradients(true);
  Node *stopped = recorder.applyStop(x);
  EXPECT_TRUE(isa<metaop::StopGradOp>(stopped->op));
  EXPECT_EQ(recorder.applyStop(stopped), stopped);
  Node *indices = leaf({4}, DType::I64);
  EXPECT_EQ(recorder.applyStop(indices), indices);
}

TEST_F(RecorderTest, IndicesThatNobodyKnowsAreChecked) {
  IndexRange range{0, 10, /*hasNegative=*/true};
  auto getChecks = [&] {
    return llvm::to_vector(graph.getBlock().getOps<metaop::CheckOp>());
  };
  // As they are given.
  Node *given = leaf({2, 3}, DType::I32);
  Node *indices = recorder.checkIndices(given, range);
  EXPECT_EQ(indices->dtype, DType::I64);
  ASSERT_EQ(getChecks().size(), 1u);
  metaop::CheckOp check = getChecks().front();
  EXPECT_EQ(graph.getNode(check.getIndices()), given);
  EXPECT_EQ(check.getRange().extent, 10);
  EXPECT_TRUE(check.getRange().hasNegative);
  recorder.checkIndices(leaf({0}, DType::I64), range);
  EXPECT_EQ(getChecks().size(), 1u);
}

TEST_F(RecorderTest, PartsAreReplacedInANewValue) {
  Node *x = leaf({4, 6});
  IndexItem rows{IndexItem::Kind::Slice, 1, 3, std::nullopt};
  IndexItem none{IndexItem::Kind::Slice, 2, 2, std::nullopt};
  Node *part = recorder.getItem(x, {rows});
  EXPECT_EQ(part->shape(), llvm::ArrayRef<int64_t>({2, 6}));
  Node *replaced = recorder.replaceItem(x, {rows}, Number::ofInt(7));
  EXPECT_NE(replaced, x);
  EXPECT_EQ(replaced->type(), x->type());
  EXPECT_EQ(recorder.replaceItem(x, {none}, Number::ofInt(7)), x);
}

TEST_F(RecorderTest, HasDerivatives) {
  Node *x = leaf({3, 4}), *labels = leaf({3}, DType::I64);
  Node *loss = recorder.reduce("sum", recorder.unary("exp", x), std::nullopt,
                               /*keepDims=*/false);
  graph.retainVar(x);
  graph.retainVar(loss);
  Derivatives derivatives(recorder);
  derivatives.checkGrad(loss, x);
  llvm::SmallVector<Node *> gradients = derivatives.grad(loss, x);
  ASSERT_EQ(gradients.size(), 1u);
  graph.retainVar(gradients[0]);
  graph.collect();
  EXPECT_EQ(gradients[0]->type(), x->type());
  EXPECT_EQ(typesOf(graph),
            (std::vector<std::string>{"tensor<3x4xf32>", "tensor<f32>",
                                      "tensor<3x4xf32>"}));
  EXPECT_EQ(errorOf([&] { derivatives.checkGrad(loss, {x, labels}); }),
            "grad: a target is int64, expected floats");
  EXPECT_EQ(errorOf([&] { derivatives.checkJvp(loss, x, {}); }),
            "jvp: 1 inputs and 0 tangents given");
}

TEST(SettingsTest, AreSetByName) {
  Settings settings;
  EXPECT_EQ(setFlag(settings, "history_bytes", int64_t(3)), Setting::Other);
  EXPECT_EQ(settings.historyBytes, 3);
  EXPECT_EQ(setFlag(settings, "memory_limit", int64_t(1) << 20),
            Setting::MemoryLimit);
  EXPECT_EQ(std::get<int64_t>(getFlag(settings, "memory_limit")), 1 << 20);
  EXPECT_THROW(setFlag(settings, "keep_packed", int64_t(2)), SessionError);
  EXPECT_TRUE(settings.keepsPacked);
  // There is no compiler.
  EXPECT_THROW(setFlag(settings, "backend", std::string("compiled")),
               SessionError);
  for (const std::string &name : getFlagNames()) {
    FlagValue value = getFlag(settings, name);
    setFlag(settings, name, value);
    EXPECT_EQ(getFlag(settings, name), value) << name;
  }
}
