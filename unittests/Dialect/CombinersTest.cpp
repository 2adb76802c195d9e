//===- CombinersTest.cpp - Rows of the table of combiners -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts of a row have to agree with each other: an identity with what is
// emitted, types with names in arith, uses with derivatives.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

class Combiners : public ::testing::Test {
protected:
  Combiners() { context.loadDialect<MetaOpDialect, arith::ArithDialect>(); }

  static SmallVector<Combiner> getRows() {
    SmallVector<Combiner> rows;
    for (uint32_t k = 0; k < static_cast<uint32_t>(Combiner::None); ++k)
      rows.push_back(*symbolizeCombiner(k));
    return rows;
  }

  SmallVector<Type> getTypes() {
    Builder b(&context);
    return {b.getF16Type(),
            b.getBF16Type(),
            b.getF32Type(),
            b.getF64Type(),
            b.getI1Type(),
            b.getIntegerType(8),
            b.getIntegerType(64),
            b.getIntegerType(8, /*isSigned=*/false),
            b.getIntegerType(64, /*isSigned=*/false)};
  }

  /// Returns the attribute in the type that holds the element.
  static TypedAttr toStorage(TypedAttr attr) {
    Type type = getStorageType(attr.getType());
    if (auto integer = dyn_cast<IntegerAttr>(attr))
      return IntegerAttr::get(type, integer.getValue());
    return attr;
  }

  /// Returns some value that is none of the identities.
  TypedAttr getValue(Type type) {
    if (isa<FloatType>(type))
      return FloatAttr::get(type, -2.5);
    return IntegerAttr::get(
        type, APInt(type.getIntOrFloatBitWidth(), type.isInteger(1) ? 1 : 77));
  }

  MLIRContext context;
};

TEST_F(Combiners, IdentitiesLeaveValuesAsTheyAre) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder b(module->getBodyRegion());
  for (Combiner combiner : getRows())
    for (Type type : getTypes()) {
      if (!takesElements(combiner, type) || !getArithKind(combiner, type))
        continue;
      TypedAttr identity = toStorage(getIdentity(combiner, type));
      TypedAttr value = toStorage(getValue(type));
      Location loc = module->getLoc();
      Value lhs = arith::ConstantOp::create(b, loc, identity);
      Value rhs = arith::ConstantOp::create(b, loc, value);
      Value result = emitCombined(b, loc, combiner, type, lhs, rhs);
      SmallVector<OpFoldResult> folded;
      ASSERT_TRUE(
          succeeded(result.getDefiningOp()->fold({identity, value}, folded)));
      ASSERT_EQ(folded.size(), 1u);
      auto left = dyn_cast<Attribute>(folded[0]);
      if (!left)
        left = cast<Value>(folded[0])
                   .getDefiningOp<arith::ConstantOp>()
                   .getValue();
      EXPECT_EQ(left, Attribute(value)) << stringifyCombiner(combiner).str();
    }
}

TEST_F(Combiners, LogarithmsStartFromNothing) {
  auto identity = cast<FloatAttr>(
      getIdentity(Combiner::LogAddExp, Float32Type::get(&context)));
  EXPECT_TRUE(identity.getValue().isInfinity());
  EXPECT_TRUE(identity.getValue().isNegative());
}

TEST_F(Combiners, SignsDecideNamesInArith) {
  Builder b(&context);
  EXPECT_EQ(getArithKind(Combiner::Max, b.getF16Type()),
            arith::AtomicRMWKind::maximumf);
  EXPECT_EQ(getArithKind(Combiner::Max, b.getIntegerType(8)),
            arith::AtomicRMWKind::maxs);
  EXPECT_EQ(getArithKind(Combiner::Min, b.getIntegerType(8, false)),
            arith::AtomicRMWKind::minu);
  EXPECT_EQ(getArithKind(Combiner::LogAddExp, b.getF32Type()), std::nullopt);
}

TEST_F(Combiners, UsesHaveWhatTheyNeed) {
  for (Combiner combiner : getRows()) {
    const CombinerInfo &info = getCombinerInfo(combiner);
    bool isEmitted = info.arith || info.emitScalar;
    if (isUsedBy(CombinerUse::Reduction, combiner)) {
      EXPECT_TRUE(isEmitted && info.emitTensors);
      EXPECT_EQ(info.vjp != nullptr, info.types != CombinedTypes::Bits);
      EXPECT_EQ(info.jvp != nullptr, info.types != CombinedTypes::Bits);
    }
    if (info.hasBlocks)
      EXPECT_TRUE(info.getSlopes && info.emitTensors);
  }
  EXPECT_EQ(listCombiners(CombinerUse::Reduction),
            "add, mul, max, min, and, or, xor or logaddexp");
  EXPECT_EQ(listCombiners(CombinerUse::Insertion),
            "add, mul, max, min, and, or, xor or none");
  EXPECT_EQ(listCombiners(CombinerUse::Prefix),
            "add, mul, max, min, logaddexp or linear");
}

} // namespace
