//===- AutodiffTest.cpp - differentiate() as a library function -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

class Autodiff : public ::testing::Test {
protected:
  Autodiff() : builder(&context) {
    context.loadDialect<MetaOpDialect>();
    module = ModuleOp::create(builder, loc());
    builder.setInsertionPointToEnd(module->getBody());
    type = RankedTensorType::get({4}, builder.getF32Type());
  }

  Location loc() { return builder.getUnknownLoc(); }
  Value leaf() { return BufferOp::create(builder, loc(), type); }
  Value ones() { return splatLike(builder, loc(), leaf(), 1.0); }
  size_t countOps() {
    return std::distance(module->getBody()->begin(), module->getBody()->end());
  }
  /// Returns whether all elements of `value` are zeros, as a constant says.
  static bool isZero(Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    if (!constant)
      return false;
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat() &&
           elements.getSplatValue<APFloat>().isZero();
  }
  SmallVector<Value> gradients(ArrayRef<Value> outputs, ArrayRef<Value> seeds,
                               ArrayRef<Value> targets) {
    return llvm::cantFail(differentiate(builder, outputs, seeds, targets));
  }
  std::string failureOf(ArrayRef<Value> outputs, ArrayRef<Value> seeds,
                        ArrayRef<Value> targets) {
    auto result = differentiate(builder, outputs, seeds, targets);
    return result ? "no failure" : llvm::toString(result.takeError());
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  RankedTensorType type;
};

TEST_F(Autodiff, AddsWhatComesFromAllUses) {
  Value x = leaf(), seed = ones();
  Value y = AddOp::create(builder, loc(), x, x);
  Value gradient = gradients({y}, {seed}, {x})[0];
  auto sum = gradient.getDefiningOp<AddOp>();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.getLhs(), seed);
  EXPECT_EQ(sum.getRhs(), seed);
}

TEST_F(Autodiff, GivesSeedsOfSeveralOutputs) {
  Value x = leaf(), seed0 = ones(), seed1 = ones();
  Value y = StopFuseOp::create(builder, loc(), x);
  auto sum = gradients({x, y}, {seed0, seed1}, {x})[0].getDefiningOp<AddOp>();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.getLhs(), seed0);
  EXPECT_EQ(sum.getRhs(), seed1);
}

TEST_F(Autodiff, TargetsMayDependOnEachOther) {
  Value x = leaf(), seed = ones();
  Value y = NegOp::create(builder, loc(), x);
  Value z = NegOp::create(builder, loc(), y);
  SmallVector<Value> result = gradients({z}, {seed}, {z, y, x});
  EXPECT_EQ(result[0], seed);
  EXPECT_EQ(result[1].getDefiningOp<NegOp>().getOperand(), seed);
  EXPECT_EQ(result[2].getDefiningOp<NegOp>().getOperand(), result[1]);
}

TEST_F(Autodiff, UnconnectedTargetsGetZeros) {
  Value x = leaf(), other = leaf(), seed = ones();
  Value y = NegOp::create(builder, loc(), x);
  EXPECT_TRUE(isZero(gradients({y}, {seed}, {other})[0]));
}

TEST_F(Autodiff, NothingFlowsThroughStoppedOps) {
  Value x = leaf(), seed = ones();
  Value y = NegOp::create(builder, loc(), x);
  Value z = NegOp::create(builder, loc(), y);
  auto stopped = [&](Operation *op) { return op == y.getDefiningOp(); };
  DerivativeOptions options;
  options.isStopped = stopped;
  auto result =
      llvm::cantFail(differentiate(builder, {z}, {seed}, {x, y}, options));
  EXPECT_TRUE(isZero(result[0]));
  EXPECT_TRUE(result[1].getDefiningOp<NegOp>());
  Value barrier = StopGradOp::create(builder, loc(), x);
  EXPECT_TRUE(isZero(gradients({barrier}, {seed}, {x})[0]));
}

TEST_F(Autodiff, LeavesNothingUnusedBehind) {
  Value x = leaf(), n = leaf(), seed = ones();
  Value y = MulOp::create(builder, loc(), x, n);
  size_t before = countOps();
  gradients({y}, {seed}, {x});
  EXPECT_EQ(countOps(), before + 1);
}

TEST_F(Autodiff, EmitsAtTheInsertionPoint) {
  Value x = leaf(), seed = ones();
  Value y = ExpOp::create(builder, loc(), x);
  Value after = leaf();
  builder.setInsertionPoint(after.getDefiningOp());
  Value gradient = gradients({y}, {seed}, {x})[0];
  EXPECT_TRUE(gradient.getDefiningOp()->isBeforeInBlock(after.getDefiningOp()));
}

TEST_F(Autodiff, GraphsMayBeDeep) {
  Value x = leaf(), seed = ones();
  Value y = x;
  for (int i = 0; i < 200000; ++i)
    y = NegOp::create(builder, loc(), y);
  size_t before = countOps();
  gradients({y}, {seed}, {x});
  EXPECT_EQ(countOps(), before + 200000);
}

TEST_F(Autodiff, SaysWhatIsWrong) {
  Value x = leaf(), seed = ones();
  Value mask = CmpOp::create(
      builder, loc(), ComparePredicateAttr::get(&context, ComparePredicate::Lt),
      x, x);
  Value scalar = ConstantOp::create(
      builder, loc(), RankedTensorType::get({}, builder.getF32Type()),
      DenseElementsAttr::get(RankedTensorType::get({}, builder.getF32Type()),
                             1.0f));
  EXPECT_EQ(failureOf({x}, {}, {x}),
            "expected one seed for each of 1 outputs, but got 0");
  EXPECT_EQ(failureOf({mask}, {mask}, {x}),
            "only tensors of floats have derivatives, but output 0 is "
            "tensor<4xi1>");
  EXPECT_EQ(failureOf({x}, {scalar}, {x}),
            "the seed of output 0 has type tensor<f32>, but the output "
            "tensor<4xf32>");
  EXPECT_EQ(failureOf({x}, {seed}, {mask}),
            "only tensors of floats have derivatives, but target 0 is "
            "tensor<4xi1>");
}

TEST_F(Autodiff, PushesForwardThroughInputsThatDependOnEachOther) {
  Value x = leaf(), tangent = ones();
  Value y = NegOp::create(builder, loc(), x);
  Value z = NegOp::create(builder, loc(), y);
  auto moved = pushForward(builder, {z, leaf()}, {x, y}, {tangent, tangent});
  ASSERT_TRUE(bool(moved));
  // z moves by -(t - t): y moves by its own tangent and with x.
  auto ofZ = (*moved)[0].getDefiningOp<NegOp>();
  ASSERT_TRUE(ofZ);
  EXPECT_TRUE(ofZ.getOperand().getDefiningOp<AddOp>());
  EXPECT_TRUE((*moved)[1].getDefiningOp<ConstantOp>());
}

TEST_F(Autodiff, AddsTheTangentsOfAnInputThatIsGivenTwice) {
  Value x = leaf(), first = ones(), second = leaf();
  auto moved = pushForward(builder, {x}, {x, x}, {first, second});
  ASSERT_TRUE(bool(moved));
  auto sum = (*moved)[0].getDefiningOp<AddOp>();
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum.getLhs(), first);
  EXPECT_EQ(sum.getRhs(), second);
}

TEST_F(Autodiff, SaysWhatIsWrongForward) {
  Value x = leaf(), tangent = ones();
  Value mask = CmpOp::create(
      builder, loc(), ComparePredicateAttr::get(&context, ComparePredicate::Lt),
      x, x);
  auto failureOfForward = [&](ArrayRef<Value> outputs, ArrayRef<Value> inputs,
                              ArrayRef<Value> tangents) {
    auto moved = pushForward(builder, outputs, inputs, tangents);
    return moved ? std::string() : llvm::toString(moved.takeError());
  };
  EXPECT_EQ(failureOfForward({x}, {x}, {}),
            "expected one tangent for each of 1 inputs, but got 0");
  EXPECT_EQ(failureOfForward({x}, {x}, {mask}),
            "the tangent of input 0 has type tensor<4xi1>, but the input "
            "tensor<4xf32>");
  EXPECT_EQ(failureOfForward({mask}, {x}, {tangent}),
            "only tensors of floats have derivatives, but output 0 is "
            "tensor<4xi1>");
}

} // namespace
