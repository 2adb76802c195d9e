//===- ScalarTest.cpp - Tests of element arithmetic -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Scalar.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;

namespace {

const double infinity = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

double roundFloat(ElementKind kind, double value) {
  return roundTo(kind, Scalar::ofFloat(value)).getFloat();
}

TEST(ScalarTest, RoundsFloatsToNearestEven) {
  EXPECT_EQ(roundFloat(ElementKind::F64, 0.1), 0.1);
  EXPECT_EQ(roundFloat(ElementKind::F32, 0.1), double(0.1f));
  EXPECT_EQ(roundFloat(ElementKind::F32, 16777217), 16777216);
  EXPECT_EQ(roundFloat(ElementKind::F32, 16777219), 16777220);
  EXPECT_EQ(roundFloat(ElementKind::F16, 2049), 2048);
  EXPECT_EQ(roundFloat(ElementKind::F16, 2051), 2052);
  EXPECT_EQ(roundFloat(ElementKind::F16, 65519), 65504);
  EXPECT_EQ(roundFloat(ElementKind::F16, 65520), infinity);
  EXPECT_EQ(roundFloat(ElementKind::F16, std::ldexp(1, -24)),
            std::ldexp(1, -24));
  EXPECT_EQ(roundFloat(ElementKind::F16, std::ldexp(1, -25)), 0);
  EXPECT_EQ(roundFloat(ElementKind::BF16, 257), 256);
  EXPECT_EQ(roundFloat(ElementKind::BF16, 259), 260);
  EXPECT_EQ(roundFloat(ElementKind::BF16, -infinity), -infinity);
  EXPECT_TRUE(std::isnan(roundFloat(ElementKind::BF16, nan)));
  EXPECT_TRUE(std::signbit(roundFloat(ElementKind::F16, -0.0)));
}

TEST(ScalarTest, WrapsIntegers) {
  EXPECT_EQ(roundTo(ElementKind::I8, Scalar::ofSigned(200)).getSigned(), -56);
  EXPECT_EQ(roundTo(ElementKind::UI8, Scalar::ofUnsigned(300)).getBits(), 44u);
  EXPECT_EQ(roundTo(ElementKind::UI32, Scalar::ofUnsigned(-1)).getBits(),
            0xFFFFFFFFu);
  EXPECT_EQ(roundTo(ElementKind::Bool, Scalar::ofUnsigned(2)).getBits(), 0u);
}

TEST(ScalarTest, ConvertsFloatsToIntegers) {
  auto toSigned = [](ElementKind kind, double value) {
    return convert(kind, Scalar::ofFloat(value)).getSigned();
  };
  EXPECT_EQ(toSigned(ElementKind::I32, -2.9), -2);
  EXPECT_EQ(toSigned(ElementKind::I8, 127.9), 127);
  EXPECT_EQ(toSigned(ElementKind::I8, 128), 127);
  EXPECT_EQ(toSigned(ElementKind::I8, -infinity), -128);
  EXPECT_EQ(toSigned(ElementKind::I64, nan), 0);
  EXPECT_EQ(toSigned(ElementKind::I64, 1e19),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert(ElementKind::UI64, Scalar::ofFloat(1e30)).getBits(),
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(convert(ElementKind::UI8, Scalar::ofFloat(-1)).getBits(), 0u);
  EXPECT_EQ(convert(ElementKind::Bool, Scalar::ofFloat(nan)).getBits(), 1u);
  EXPECT_EQ(convert(ElementKind::Bool, Scalar::ofFloat(-0.0)).getBits(), 0u);
}

TEST(ScalarTest, ConvertsIntegersWithOneRounding) {
  int64_t aboveTie = (int64_t(1) << 54) + (int64_t(1) << 30) + 1;
  EXPECT_EQ(convert(ElementKind::F32, Scalar::ofSigned(aboveTie)).getFloat(),
            std::ldexp(1, 54) + std::ldexp(1, 31));
  EXPECT_EQ(convert(ElementKind::F32, Scalar::ofUnsigned(-1)).getFloat(),
            std::ldexp(1, 64));
  EXPECT_EQ(convert(ElementKind::F16, Scalar::ofSigned(-70000)).getFloat(),
            -infinity);
}

TEST(ScalarTest, DividesIntegers) {
  auto floorDiv = [](int64_t x, int64_t y) {
    return scalar::floorDiv(Scalar::ofSigned(x), Scalar::ofSigned(y))
        .getSigned();
  };
  auto ceilDiv = [](int64_t x, int64_t y) {
    return scalar::ceilDiv(Scalar::ofSigned(x), Scalar::ofSigned(y))
        .getSigned();
  };
  auto mod = [](int64_t x, int64_t y) {
    return scalar::mod(Scalar::ofSigned(x), Scalar::ofSigned(y)).getSigned();
  };
  int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(floorDiv(-7, 2), -4);
  EXPECT_EQ(floorDiv(7, -2), -4);
  EXPECT_EQ(floorDiv(5, 0), 0);
  EXPECT_EQ(floorDiv(lowest, -1), lowest);
  EXPECT_EQ(ceilDiv(-7, 2), -3);
  EXPECT_EQ(ceilDiv(7, 2), 4);
  EXPECT_EQ(ceilDiv(lowest, 2), lowest / 2);
  EXPECT_EQ(mod(-7, 2), 1);
  EXPECT_EQ(mod(7, -2), -1);
  EXPECT_EQ(mod(lowest, -1), 0);
  EXPECT_EQ(mod(5, 0), 0);
  // Without a sign the highest bit is a digit.
  EXPECT_EQ(scalar::floorDiv(Scalar::ofUnsigned(-1), Scalar::ofUnsigned(2))
                .getSigned(),
            std::numeric_limits<int64_t>::max());
}

TEST(ScalarTest, TakesTheLowestInteger) {
  Scalar lowest = Scalar::ofSigned(std::numeric_limits<int64_t>::min());
  auto number = [](int64_t value) { return Scalar::ofSigned(value); };
  EXPECT_EQ(scalar::abs(lowest).getSigned(), lowest.getSigned());
  EXPECT_EQ(scalar::gcd(lowest, lowest).getSigned(), lowest.getSigned());
  EXPECT_EQ(scalar::gcd(lowest, number(0)).getSigned(), lowest.getSigned());
  EXPECT_EQ(scalar::gcd(number(-12), lowest).getSigned(), 4);
  EXPECT_EQ(scalar::pow(lowest, number(-1)).getSigned(), 0);
  EXPECT_EQ(scalar::pow(lowest, lowest).getSigned(), 0);
  EXPECT_EQ(scalar::pow(number(-1), lowest).getSigned(), 1);
}

/// The bits of an element that is read and written again.
uint64_t moveBits(ElementKind kind, uint64_t bits) {
  char from[8], to[8] = {};
  std::memcpy(from, &bits, 8);
  storeElement(kind, to, loadElement(kind, from));
  std::memcpy(&bits, to, 8);
  return bits;
}

TEST(ScalarTest, KeepsTheBitsOfNaNs) {
  for (uint64_t bits : std::initializer_list<uint64_t>{0x7f800001, 0xff800001,
                                                       0x7fc00000, 0xffffffff})
    EXPECT_EQ(moveBits(ElementKind::F32, bits), bits);
  for (uint64_t bits :
       std::initializer_list<uint64_t>{0x7c01, 0xfdff, 0x7e00, 0xffff})
    EXPECT_EQ(moveBits(ElementKind::F16, bits), bits);
  for (uint64_t bits :
       std::initializer_list<uint64_t>{0x7f81, 0xffbf, 0x7fc0, 0xffff})
    EXPECT_EQ(moveBits(ElementKind::BF16, bits), bits);
  for (uint64_t bits :
       std::initializer_list<uint64_t>{0x7ff0000000000001, 0x7ff8000000000000})
    EXPECT_EQ(moveBits(ElementKind::F64, bits), bits);
  // Digits that do not fit are lost, but it stays a NaN.
  char memory[8];
  uint64_t low = 0x7ff0000000000001;
  std::memcpy(memory, &low, 8);
  Scalar narrow =
      convert(ElementKind::F32, loadElement(ElementKind::F64, memory));
  EXPECT_TRUE(std::isnan(narrow.getFloat()));
}

TEST(ScalarTest, OrdersSpecialFloats) {
  auto max = [](double x, double y) {
    return scalar::max(Scalar::ofFloat(x), Scalar::ofFloat(y)).getFloat();
  };
  auto min = [](double x, double y) {
    return scalar::min(Scalar::ofFloat(x), Scalar::ofFloat(y)).getFloat();
  };
  EXPECT_TRUE(std::isnan(max(nan, 1)));
  EXPECT_TRUE(std::isnan(max(1, nan)));
  EXPECT_TRUE(std::isnan(min(nan, -infinity)));
  EXPECT_FALSE(std::signbit(max(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(max(0.0, -0.0)));
  EXPECT_TRUE(std::signbit(min(0.0, -0.0)));
  EXPECT_EQ(max(-infinity, 3), 3);
}

} // namespace
