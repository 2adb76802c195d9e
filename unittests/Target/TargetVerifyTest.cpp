//===- TargetVerifyTest.cpp - Legality of schedules by target -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Target/AllTargets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// A kernel that sums rows, whose schedule is left to fill in.
std::string makeKernel(StringRef schedule) {
  return (R"(func.func private @k(%x: tensor<64x128xf32>) -> tensor<64xf32> {
    %k = metaop.kernel(%a = %x : tensor<64x128xf32>) -> tensor<64xf32> {
      %r = metaop.fused(%b = %a : tensor<64x128xf32>) -> tensor<64xf32> )" +
          schedule + R"( {
        %y = metaop.reduce add %b dims = [1] : tensor<64x128xf32> -> tensor<64xf32>
        metaop.yield %y : tensor<64xf32>
      }
      metaop.yield %r : tensor<64xf32>
    }
    return %k : tensor<64xf32>
  })")
      .str();
}

class TargetVerifyTest : public ::testing::Test {
protected:
  void SetUp() override {
    registerAllTargets(registry);
    DialectRegistry dialects;
    registerSliceDialects(dialects);
    context.appendDialectRegistry(dialects);
    context.loadAllAvailableDialects();
  }

  /// Returns what a target says of the kernel; nothing if it can have it.
  std::string verify(StringRef text, StringRef schedule) {
    auto target = llvm::cantFail(registry.create(text));
    auto module = parseSourceString<ModuleOp>(makeKernel(schedule), &context);
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said += diagnostic.str();
      return success();
    });
    LogicalResult result = success();
    module->walk([&](KernelOp kernel) { result = target->verify(kernel); });
    EXPECT_EQ(failed(result), !said.empty());
    return said;
  }

  TargetRegistry registry;
  MLIRContext context;
};

constexpr StringLiteral kRows = "schedule(#metaop.schedule<[parallel(0), "
                                "step(1, 16)], tile = [1: 16], lanes = 1: 16>)";
constexpr StringLiteral kBlocks =
    "schedule(#metaop.schedule<[block(0), step(1, 128), thread(1, 4)], "
    "tile = [1: 4], lanes = 1: 4>)";

TEST_F(TargetVerifyTest, TakesSchedulesOfItsOwn) {
  EXPECT_EQ(verify("cpu", kRows), "");
  EXPECT_EQ(verify("cuda chip=sm_80", kBlocks), "");
}

TEST_F(TargetVerifyTest, RefusesSchedulesOfOthers) {
  EXPECT_NE(verify("cpu", kBlocks).find("(P1)"), std::string::npos);
  EXPECT_NE(verify("cuda", kRows).find("(G2)"), std::string::npos);
}

TEST_F(TargetVerifyTest, AsksRulesOfAllTargets) {
  for (StringRef target : {"cpu", "cuda"}) {
    EXPECT_NE(verify(target, "").find("(S1)"), std::string::npos);
    EXPECT_NE(
        verify(target, "schedule(#metaop.schedule<[step(0)]>)").find("(S2)"),
        std::string::npos);
  }
}

TEST_F(TargetVerifyTest, DependsOnTheChip) {
  StringRef cluster =
      "schedule(#metaop.schedule<[cluster(0), cluster(1, 128), block(1, 32), "
      "thread(1)]>)";
  EXPECT_EQ(verify("cuda chip=sm_90a", cluster), "");
  EXPECT_NE(verify("cuda chip=sm_80", cluster).find("(G5)"), std::string::npos);
}

} // namespace
