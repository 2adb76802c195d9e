//===- CountFlopsTest.cpp - How much arithmetic operations are ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/CountFlops.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <limits>

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// Of a function with these arguments and this body.
std::optional<int64_t> count(StringRef arguments, StringRef body) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<MetaOpDialect, func::FuncDialect>();
  std::string text =
      ("func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}").str();
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "does not parse:\n" << text;
    return std::nullopt;
  }
  return countFlops(*module);
}

TEST(CountFlops, AMatrixProductIsTwoForEachPoint) {
  EXPECT_EQ(
      count("%a: tensor<4x8xf32>, %b: tensor<8x16xf32>",
            "%0 = metaop.broadcast %a dims = [0, 1] : tensor<4x8xf32> -> "
            "tensor<4x8x16xf32>\n"
            "%1 = metaop.broadcast %b dims = [1, 2] : tensor<8x16xf32> -> "
            "tensor<4x8x16xf32>\n"
            "%2 = metaop.mul %0, %1 : tensor<4x8x16xf32>\n"
            "%3 = metaop.reduce add %2 dims = [1] : tensor<4x8x16xf32> -> "
            "tensor<4x16xf32>"),
      2 * 4 * 8 * 16);
}

TEST(CountFlops, OperationsInStagesAndKernelsAreCounted) {
  EXPECT_EQ(
      count("%a: tensor<4x8xf32>",
            "%0 = metaop.kernel(%b = %a : tensor<4x8xf32>) -> tensor<4xf32> {\n"
            "  %1 = metaop.fused(%c = %b : tensor<4x8xf32>) -> tensor<4xf32> "
            "{\n"
            "    %2 = metaop.exp %c : tensor<4x8xf32>\n"
            "    %3 = metaop.reindex_reduce max %2 map affine_map<(i, j) -> "
            "(i)> : tensor<4x8xf32> -> tensor<4xf32>\n"
            "    metaop.yield %3 : tensor<4xf32>\n  }\n"
            "  %4 = metaop.fused(%d = %1 : tensor<4xf32>) -> tensor<4xf32> {\n"
            "    %5 = metaop.sqrt %d : tensor<4xf32>\n"
            "    metaop.yield %5 : tensor<4xf32>\n  }\n"
            "  metaop.yield %4 : tensor<4xf32>\n}"),
      2 * 32 + 4);
}

TEST(CountFlops, MovesAndChoicesAreNone) {
  EXPECT_EQ(
      count("%a: tensor<6xf32>, %b: tensor<6xf32>",
            "%0 = metaop.cmp lt %a, %b : tensor<6xf32> -> tensor<6xi1>\n"
            "%1 = metaop.select %0, %a, %b : tensor<6xi1>, tensor<6xf32>\n"
            "%2 = metaop.cast %1 : tensor<6xf32> -> tensor<6xf64>\n"
            "%3 = metaop.reshape %2 : tensor<6xf64> -> tensor<2x3xf64>\n"
            "%4 = metaop.constant dense<1.0> : tensor<6xf32>\n"
            "%5 = metaop.stop_grad %4 : tensor<6xf32>\n"
            "%6 = metaop.transpose %3 perm = [1, 0] : "
            "tensor<2x3xf64> -> tensor<3x2xf64>"),
      0);
}

TEST(CountFlops, IntegersAndBooleansAreNone) {
  EXPECT_EQ(
      count("%a: tensor<6xi32>, %b: tensor<6xi1>",
            "%0 = metaop.mul %a, %a : tensor<6xi32>\n"
            "%1 = metaop.not %b : tensor<6xi1>\n"
            "%2 = metaop.reduce add %0 dims = [0] : tensor<6xi32> -> "
            "tensor<i32>\n"
            "%3 = metaop.reduce or %1 dims = [0] : tensor<6xi1> -> tensor<i1>"),
      0);
}

TEST(CountFlops, AnEmptySpaceIsNone) {
  EXPECT_EQ(
      count("%a: tensor<3x0xf32>", "%0 = metaop.exp %a : tensor<3x0xf32>"), 0);
}

TEST(CountFlops, DynamicExtentsHaveNoNumber) {
  EXPECT_EQ(count("%a: tensor<?xf32>", "%0 = metaop.exp %a : tensor<?xf32>"),
            std::nullopt);
  // But only arithmetic matters.
  EXPECT_EQ(count("%a: tensor<?xi32>", "%0 = metaop.abs %a : tensor<?xi32>"),
            0);
}

TEST(CountFlops, NumbersThatDoNotFitAreTheLargest) {
  constexpr StringRef type = "tensor<4611686018427387904x2x3xf32>";
  EXPECT_EQ(
      count(("%a: " + type).str(), ("%0 = metaop.exp %a : " + type).str()),
      std::numeric_limits<int64_t>::max());
}

} // namespace
