//===- ContractionTest.cpp - Contractions and the stages around them ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Transforms/Schedule/CPU/BlockedStages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// A matrix product, with what stands between its types and its body.
std::string product(const std::string &schedule) {
  return "metaop.fused(%a = %x : tensor<28x8xf32>, %b = %w : "
         "tensor<8x48xf32>) -> tensor<28x48xf32> " +
         schedule +
         R"({
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
)";
}

/// An element-wise stage of the sums.
std::string negative(const std::string &schedule) {
  return "metaop.fused(%a = %s : tensor<28x48xf32>) -> tensor<28x48xf32> " +
         schedule +
         R"({
      %0 = metaop.neg %a : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
)";
}

/// A product with a tile, as a user's schedule has it.
constexpr StringLiteral kTile =
    "schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], "
    "tile = [0: 7, 2: 32], lanes = 2: 16>) ";
constexpr StringLiteral kPlain =
    "schedule(#metaop.schedule<[step(0), step(1), step(2)]>) ";
constexpr StringLiteral kNest =
    "schedule(#metaop.schedule<[step(0), step(1)]>) ";

class ContractionTest : public ::testing::Test {
protected:
  ContractionTest() { context.loadDialect<MetaOpDialect, func::FuncDialect>(); }

  void parse(const std::string &body, const std::string &arguments) {
    std::string text =
        "func.func @f(" + arguments + ") {\n" + body + "\n  return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
  }

  /// Returns what is said of the loops of the only stage, and of none.
  std::string describe(const std::string &body, const std::string &arguments) {
    parse(body, arguments);
    FusedOp op;
    if (module)
      module->walk([&](FusedOp fused) { op = fused; });
    if (!op)
      return "no stage";
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return "no model";
    auto contraction = Contraction::match(*stage);
    return contraction ? contraction->describe() : "none";
  }

  /// Returns a kernel of a product and what follows, with these schedules.
  KernelOp parseKernel(const std::string &first, const std::string &second) {
    parse("%k = metaop.kernel(%x = %kx : tensor<28x8xf32>, %w = %kw : "
          "tensor<8x48xf32>) -> tensor<28x48xf32> {\n    %s = " +
              product(first) + "    %y = " + negative(second) +
              "    metaop.yield %y : tensor<28x48xf32>\n  }",
          "%kx: tensor<28x8xf32>, %kw: tensor<8x48xf32>");
    KernelOp kernel;
    if (module)
      module->walk([&](KernelOp op) { kernel = op; });
    return kernel;
  }

  SmallVector<StringRef> getRoles(KernelOp kernel) {
    SmallVector<StringRef> roles;
    for (auto op : kernel.getBody().front().getOps<FusedOp>())
      roles.push_back(op.getRole() ? stringifyStageRole(*op.getRole()) : "");
    return roles;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ContractionTest, SortsLoopsOfAProduct) {
  EXPECT_EQ(describe("%s = " + product(""),
                     "%x: tensor<28x8xf32>, %w: tensor<8x48xf32>"),
            "m d0, n d2, k d1");
}

TEST_F(ContractionTest, SortsLoopsOfABatch) {
  EXPECT_EQ(
      describe(
          R"(%s = metaop.fused(%a = %x : tensor<3x28x8xf32>, %b = %w : tensor<3x8x48xf32>) -> tensor<3x28x48xf32> {
      %0 = metaop.broadcast %a dims = [0, 1, 2] : tensor<3x28x8xf32> -> tensor<3x28x8x48xf32>
      %1 = metaop.broadcast %b dims = [0, 2, 3] : tensor<3x8x48xf32> -> tensor<3x28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<3x28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [2] : tensor<3x28x8x48xf32> -> tensor<3x28x48xf32>
      metaop.yield %3 : tensor<3x28x48xf32>
    })",
          "%x: tensor<3x28x8xf32>, %w: tensor<3x8x48xf32>"),
      "batch d0, m d1, n d3, k d2");
}

// Dimensions: places, channels, offsets of the filter, filters.
TEST_F(ContractionTest, FindsTheWindowOfAConvolution) {
  EXPECT_EQ(
      describe(
          R"(%s = metaop.fused(%a = %x : tensor<30x8xf32>, %b = %w : tensor<3x8x16xf32>) -> tensor<28x16xf32> {
      %0 = metaop.reindex %a map affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1)> fill 0.0 : f32 : tensor<30x8xf32> -> tensor<28x8x3x16xf32>
      %1 = metaop.reindex %b map affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)> fill 0.0 : f32 : tensor<3x8x16xf32> -> tensor<28x8x3x16xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x3x16xf32>
      %3 = metaop.reduce add %2 dims = [1, 2] : tensor<28x8x3x16xf32> -> tensor<28x16xf32>
      metaop.yield %3 : tensor<28x16xf32>
    })",
          "%x: tensor<30x8xf32>, %w: tensor<3x8x16xf32>"),
      "m d0, n d3, k d1, window d2");
}

TEST_F(ContractionTest, IsNoReductionOfOneFactor) {
  EXPECT_EQ(
      describe(
          R"(%s = metaop.fused(%a = %x : tensor<28x8xf32>) -> tensor<28xf32> {
      %0 = metaop.mul %a, %a : tensor<28x8xf32>
      %1 = metaop.reduce add %0 dims = [1] : tensor<28x8xf32> -> tensor<28xf32>
      metaop.yield %1 : tensor<28xf32>
    })",
          "%x: tensor<28x8xf32>"),
      "none");
}

TEST_F(ContractionTest, GivesRolesByATile) {
  KernelOp kernel = parseKernel(kTile.str(), kNest.str());
  ASSERT_TRUE(kernel);
  EXPECT_FALSE(findContraction(kernel.getBody().front()));
  ASSERT_TRUE(succeeded(giveRoles(kernel)));
  EXPECT_EQ(getRoles(kernel),
            (SmallVector<StringRef>{"contraction", "epilogue"}));
  FusedOp contraction = findContraction(kernel.getBody().front());
  ASSERT_TRUE(contraction);
  EXPECT_TRUE(isTiledContraction(contraction));
  EXPECT_TRUE(succeeded(verifyRoles(kernel)));
}

TEST_F(ContractionTest, GivesNoRolesToPlainLoops) {
  KernelOp kernel = parseKernel(kPlain.str(), kNest.str());
  ASSERT_TRUE(kernel);
  ASSERT_TRUE(succeeded(giveRoles(kernel)));
  EXPECT_EQ(getRoles(kernel), (SmallVector<StringRef>{"", ""}));
}

TEST_F(ContractionTest, KeepsRolesThatAreThere) {
  KernelOp kernel = parseKernel(kPlain.str() + "role(contraction) ",
                                kNest.str() + "role(epilogue) ");
  ASSERT_TRUE(kernel);
  ASSERT_TRUE(succeeded(giveRoles(kernel)));
  EXPECT_EQ(getRoles(kernel),
            (SmallVector<StringRef>{"contraction", "epilogue"}));
  EXPECT_FALSE(isTiledContraction(findContraction(kernel.getBody().front())));
}

} // namespace
