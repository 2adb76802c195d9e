//===- ArithmeticTest.cpp - What threads compute by themselves ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace metaops;

namespace {

/// Applies `operation`, which makes %r of %v, to numbers.
template <typename T>
std::vector<T> apply(const std::string &operation, const std::string &type,
                     std::vector<T> x, const std::string &globals = "") {
  auto kernel =
      compileOrFail(makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                               "(load %v " + type + " %x %i)\n" + operation +
                                   "\n(store %r " + type + " %y %i)",
                               globals));
  std::vector<T> y(x.size());
  if (!kernel)
    return y;
  auto report =
      launchOrFail(*kernel, makeShape(x.size() / 32, 32), {x.data(), y.data()},
                   {allocate("x", x), allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  return y;
}

void testFunction(const std::string &operation,
                  const std::function<float(float)> &expected, float low,
                  float high, const std::string &globals = "") {
  auto x = Numbers(30).floats<float>(256, low, high);
  auto y = apply<float>(operation, "f32", x, globals);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_FLOAT_EQ(y[i], expected(x[i])) << operation << " of " << x[i];
}

std::string callIntrinsic(const std::string &name) {
  return "%r = llvm.call_intrinsic \"llvm.nvvm." + name +
         "\"(%v) : (f32) -> f32";
}

TEST(Arithmetic, Approximations) {
  auto rsqrt = [](float x) { return 1 / std::sqrt(x); };
  testFunction(callIntrinsic("ex2.approx.ftz.f32"), exp2f, -20, 20);
  testFunction(callIntrinsic("ex2.approx.f32"), exp2f, -20, 20);
  testFunction(callIntrinsic("lg2.approx.ftz.f"), log2f, 0.01f, 100);
  testFunction(callIntrinsic("lg2.approx.f"), log2f, 0.01f, 100);
  testFunction(callIntrinsic("rsqrt.approx.ftz.f"), rsqrt, 0.01f, 100);
  testFunction(callIntrinsic("rsqrt.approx.f"), rsqrt, 0.01f, 100);
  testFunction(callIntrinsic("sqrt.approx.ftz.f"), sqrtf, 0.01f, 100);
  testFunction(callIntrinsic("sqrt.rn.f"), sqrtf, 0.01f, 100);
  testFunction(callIntrinsic("sin.approx.ftz.f"), sinf, -3, 3);
  testFunction(callIntrinsic("cos.approx.f"), cosf, -3, 3);
  testFunction(
      "%r = nvvm.rcp.approx.ftz.f %v : f32", [](float x) { return 1 / x; },
      0.01f, 100);
}

TEST(Arithmetic, FullRangeQuotient) {
  testFunction(
      "%one = llvm.mlir.constant(1.0 : f32) : f32\n"
      "%r = llvm.call_intrinsic \"llvm.nvvm.div.full\"(%one, %v) : (f32, f32) "
      "-> f32",
      [](float x) { return 1 / x; }, -100, 100);
}

TEST(Arithmetic, SubnormalNumbersAreFlushedWhereTheNameSaysIt) {
  std::vector<float> x(32, 1e-40f);
  EXPECT_EQ(apply<float>(callIntrinsic("rsqrt.approx.ftz.f"), "f32", x)[0],
            std::numeric_limits<float>::infinity());
  EXPECT_FLOAT_EQ(apply<float>(callIntrinsic("rsqrt.approx.f"), "f32", x)[0],
                  1 / std::sqrt(1e-40f));
  x.assign(32, -130);
  EXPECT_EQ(apply<float>(callIntrinsic("ex2.approx.ftz.f32"), "f32", x)[0], 0);
  EXPECT_GT(apply<float>(callIntrinsic("ex2.approx.f32"), "f32", x)[0], 0);
}

TEST(Arithmetic, FunctionsOfLibdevice) {
  auto call = [](const std::string &name, float (*expected)(float), float low,
                 float high) {
    testFunction("%r = llvm.call @__nv_" + name + "f(%v) : (f32) -> f32",
                 expected, low, high,
                 "llvm.func @__nv_" + name + "f(f32) -> f32");
  };
  call("exp", expf, -10, 10);
  call("log", logf, 0.1f, 10);
  call("tanh", tanhf, -3, 3);
  call("erf", erff, -3, 3);
  call("sin", sinf, -10, 10);
  call("log1p", log1pf, -0.5f, 10);
  auto x = Numbers(31).floats<double>(64);
  auto y = apply<double>("%r = llvm.call @__nv_exp(%v) : (f64) -> f64", "f64",
                         x, "llvm.func @__nv_exp(f64) -> f64");
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_DOUBLE_EQ(y[i], std::exp(x[i]));
}

TEST(Arithmetic, InlinePtx) {
  testFunction("%r = llvm.inline_asm has_side_effects asm_dialect = att "
               "\"lg2.approx.ftz.f32 $0, $1;\", \"=f,f\" %v : (f32) -> f32",
               log2f, 0.01f, 100);
  testFunction("%r = nvvm.inline_ptx \"ex2.approx.ftz.f32 $0,  $1\" ro(%v : "
               "f32) -> f32",
               exp2f, -5, 5);
  // Hints to caches change no value.
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%at = llvm.mul %i, %c4 : i32\n"
      "%p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
      "f32\n"
      "%r = llvm.inline_asm asm_dialect = att "
      "\"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {$0, $1, $2, $3}, "
      "[$4];\", \"=f,=f,=f,=f,l\" %p : (!llvm.ptr<1>) -> !llvm.struct<(f32, "
      "f32, f32, f32)>\n"
      "%v = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32)>\n"
      "(store %v f32 %y %i)"));
  ASSERT_TRUE(kernel);
  auto x = Numbers(32).floats<float>(256);
  std::vector<float> y(64);
  auto report = launchOrFail(*kernel, makeShape(2, 32), {x.data(), y.data()},
                             {allocate("x", x), allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], x[4 * i + 2]);
  EXPECT_EQ(report.counts.accesses[0].requests, 2u);
  EXPECT_EQ(report.counts.accesses[0].bytes, 1024u);
}

float decodeBFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

/// To the nearest, ties to even, by trying neighbours.
uint16_t encodeBFloat(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  uint16_t low = bits >> 16, high = low + 1;
  double below = std::fabs(double(x) - decodeBFloat(low));
  double above = std::fabs(double(decodeBFloat(high)) - x);
  return below < above || (below == above && low % 2 == 0) ? low : high;
}

TEST(Arithmetic, BFloatsRoundAfterEachOperation) {
  auto values = Numbers(33).integers<uint16_t>(1024, 0, 0xFFFF);
  for (uint16_t &bits : values)
    if ((bits & 0x7F80) == 0x7F80)
      bits &= 0x3FFF;
  auto y = apply<uint16_t>("%r = llvm.fmul %v, %v : bf16", "bf16", values);
  for (size_t i = 0; i < values.size(); ++i) {
    float x = decodeBFloat(values[i]), product = x * x;
    if (std::isfinite(product))
      EXPECT_EQ(y[i], encodeBFloat(product)) << x;
  }
  // Subnormal numbers are kept.
  std::vector<uint16_t> small(32, 0x0003);
  EXPECT_EQ(apply<uint16_t>("%r = llvm.fadd %v, %v : bf16", "bf16", small)[0],
            6);
}

TEST(Arithmetic, HalvesRoundAfterEachOperation) {
  // 2049 is between 2048 and 2050.
  std::vector<uint16_t> x(32, 0x6800), y;
  y = apply<uint16_t>("%one = llvm.mlir.constant(1.0 : f16) : f16\n"
                      "%a = llvm.fadd %v, %one : f16\n"
                      "%r = llvm.fadd %a, %one : f16",
                      "f16", x);
  EXPECT_EQ(y[0], 0x6800);
}

TEST(Arithmetic, PermutedBytes) {
  // The table of the manual, from the most significant byte.
  auto expected = [](const std::string &mode, uint64_t pool, uint32_t s) {
    int n = s & 3;
    std::vector<int> bytes;
    if (mode == "default") {
      uint32_t r = 0;
      for (int i = 0; i < 4; ++i) {
        int nibble = s >> (4 * i) & 15;
        uint32_t byte = pool >> (8 * (nibble & 7)) & 0xFF;
        if (nibble & 8)
          byte = byte & 0x80 ? 0xFF : 0;
        r |= byte << (8 * i);
      }
      return r;
    }
    if (mode == "f4e")
      bytes = {n + 3, n + 2, n + 1, n};
    else if (mode == "b4e")
      bytes = {(n + 5) % 8, (n + 6) % 8, (n + 7) % 8, n};
    else if (mode == "rc8")
      bytes = {n, n, n, n};
    else if (mode == "ecl")
      bytes = {3, std::max(2, n), std::max(1, n), n};
    else if (mode == "ecr")
      bytes = {n, std::min(2, n), std::min(1, n), 0};
    else
      bytes =
          n % 2 ? std::vector<int>{3, 2, 3, 2} : std::vector<int>{1, 0, 1, 0};
    uint32_t r = 0;
    for (int byte : bytes)
      r = r << 8 | (pool >> (8 * byte) & 0xFF);
    return r;
  };
  Numbers numbers(34);
  for (std::string mode :
       {"default", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) {
    bool hasTwo = mode == "default" || mode == "f4e" || mode == "b4e";
    auto kernel = compileOrFail(makeKernel(
        "%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %s: !llvm.ptr<1>, %y: "
        "!llvm.ptr<1>",
        "(load %low i32 %a %i)\n(load %high i32 %b %i)\n(load %n i32 %s %i)\n"
        "%r = nvvm.prmt <" +
            mode + "> %n, %low" + (hasTwo ? ", %high" : "") +
            " : i32\n(store %r i32 %y %i)"));
    ASSERT_TRUE(kernel);
    auto a = numbers.integers<uint32_t>(128, 0, ~0u);
    auto b = numbers.integers<uint32_t>(128, 0, ~0u);
    auto s = numbers.integers<uint32_t>(128, 0, 0xFFFF);
    std::vector<uint32_t> y(128);
    auto report = launchOrFail(*kernel, makeShape(4, 32),
                               {a.data(), b.data(), s.data(), y.data()},
                               {allocate("a", a), allocate("b", b),
                                allocate("s", s), allocate("y", y)});
    EXPECT_TRUE(report.isSound()) << report.str();
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(y[i], expected(mode, uint64_t(b[i]) << 32 | a[i], s[i]))
          << mode;
  }
}

TEST(Arithmetic, HighHalvesOfProducts) {
  auto x = Numbers(35).integers<int64_t>(64, INT64_MIN, INT64_MAX);
  auto y = apply<int64_t>("%r = llvm.call_intrinsic \"llvm.nvvm.mulhi.ll\"(%v, "
                          "%v) : (i64, i64) -> i64",
                          "i64", x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(y[i], int64_t(static_cast<__int128>(x[i]) * x[i] >> 64));
  auto narrow = Numbers(36).integers<uint32_t>(64, 0, ~0u);
  auto high = apply<uint32_t>(
      "%r = llvm.call_intrinsic \"llvm.nvvm.mulhi.ui\"(%v, %v) : (i32, i32) -> "
      "i32",
      "i32", narrow);
  for (size_t i = 0; i < narrow.size(); ++i)
    EXPECT_EQ(high[i], uint32_t(uint64_t(narrow[i]) * narrow[i] >> 32));
}

TEST(Arithmetic, VariablesOfAThreadAndConstants) {
  // Each thread keeps a table of its own, and adds an entry of a common one.
  auto x = Numbers(37).integers<int32_t>(64, 0, 7);
  auto y = apply<int32_t>(
      "%n = llvm.mlir.constant(8 : i64) : i64\n"
      "%own = llvm.alloca %n x i32 : (i64) -> !llvm.ptr<5>\n"
      "llvm.br ^fill(%c0 : i32)\n^fill(%k: i32):\n"
      "%p = llvm.getelementptr %own[%k] : (!llvm.ptr<5>, i32) -> "
      "!llvm.ptr<5>, i32\n"
      "%square = llvm.mul %k, %k : i32\n%e = llvm.add %square, %lane : i32\n"
      "llvm.store %e, %p : i32, !llvm.ptr<5>\n"
      "%next = llvm.add %k, %c1 : i32\n"
      "%more = llvm.icmp \"ult\" %next, %c8 : i32\n"
      "llvm.cond_br %more, ^fill(%next : i32), ^filled\n^filled:\n"
      "nvvm.bar.warp.sync %all : i32\n"
      "%q = llvm.getelementptr %own[%v] : (!llvm.ptr<5>, i32) -> "
      "!llvm.ptr<5>, i32\n"
      "%a = llvm.load %q : !llvm.ptr<5> -> i32\n"
      "%table = llvm.mlir.addressof @table : !llvm.ptr<4>\n"
      "%t = llvm.getelementptr %table[0, %v] : (!llvm.ptr<4>, i32) -> "
      "!llvm.ptr<4>, !llvm.array<8 x i32>\n"
      "%b = llvm.load %t : !llvm.ptr<4> -> i32\n%r = llvm.add %a, %b : i32",
      "i32", x,
      "llvm.mlir.global internal constant @table(dense<[10, 20, 30, 40, 50, "
      "60, 70, 80]> : tensor<8xi32>) {addr_space = 4 : i32} : "
      "!llvm.array<8 x i32>\n");
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], x[i] * x[i] + i % 32 + 10 * (x[i] + 1));
}

} // namespace
