//===- PromotionTest.cpp - Tests of element types -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Promotion.h"

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace metaops;

namespace {

TEST(DTypeTest, NamesAndTypesGoBothWays) {
  mlir::MLIRContext context;
  for (unsigned index = 0; index < numDTypes; ++index) {
    DType dtype = DType(index);
    EXPECT_EQ(parseDType(nameOf(dtype)), dtype);
    mlir::Type type = toElementType(dtype, &context);
    EXPECT_EQ(fromElementType(type), dtype);
    EXPECT_EQ(sizeOf(dtype), mlir::metaop::getElementBytes(type));
  }
  EXPECT_FALSE(parseDType("complex64"));
  EXPECT_FALSE(fromElementType(mlir::IntegerType::get(&context, 7)));
}

TEST(DTypeTest, PrintsShapesAsPython) {
  EXPECT_EQ(formatShape({}), "()");
  EXPECT_EQ(formatShape({3}), "(3,)");
  EXPECT_EQ(formatShape({2, 3}), "(2, 3)");
}

TEST(PromotionTest, FollowsTheArrayAPI) {
  EXPECT_EQ(promote(DType::Bool, DType::U8), DType::U8);
  EXPECT_EQ(promote(DType::I8, DType::I32), DType::I32);
  EXPECT_EQ(promote(DType::I8, DType::U8), DType::I16);
  EXPECT_EQ(promote(DType::U16, DType::I8), DType::I32);
  EXPECT_EQ(promote(DType::U32, DType::I64), DType::I64);
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::BF16, DType::F32), DType::F32);
  EXPECT_EQ(promote(DType::F32, DType::F64), DType::F64);
  EXPECT_EQ(promote(DType::I64, DType::F16), DType::F16);
  EXPECT_THROW(promote(DType::U64, DType::I8), SessionError);
}

TEST(PromotionTest, IsSymmetric) {
  for (unsigned x = 0; x < numDTypes; ++x)
    for (unsigned y = 0; y < x; ++y) {
      if (isInt(DType(x)) && isInt(DType(y)) &&
          (DType(x) == DType::U64 || DType(y) == DType::U64))
        continue;
      EXPECT_EQ(promote(DType(x), DType(y)), promote(DType(y), DType(x)));
    }
}

TEST(PromotionTest, PythonNumbersAreWeak) {
  EXPECT_EQ(promote(DType::F16, Number::Kind::Float), DType::F16);
  EXPECT_EQ(promote(DType::U8, Number::Kind::Int), DType::U8);
  EXPECT_EQ(promote(DType::I64, Number::Kind::Float), DType::F32);
  EXPECT_EQ(promote(DType::Bool, Number::Kind::Int), DType::I64);
  EXPECT_EQ(promote(DType::Bool, Number::Kind::Bool), DType::Bool);
}

TEST(NumberTest, Encodes) {
  EXPECT_EQ(Number::ofFloat(1.0).encode(DType::F32), 0x3f800000u);
  EXPECT_EQ(Number::ofFloat(1.0).encode(DType::BF16), 0x3f80u);
  EXPECT_EQ(Number::ofFloat(1.0).encode(DType::F16), 0x3c00u);
  EXPECT_EQ(Number::ofInt(-1).encode(DType::I8) & 0xff, 0xffu);
  EXPECT_EQ(Number::ofFloat(-2.7).encode(DType::I32) & 0xffffffff, 0xfffffffeu);
  EXPECT_EQ(Number::ofUnsigned(~0ull).encode(DType::U64), ~0ull);
  EXPECT_EQ(Number::ofFloat(NAN).encode(DType::Bool), 1u);
}

TEST(NumberTest, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Number::ofInt(-1).encode(DType::U8), SessionError);
  EXPECT_THROW(Number::ofInt(256).encode(DType::U8), SessionError);
  EXPECT_THROW(Number::ofInt(128).encode(DType::I8), SessionError);
  EXPECT_THROW(Number::ofUnsigned(~0ull).encode(DType::I64), SessionError);
  EXPECT_THROW(Number::ofFloat(NAN).encode(DType::I32), SessionError);
  EXPECT_EQ(Number::ofInt(255).encode(DType::U8), 255u);
  EXPECT_EQ(Number::ofInt(-128).encode(DType::I8) & 0xff, 0x80u);
}

} // namespace
