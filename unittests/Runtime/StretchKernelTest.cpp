//===- StretchKernelTest.cpp - Kernels of another length ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Kernels/StretchKernel.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace metaops;

namespace {

/// Returns the type of a function of `text` with its kernel stretched to a
/// length, "" where that fails.
std::string stretch(StringRef text, int64_t length) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<metaop::MetaOpDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "does not parse";
    return "";
  }
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  if (failed(stretchKernel(function, length)))
    return "";
  EXPECT_TRUE(succeeded(verify(*module)));
  std::string type;
  llvm::raw_string_ostream(type) << function.getFunctionType();
  return type;
}

// Each row and the second one behind it, of which one reads the sums of both.
constexpr llvm::StringLiteral kRows = R"(
#rows = affine_map<(d0, d1) -> (d0)>
#behind = affine_map<(d0, d1) -> (d0 + 2, d1)>
func.func @f(%a: tensor<40x8xf32>, %b: tensor<42x8xf32>) -> tensor<40xf32> {
  %0 = metaop.kernel(%c = %a : tensor<40x8xf32>, %d = %b : tensor<42x8xf32>) -> tensor<40xf32> {
    %1 = metaop.fused(%e = %c : tensor<40x8xf32>, %f = %d : tensor<42x8xf32>) -> tensor<40xf32>
        attributes {metaop.varying = array<i64: 0>} {
      %2 = metaop.reindex %f map #behind fill 0.0 : f32 : tensor<42x8xf32> -> tensor<40x8xf32>
      %3 = metaop.add %e, %2 : tensor<40x8xf32>
      %4 = metaop.reindex_reduce add %3 map #rows : tensor<40x8xf32> -> tensor<40xf32>
      metaop.yield %4 : tensor<40xf32>
    }
    metaop.yield %1 : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
})";

TEST(StretchKernel, whatIsReadAndWrittenFollows) {
  EXPECT_EQ(stretch(kRows, 61),
            "(tensor<61x8xf32>, tensor<63x8xf32>) -> tensor<61xf32>");
  EXPECT_EQ(stretch(kRows, 2),
            "(tensor<2x8xf32>, tensor<4x8xf32>) -> tensor<2xf32>");
}

TEST(StretchKernel, ofTheLengthThatItHasNothingIsLearnt) {
  EXPECT_EQ(stretch(kRows, 40), "");
}

// The rows vary and the columns do not, but both are read along one tensor.
constexpr llvm::StringLiteral kSquare = R"(
#first = affine_map<(d0, d1) -> (d0)>
#second = affine_map<(d0, d1) -> (d1)>
func.func @f(%a: tensor<40xf32>) -> tensor<40x40xf32> {
  %0 = metaop.kernel(%b = %a : tensor<40xf32>) -> tensor<40x40xf32> {
    %1 = metaop.fused(%c = %b : tensor<40xf32>) -> tensor<40x40xf32>
        attributes {metaop.varying = array<i64: 0>} {
      %2 = metaop.reindex %c map #first fill 0.0 : f32 : tensor<40xf32> -> tensor<40x40xf32>
      %3 = metaop.reindex %c map #second fill 0.0 : f32 : tensor<40xf32> -> tensor<40x40xf32>
      %4 = metaop.add %2, %3 : tensor<40x40xf32>
      metaop.yield %4 : tensor<40x40xf32>
    }
    metaop.yield %1 : tensor<40x40xf32>
  }
  return %0 : tensor<40x40xf32>
})";

TEST(StretchKernel, aTensorThatWouldHaveTwoTypesIsRefused) {
  EXPECT_EQ(stretch(kSquare, 61), "");
}

// A constant follows the extent that it is, and another one does not.
constexpr llvm::StringLiteral kConstants = R"(
func.func @f(%a: tensor<40xi64>) -> tensor<40xi64> {
  %0 = metaop.kernel(%b = %a : tensor<40xi64>) -> tensor<40xi64> {
    %1 = metaop.fused(%c = %b : tensor<40xi64>) -> tensor<40xi64>
        attributes {metaop.varying = array<i64: 0>} {
      %2 = metaop.constant {metaop.varying = array<i64>} dense<40> : tensor<40xi64>
      %3 = metaop.add %c, %2 : tensor<40xi64>
      %4 = metaop.constant dense<41> : tensor<40xi64>
      %5 = metaop.add %3, %4 : tensor<40xi64>
      metaop.yield %5 : tensor<40xi64>
    }
    metaop.yield %1 : tensor<40xi64>
  }
  return %0 : tensor<40xi64>
})";

TEST(StretchKernel, constantsThatFollowAnExtentDo) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<metaop::MetaOpDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(kConstants, &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(
      succeeded(stretchKernel(*module->getOps<func::FuncOp>().begin(), 61)));
  EXPECT_TRUE(succeeded(verify(*module)));
  std::vector<int64_t> values;
  module->walk([&](metaop::ConstantOp op) {
    values.push_back(cast<SplatElementsAttr>(op.getValue())
                         .getSplatValue<APInt>()
                         .getSExtValue());
  });
  EXPECT_EQ(values, (std::vector<int64_t>{61, 41}));
}

} // namespace
