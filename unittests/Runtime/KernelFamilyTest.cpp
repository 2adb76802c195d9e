//===- KernelFamilyTest.cpp - Which numbers become arguments --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Kernels/KernelFamily.h"
#include "gtest/gtest.h"

using namespace mlir::metaop;
using namespace metaops;

namespace {

/// Of each number: c and its value, or a and the number of the argument.
std::string describe(const NumberBindings &bindings) {
  std::string text;
  for (const NumberBinding &binding : bindings)
    text +=
        (text.empty() ? "" : " ") +
        std::string(binding.kind == NumberBinding::Kind::Argument ? "a" : "c") +
        std::to_string(binding.value);
  return text;
}

class KernelFamilyTest : public ::testing::Test {
protected:
  /// Plans a form for each vector that none fits, and adds it.
  std::string see(KernelFamily &family, std::vector<int64_t> numbers) {
    std::vector<int64_t> arguments;
    if (family.find(numbers, arguments))
      return "known";
    std::string text;
    for (NumberBindings &bindings : family.plan({numbers})) {
      text += describe(bindings);
      family.add({std::move(bindings), nullptr});
    }
    EXPECT_NE(family.find(numbers, arguments), nullptr);
    return text;
  }

  KernelFamily make(bool isVarying, size_t maxNumbers) {
    // The second number is the step of a loop.
    llvm::SmallBitVector steps(4);
    steps.set(1);
    return KernelFamily(steps, isVarying, maxNumbers);
  }
};

TEST_F(KernelFamilyTest, whatDiffersBecomesAnArgument) {
  KernelFamily family = make(/*isVarying=*/false, 100);
  EXPECT_EQ(see(family, {70, 1, 70, 3}), "c70 c1 c70 c3");
  EXPECT_EQ(see(family, {80, 1, 80, 3}), "a0 c1 a0 c3");
  EXPECT_EQ(see(family, {90, 1, 90, 3}), "known");
  EXPECT_EQ(see(family, {70, 1, 90, 3}), "a0 c1 a1 c3");
}

TEST_F(KernelFamilyTest, ofAVaryingFamilyAllAreArgumentsButSteps) {
  KernelFamily family = make(/*isVarying=*/true, 100);
  EXPECT_EQ(see(family, {70, 1, 70, 3}), "a0 c1 a1 a2");
  EXPECT_EQ(see(family, {80, 1, 81, 4}), "known");
}

TEST_F(KernelFamilyTest, whatDiffersForOtherLengthsIsAnArgument) {
  KernelFamily family = make(/*isVarying=*/true, 100);
  family.seeOther({37, 1, 37, 3});
  family.seeOther({61, 1, 61, 3});
  EXPECT_EQ(see(family, {70, 1, 70, 3}), "a0 c1 a0 c3");
  EXPECT_EQ(see(family, {80, 1, 80, 3}), "known");
  // Other lengths have not told all.
  EXPECT_EQ(see(family, {80, 1, 80, 5}), "a0 c1 a0 a1");
}

TEST_F(KernelFamilyTest, equalNumbersShareArgumentsOfWhichThereAreFew) {
  KernelFamily family = make(/*isVarying=*/true, 2);
  EXPECT_EQ(see(family, {70, 1, 70, 3}), "a0 c1 a0 a1");
  EXPECT_EQ(see(family, {80, 1, 80, 5}), "known");
  // These are not equal any more, so that there would be three.
  EXPECT_EQ(see(family, {80, 1, 81, 5}), "c80 c1 c81 c5");
  EXPECT_EQ(see(family, {80, 1, 82, 5}), "c80 c1 c82 c5");
  EXPECT_EQ(see(family, {90, 1, 90, 7}), "known");
}

TEST_F(KernelFamilyTest, whereThereIsNoRoomEachHasCodeOfItsOwn) {
  KernelFamily family = make(/*isVarying=*/false, 0);
  EXPECT_EQ(see(family, {70, 1, 70, 3}), "c70 c1 c70 c3");
  EXPECT_EQ(see(family, {80, 1, 80, 3}), "c80 c1 c80 c3");
  EXPECT_EQ(see(family, {70, 1, 70, 3}), "known");
}

} // namespace
