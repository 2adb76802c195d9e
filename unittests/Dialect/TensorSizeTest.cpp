//===- TensorSizeTest.cpp - How large tensors are -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

constexpr int64_t kLarge = int64_t(1) << 40;

TEST(TensorSize, ElementsTakeWholeBytes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder b(&context);
  EXPECT_EQ(getElementBytes(b.getI1Type()), 1);
  EXPECT_EQ(getElementBytes(b.getBF16Type()), 2);
  EXPECT_EQ(getElementBytes(b.getIntegerType(32, /*isSigned=*/false)), 4);
  EXPECT_EQ(getElementBytes(b.getF64Type()), 8);
  EXPECT_EQ(getElementBytes(b.getIndexType()), 8);
  EXPECT_EQ(getElementBytes(RankedTensorType::get({3}, b.getI1Type())), 1);
  EXPECT_EQ(countBytes(RankedTensorType::get({3, 5}, b.getI1Type())), 15);
  EXPECT_EQ(countBytes(RankedTensorType::get({}, b.getF16Type())), 2);
  EXPECT_EQ(countBytes(b.getIndexType()), 0);
}

TEST(TensorSize, CountsSaturate) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Builder b(&context);
  EXPECT_EQ(countElements({kLarge, kLarge}), kMaxCount);
  EXPECT_EQ(countElements({kLarge, kLarge, 3}), kMaxCount);
  EXPECT_EQ(countBytes(RankedTensorType::get({kLarge, kLarge}, b.getI1Type())),
            kMaxCount);
  // As elements these can be counted, as bytes not.
  EXPECT_EQ(countElements({kMaxCount}), kMaxCount);
  EXPECT_EQ(countElements({kLarge, 1 << 21}), int64_t(1) << 61);
  EXPECT_EQ(
      countBytes(RankedTensorType::get({kLarge, 1 << 21}, b.getF32Type())),
      kMaxCount);
  EXPECT_EQ(addCounts(kMaxCount, kMaxCount), kMaxCount);
  EXPECT_EQ(addCounts(2, 3), 5);
}

TEST(TensorSize, NothingIsSmallWhereverTheZeroStands) {
  EXPECT_EQ(countElements({0, kLarge, kLarge}), 0);
  EXPECT_EQ(countElements({kLarge, kLarge, 0}), 0);
}

TEST(TensorSize, DynamicExtentsCountAsTheNominalOne) {
  EXPECT_EQ(countElements({ShapedType::kDynamic, 3}), 3 * kNominalExtent);
}

} // namespace
