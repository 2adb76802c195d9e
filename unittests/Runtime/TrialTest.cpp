//===- TrialTest.cpp - Tests of made-up data and its comparison -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Kernels/Tuning/Trial.h"
#include "mlir/IR/Builders.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace metaops;
using namespace mlir;

namespace {

class TrialTest : public testing::Test {
protected:
  TrialTest() : builder(&context) {}

  RankedTensorType makeType(int64_t size, Type element) {
    return RankedTensorType::get({size}, element);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  Builder builder;
};

TEST_F(TrialTest, RoundingIsNoDifference) {
  auto type = makeType(4, builder.getF32Type());
  float first[] = {1000, 1, 0, NAN};
  float second[] = {1000.001f, 1.001f, 0.001f, NAN};
  EXPECT_EQ(compareResults(type, first, first), "");
  EXPECT_EQ(compareResults(type, first, second), "");
}

TEST_F(TrialTest, MoreThanRoundingIsOne) {
  auto type = makeType(3, builder.getF32Type());
  float first[] = {1, 2, 3}, second[] = {1, 2.001f, 3};
  EXPECT_NE(compareResults(type, first, second), "");
  float third[] = {1, 2, INFINITY}, fourth[] = {1, 2, NAN};
  EXPECT_NE(compareResults(type, first, third), "");
  EXPECT_NE(compareResults(type, first, fourth), "");
  EXPECT_NE(compareResults(type, fourth, first), "");
  EXPECT_EQ(compareResults(type, third, third), "");
}

TEST_F(TrialTest, DoublesAreComparedMoreClosely) {
  auto type = makeType(2, builder.getF64Type());
  double first[] = {1, 2}, second[] = {1, 2 + 1e-8}, third[] = {1, 2 + 1e-14};
  EXPECT_NE(compareResults(type, first, second), "");
  EXPECT_EQ(compareResults(type, first, third), "");
}

TEST_F(TrialTest, IntegersAreEqual) {
  auto type = makeType(2, builder.getI32Type());
  int32_t first[] = {1 << 30, 2}, second[] = {(1 << 30) + 1, 2};
  EXPECT_EQ(compareResults(type, first, first), "");
  EXPECT_NE(compareResults(type, first, second), "");
}

TEST_F(TrialTest, ArgumentsAreTheSameEachTime) {
  Allocator memory;
  llvm::SmallVector<Type> types = {makeType(9000, builder.getF32Type()),
                                   makeType(7, builder.getI64Type()),
                                   makeType(5, builder.getF16Type())};
  auto once = makeArguments(types, memory),
       again = makeArguments(types, memory);
  ASSERT_EQ(once.size(), types.size());
  const auto *floats = static_cast<const float *>(once[0]->data());
  for (int i = 0; i < 9000; ++i) {
    EXPECT_GE(floats[i], 0.5f);
    EXPECT_LE(floats[i], 1.5f);
  }
  EXPECT_NE(floats[0], floats[1]);
  const auto *integers = static_cast<const int64_t *>(once[1]->data());
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(integers[i], 0);
  for (auto [type, first, second] : llvm::zip_equal(types, once, again))
    EXPECT_EQ(compareResults(cast<RankedTensorType>(type), first->data(),
                             second->data()),
              "");
}

} // namespace
