//===- LinearFormTest.cpp - Linear expressions as factors -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::metaop;

namespace {

constexpr unsigned kDims = 4;

/// Returns an expression that is linear unless `divides`.
AffineExpr makeRandom(std::mt19937 &random, unsigned depth, bool divides,
                      MLIRContext *context) {
  auto number = [&](int most) { return static_cast<int64_t>(random() % most); };
  if (depth == 0)
    return number(3) == 0 ? getAffineConstantExpr(number(9) - 4, context)
                          : getAffineDimExpr(number(kDims), context);
  AffineExpr lhs = makeRandom(random, depth - 1, divides, context);
  switch (number(divides ? 5 : 3)) {
  case 0:
    return lhs * (number(7) - 3);
  case 1:
    return lhs - makeRandom(random, depth - 1, divides, context);
  case 2:
    return lhs + makeRandom(random, depth - 1, divides, context);
  case 3:
    return lhs.floorDiv(2 + number(5));
  default:
    return lhs % (2 + number(5));
  }
}

TEST(LinearForm, flattensAsMLIRDoes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::mt19937 random(3);
  unsigned numLinear = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    AffineExpr expr = makeRandom(random, i % 6, i % 2, &context);
    numLinear += LinearForm::get(expr, kDims).has_value();
    EXPECT_EQ(flattenExpr(expr, kDims, 0), simplifyAffineExpr(expr, kDims, 0));
  }
  EXPECT_GT(numLinear, 10000u);
}

TEST(LinearForm, replacesDimensions) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  AffineExpr a = getAffineDimExpr(0, &context),
             b = getAffineDimExpr(1, &context);
  auto form = LinearForm::get(a * 6 - b * 3 + 5, 2);
  ASSERT_TRUE(form);
  AffineExpr dims[] = {getAffineConstantExpr(2, &context), a * 2 + 1};
  auto replaced = form->replace(dims, 1);
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->getExpr(&context), a * -6 + 14);
  AffineExpr quotient[] = {a.floorDiv(2), a};
  EXPECT_FALSE(form->replace(quotient, 1));
}

TEST(LinearForm, thereIsNoneOfOtherExpressions) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  AffineExpr a = getAffineDimExpr(0, &context);
  EXPECT_FALSE(LinearForm::get(a % 3, 1));
  EXPECT_FALSE(LinearForm::get(a + getAffineSymbolExpr(0, &context), 1));
  EXPECT_FALSE(LinearForm::get(getAffineDimExpr(1, &context), 1));
  AffineExpr sum = a + getAffineDimExpr(1, &context);
  EXPECT_FALSE(LinearForm::get(sum * INT64_MAX + a, 2));
}

} // namespace
