//===- StageTest.cpp - The model of a fused stage -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Stage/UsedPart.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

class StageTest : public ::testing::Test {
protected:
  StageTest() {
    context.loadDialect<MetaOpDialect, func::FuncDialect>();
    for (unsigned i = 0; i < 8; ++i) {
      d.push_back(getAffineDimExpr(i, &context));
      s.push_back(getAffineSymbolExpr(i, &context));
    }
  }

  /// The model of a stage given as its arguments, `%name: type` each, its
  /// results' types and its body, which yields.
  Stage build(StringRef arguments, StringRef results, StringRef body,
              StringRef attributes = "") {
    SmallVector<StringRef> parts;
    arguments.split(parts, "; ", -1, /*KeepEmpty=*/false);
    std::string outer, inner;
    for (StringRef part : parts) {
      auto [name, type] = part.split(": ");
      std::string number = std::to_string(outer.size());
      inner += (inner.empty() ? "" : ", ") + name.str() + " = %o" + number +
               " : " + type.str();
      outer += (outer.empty() ? "%o" : ", %o") + number + ": " + type.str();
    }
    std::string text = "func.func @f(" + outer + ") {\n  metaop.fused(" +
                       inner + ") -> (" + results.str() + ") attributes {" +
                       attributes.str() + "} {\n" + body.str() +
                       "\n}\nreturn\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    FusedOp op;
    if (module)
      module->walk([&](FusedOp fused) { op = fused; });
    if (!op) {
      ADD_FAILURE() << "not a stage:\n" << text;
      return Stage();
    }
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage)) {
      ADD_FAILURE() << "no model of:\n" << text;
      return Stage();
    }
    return std::move(*stage);
  }

  static SmallVector<int64_t> getExtents(const Stage &stage) {
    SmallVector<int64_t> extents;
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
      extents.push_back(stage.getStaticExtent(loop));
    return extents;
  }
  static SmallVector<unsigned> list(const llvm::SmallBitVector &bits) {
    return SmallVector<unsigned>(bits.set_bits_begin(), bits.set_bits_end());
  }

  using Numbers = SmallVector<int64_t>;
  using Loops = SmallVector<unsigned>;

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  SmallVector<AffineExpr> d, s;
};

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

TEST_F(StageTest, CoefficientsOfLinearExpressions) {
  AffineExpr expr = d[0] * 6 + d[1] - d[2] * s[0] + s[1] * 3 + 5;
  EXPECT_EQ(getConstantCoefficient(expr, 0), 6);
  EXPECT_EQ(getConstantCoefficient(expr, 1), 1);
  EXPECT_EQ(getCoefficient(expr, 2), -s[0]);
  EXPECT_EQ(getConstantCoefficient(expr, 2), std::nullopt);
  EXPECT_EQ(getConstantCoefficient(expr, 3), 0);
}

TEST_F(StageTest, CoefficientsOfNestedProducts) {
  EXPECT_EQ(getConstantCoefficient((d[0] * 2 + d[1]) * 5 + d[0], 0), 11);
}

TEST_F(StageTest, NoCoefficientWhereTheLoopIsNotLinear) {
  EXPECT_EQ(getCoefficient(d[0].floorDiv(2) + d[1], 0), std::nullopt);
  EXPECT_EQ(getConstantCoefficient(d[0].floorDiv(2) + d[1], 1), 1);
  EXPECT_EQ(getCoefficient((d[0] + d[1]) % 3, 1), std::nullopt);
  EXPECT_EQ(getConstantCoefficient((d[0] + d[1]) % 3, 2), 0);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

TEST_F(StageTest, ContiguousLoopsBecomeOne) {
  Stage stage = build("%x: tensor<4x8x16xf32>", "tensor<4x8x16xf32>",
                      "%0 = metaop.exp %x : tensor<4x8x16xf32>\n"
                      "metaop.yield %0 : tensor<4x8x16xf32>");
  EXPECT_EQ(getExtents(stage), Numbers({512}));
  ASSERT_EQ(stage.reads.size(), 1u);
  EXPECT_EQ(stage.reads[0].place.offset, d[0]);
  EXPECT_FALSE(stage.reads[0].place.isGuarded());
  ASSERT_EQ(stage.writes.size(), 1u);
  EXPECT_EQ(stage.writes[0].place.offset, d[0]);
  EXPECT_EQ(stage.spaceExtents.size(), 3u);
  ASSERT_EQ(stage.toIterationSpace.getNumResults(), 3u);
  EXPECT_EQ(stage.toIterationSpace.compose({133}),
            (SmallVector<int64_t, 4>{1, 0, 5}));
}

TEST_F(StageTest, RowsKeepLoopsApart) {
  Stage stage = build("%a: tensor<4x5x6x7xf32>", "tensor<4x5x6x7xf32>",
                      "%0 = metaop.exp %a : tensor<4x5x6x7xf32>\n"
                      "metaop.yield %0 : tensor<4x5x6x7xf32>",
                      "result_rows = [#metaop.rows<42, pitch = 100>]");
  EXPECT_EQ(getExtents(stage), (Numbers{20, 42}));
  EXPECT_EQ(stage.reads[0].place.offset, d[0] * 42 + d[1]);
  EXPECT_EQ(stage.writes[0].place.offset, d[0] * 100 + d[1]);
  EXPECT_TRUE(stage.writes[0].isProjection);
}

TEST_F(StageTest, RowsOfOneElementAreSteps) {
  Stage stage = build("%a: tensor<4x5xf32>", "tensor<4xf32>",
                      "%0 = metaop.reindex_reduce add %a map "
                      "affine_map<(i, j) -> (i)> : tensor<4x5xf32> -> "
                      "tensor<4xf32>\n"
                      "metaop.yield %0 : tensor<4xf32>",
                      "input_rows = [#metaop.rows<5, pitch = 9>], "
                      "result_rows = [#metaop.rows<1, pitch = 3>]");
  EXPECT_EQ(stage.reads[0].place.offset, d[0] * 9 + d[1]);
  EXPECT_EQ(stage.writes[0].place.offset, d[0] * 3);
}

TEST_F(StageTest, LoopsThatOneAccessTellsApartStay) {
  // H and W go together in the image and its mean; N and C do not.
  Stage stage =
      build("%x: tensor<4x8x5x6xf32>", "tensor<8xf32>",
            "%0 = metaop.reduce add %x dims = [0, 2, 3] : tensor<4x8x5x6xf32> "
            "-> tensor<8xf32>\n"
            "metaop.yield %0 : tensor<8xf32>");
  EXPECT_EQ(getExtents(stage), Numbers({4, 8, 30}));
  const StageWrite &write = stage.writes[0];
  EXPECT_EQ(write.kind, Combiner::Add);
  EXPECT_TRUE(write.isProjection);
  EXPECT_EQ(list(write.loops), Loops({1}));
  EXPECT_EQ(list(write.disjoint), Loops({1}));
  EXPECT_EQ(write.place.offset, d[1]);
  EXPECT_TRUE(stage.hasReduction());
}

TEST_F(StageTest, IndicesThemselvesKeepLoopsApart) {
  Stage stage = build("%x: tensor<4x8xi64>", "tensor<4x8xi64>",
                      "%0 = metaop.iota dim = 0 : tensor<4x8xi64>\n"
                      "%1 = metaop.add %x, %0 : tensor<4x8xi64>\n"
                      "metaop.yield %1 : tensor<4x8xi64>");
  EXPECT_EQ(getExtents(stage), Numbers({4, 8}));
}

TEST_F(StageTest, UnitLoopsAreDropped) {
  Stage stage = build("%x: tensor<1x7x1xf32>", "tensor<1x7x1xf32>",
                      "%0 = metaop.exp %x : tensor<1x7x1xf32>\n"
                      "metaop.yield %0 : tensor<1x7x1xf32>");
  EXPECT_EQ(getExtents(stage), Numbers({7}));
  EXPECT_EQ(stage.toIterationSpace.compose({3}),
            (SmallVector<int64_t, 4>{0, 3, 0}));
}

TEST_F(StageTest, ASingleElementHasNoLoops) {
  Stage stage = build("%x: tensor<1x1xf32>", "tensor<1x1xf32>",
                      "%0 = metaop.exp %x : tensor<1x1xf32>\n"
                      "metaop.yield %0 : tensor<1x1xf32>");
  EXPECT_EQ(stage.getNumLoops(), 0u);
  EXPECT_FALSE(stage.isEmpty());
}

TEST_F(StageTest, AnExtentOfZeroIsEmpty) {
  Stage stage = build("%x: tensor<3x0xf32>", "tensor<3xf32>",
                      "%0 = metaop.reduce max %x dims = [1] : tensor<3x0xf32> "
                      "-> tensor<3xf32>\n"
                      "metaop.yield %0 : tensor<3xf32>");
  EXPECT_TRUE(stage.isEmpty());
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

TEST_F(StageTest, OnlyWhatCannotBeProvenIsChecked) {
  Stage stage = build(
      "%x: tensor<10xf32>", "tensor<8x3xf32>",
      "%0 = metaop.reindex %x map affine_map<(i, j) -> (i + j - 1)> fill 0.0 : "
      "f32 : tensor<10xf32> -> tensor<8x3xf32>\n"
      "metaop.yield %0 : tensor<8x3xf32>");
  const StagePlace &place = stage.reads[0].place;
  EXPECT_EQ(place.offset, d[0] + d[1] - 1);
  // At most 7 + 2 - 1 = 8: the upper bound holds.
  ASSERT_EQ(place.rangeChecks.size(), 1u);
  EXPECT_EQ(place.rangeChecks[0], d[0] + d[1] - 1);
  EXPECT_TRUE(place.conditions.empty());
  EXPECT_TRUE(stage.reads[0].fill);
}

TEST_F(StageTest, ConditionsAreKeptApartFromRanges) {
  Stage stage =
      build("%x: tensor<8x8xf32>", "tensor<8x8xf32>",
            "%0 = metaop.reindex %x map affine_map<(i, j) -> (i, j)> where "
            "affine_set<(i, j) : (j - i >= 0, j >= 0)> fill 0.0 : f32 : "
            "tensor<8x8xf32> -> tensor<8x8xf32>\n"
            "metaop.yield %0 : tensor<8x8xf32>");
  const StagePlace &place = stage.reads[0].place;
  EXPECT_TRUE(place.rangeChecks.empty());
  ASSERT_EQ(place.conditions.size(), 1u);
  EXPECT_EQ(simplifyAffineExpr(place.conditions[0] - d[1] + d[0], 2, 0),
            getAffineConstantExpr(0, &context));
}

TEST_F(StageTest, AnArgumentReadTwiceInPlaceIsOneRead) {
  Stage stage = build("%x: tensor<8xf32>", "tensor<8xf32>",
                      "%0 = metaop.mul %x, %x : tensor<8xf32>\n"
                      "%1 = metaop.add %0, %x : tensor<8xf32>\n"
                      "metaop.yield %1 : tensor<8xf32>");
  EXPECT_EQ(stage.reads.size(), 1u);
  EXPECT_EQ(stage.body.size(), 2u);
}

TEST_F(StageTest, TablesAreReadAndNumbersAreNot) {
  Stage stage = build("%x: tensor<2xf32>", "tensor<2xf32>",
                      "%0 = metaop.constant dense<[1.0, 2.0]> : tensor<2xf32>\n"
                      "%1 = metaop.constant dense<3.0> : tensor<2xf32>\n"
                      "%2 = metaop.mul %0, %1 : tensor<2xf32>\n"
                      "%3 = metaop.add %2, %x : tensor<2xf32>\n"
                      "metaop.yield %3 : tensor<2xf32>");
  ASSERT_EQ(stage.reads.size(), 2u);
  Value table = stage.reads[0].source;
  EXPECT_TRUE(table.getDefiningOp<ConstantOp>());
  EXPECT_EQ(list(stage.getLoopsOf(stage.body[0]->getResult(0))), Loops());
  EXPECT_EQ(list(stage.getLoopsOf(stage.body[1]->getResult(0))), Loops({0}));
}

TEST_F(StageTest, ScalarsAreSymbols) {
  Stage stage =
      build("%x: tensor<10x12xf32>; %i: tensor<i64>", "tensor<10x12xf32>",
            "%0 = metaop.reindex %x symbols(%i, %i) map affine_map<(a, b)[s, t]"
            " -> (a + s, b + t)> fill 0.0 : f32 : tensor<10x12xf32> -> "
            "tensor<10x12xf32>\n"
            "metaop.yield %0 : tensor<10x12xf32>");
  ASSERT_EQ(stage.symbols.size(), 1u);
  EXPECT_EQ(stage.symbols[0].kind, StageSymbol::Kind::Scalar);
  EXPECT_EQ(stage.reads[0].place.offset, d[0] * 12 + d[1] + s[0] * 13);
}

TEST_F(StageTest, DynamicExtentsAreSymbols) {
  Stage stage = build("%x: tensor<?x?xf32>", "tensor<?xf32>",
                      "%0 = metaop.reduce add %x dims = [1] : tensor<?x?xf32> "
                      "-> tensor<?xf32>\n"
                      "metaop.yield %0 : tensor<?xf32>");
  ASSERT_EQ(stage.symbols.size(), 2u);
  EXPECT_EQ(stage.symbols[1].kind, StageSymbol::Kind::Extent);
  EXPECT_EQ(stage.symbols[1].dim, 1u);
  EXPECT_EQ(getExtents(stage),
            Numbers({ShapedType::kDynamic, ShapedType::kDynamic}));
  EXPECT_EQ(stage.reads[0].place.offset, d[0] * s[1] + d[1]);
  EXPECT_FALSE(stage.reads[0].place.isGuarded());
  EXPECT_TRUE(stage.writes[0].isProjection);
  EXPECT_EQ(list(stage.writes[0].disjoint), Loops({0}));
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

TEST_F(StageTest, AScatterThroughADifferenceReachesElementsFromSeveralLoops) {
  Stage stage =
      build("%x: tensor<7x3xf32>", "tensor<7xf32>",
            "%0 = metaop.reindex_reduce add %x map affine_map<(i, j) -> "
            "(i - j)> : tensor<7x3xf32> -> tensor<7xf32>\n"
            "metaop.yield %0 : tensor<7xf32>");
  EXPECT_EQ(getExtents(stage), Numbers({7, 3}));
  const StageWrite &write = stage.writes[0];
  EXPECT_FALSE(write.isProjection);
  EXPECT_TRUE(write.disjoint.none());
  EXPECT_EQ(write.place.offset, d[0] - d[1]);
  ASSERT_EQ(write.place.rangeChecks.size(), 1u);
  EXPECT_EQ(write.place.rangeChecks[0], d[0] - d[1]);
}

TEST_F(StageTest, ConditionsOfAReductionAreThoseOfItsPlace) {
  Stage stage =
      build("%x: tensor<7x3xf32>", "tensor<7xf32>",
            "%0 = metaop.reindex %x map affine_map<(k, j) -> (k + j, j)> fill "
            "0.0 : f32 : tensor<7x3xf32> -> tensor<7x3xf32>\n"
            "%1 = metaop.reindex_reduce add %0 map affine_map<(k, j) -> (k)> "
            "where affine_set<(k, j) : (6 - k - j >= 0)> : tensor<7x3xf32> -> "
            "tensor<7xf32>\n"
            "metaop.yield %1 : tensor<7xf32>");
  const StageWrite &write = stage.writes[0];
  EXPECT_TRUE(write.isProjection);
  EXPECT_EQ(stage.reads[0].place.offset, d[0] * 3 + d[1] * 4);
  ASSERT_EQ(write.place.conditions.size(), 1u);
  EXPECT_EQ(write.place.conditions[0], 6 - d[0] - d[1]);
}

TEST_F(StageTest, AScatterThatOthersReachToo) {
  // A quotient maps several iterations to one element of the dimension.
  Stage stage =
      build("%x: tensor<5x12xf32>", "tensor<5x4xf32>",
            "%0 = metaop.reindex_reduce add %x map affine_map<(i, j) -> "
            "(i, j floordiv 3)> : tensor<5x12xf32> -> tensor<5x4xf32>\n"
            "metaop.yield %0 : tensor<5x4xf32>");
  const StageWrite &write = stage.writes[0];
  EXPECT_FALSE(write.isProjection);
  EXPECT_EQ(list(write.disjoint), Loops({0}));
  EXPECT_EQ(list(write.loops), Loops({0, 1}));
}

TEST_F(StageTest, ALoopInTwoIndicesOwnsNeither) {
  Stage stage =
      build("%x: tensor<5xf32>", "tensor<5x5xf32>",
            "%0 = metaop.reindex_reduce add %x map affine_map<(i) -> (i, i)> : "
            "tensor<5xf32> -> tensor<5x5xf32>\n"
            "metaop.yield %0 : tensor<5x5xf32>");
  EXPECT_FALSE(stage.writes[0].isProjection);
  EXPECT_EQ(list(stage.writes[0].disjoint), Loops());
}

TEST_F(StageTest, AShorterResultIsAGuardedProjection) {
  Stage stage =
      build("%x: tensor<9xf32>", "tensor<5xf32>",
            "%0 = metaop.reindex_reduce add %x map affine_map<(i) -> (i)> : "
            "tensor<9xf32> -> tensor<5xf32>\n"
            "metaop.yield %0 : tensor<5xf32>");
  EXPECT_TRUE(stage.writes[0].isProjection);
  EXPECT_TRUE(stage.writes[0].place.isGuarded());
}

TEST_F(StageTest, ALongerResultIsNoProjection) {
  Stage stage =
      build("%x: tensor<5xf32>", "tensor<9xf32>",
            "%0 = metaop.reindex_reduce add %x map affine_map<(i) -> (i)> : "
            "tensor<5xf32> -> tensor<9xf32>\n"
            "metaop.yield %0 : tensor<9xf32>");
  EXPECT_FALSE(stage.writes[0].isProjection);
}

TEST_F(StageTest, TwoResultsOfOneStage) {
  Stage stage =
      build("%x: tensor<4x8xf32>", "tensor<4x8xf32>, tensor<4xf32>",
            "%0 = metaop.exp %x : tensor<4x8xf32>\n"
            "%1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> "
            "tensor<4xf32>\n"
            "metaop.yield %0, %1 : tensor<4x8xf32>, tensor<4xf32>");
  ASSERT_EQ(stage.writes.size(), 2u);
  EXPECT_FALSE(stage.writes[0].kind);
  EXPECT_EQ(list(stage.writes[0].disjoint), Loops({0, 1}));
  EXPECT_EQ(list(stage.writes[1].disjoint), Loops({0}));
  EXPECT_EQ(stage.writes[0].value, stage.writes[1].value);
}

TEST_F(StageTest, PartsThatChecksLeave) {
  Stage stage = build(
      "%x: tensor<3x4x5xf32>", "tensor<5x4x3xf32>",
      "%0 = metaop.reindex %x map affine_map<(d0, d1, d2) -> (d2, d1, d0)> "
      "fill 0.0 : f32 : tensor<3x4x5xf32> -> tensor<5x4x3xf32>\n"
      "metaop.yield %0 : tensor<5x4x3xf32>");
  ASSERT_EQ(getExtents(stage), Numbers({5, 4, 3}));
  EXPECT_EQ(getUsedPart(stage, {}), 1);
  EXPECT_EQ(getUsedPart(stage, {d[1] - d[2]}), 9.0 / 12);
  // Of other loops the parts are multiplied, of the same ones counted together.
  EXPECT_DOUBLE_EQ(getUsedPart(stage, {d[1] - d[2], 1 - d[0]}),
                   9.0 / 12 * 2 / 5);
  EXPECT_EQ(getUsedPart(stage, {d[1] - 2, d[2] - 1, d[1] - d[2] - 1}),
            3.0 / 12);
  EXPECT_EQ(getUsedPart(stage, {d[0].floorDiv(2) - 1}), 3.0 / 5);
  EXPECT_EQ(getUsedPart(stage, {(d[0] * 3 + 1) % 2 - 1}), 3.0 / 5);
  EXPECT_EQ(getUsedPart(stage, {d[2].ceilDiv(2) - 1}), 2.0 / 3);
}

TEST_F(StageTest, PartsOfLongLoopsAreWhole) {
  Stage stage =
      build("%x: tensor<9000x4xf32>", "tensor<4x9000xf32>",
            "%0 = metaop.reindex %x map affine_map<(d0, d1) -> (d1, d0)> "
            "fill 0.0 : f32 : tensor<9000x4xf32> -> tensor<4x9000xf32>\n"
            "metaop.yield %0 : tensor<4x9000xf32>");
  EXPECT_EQ(getUsedPart(stage, {d[1] - 1}), 1);
  EXPECT_EQ(getUsedPart(stage, {d[0] - 1}), 3.0 / 4);
}

TEST_F(StageTest, TooManyElementsAreRefused) {
  context.getDiagEngine().registerHandler([](Diagnostic &) {});
  std::string type = "tensor<4611686018427387904x8xf32>";
  module = parseSourceString<ModuleOp>(
      "func.func @f(%x: " + type + ") {\n  %0 = metaop.fused(%a = %x : " +
          type + ") -> " + type + " {\n    %1 = metaop.exp %a : " + type +
          "\n    metaop.yield %1 : " + type + "\n  }\n  return\n}",
      &context);
  ASSERT_TRUE(module);
  module->walk([](FusedOp op) { EXPECT_TRUE(failed(Stage::build(op))); });
}

} // namespace
