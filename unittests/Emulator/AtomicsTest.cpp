//===- AtomicsTest.cpp - Memory that threads meet in ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <functional>
#include <limits>

using namespace metaops;

namespace {

/// A kernel that has each thread of the grid combine x[i] with y[slot[i]], in
/// global memory or first in shared memory.
std::string makeAtomic(const std::string &kind, const std::string &type,
                       bool isShared) {
  std::string rmw = "%old = llvm.atomicrmw " + kind;
  if (!isShared)
    return makeKernel(
        "%x: !llvm.ptr<1>, %slot: !llvm.ptr<1>, %y: !llvm.ptr<1>",
        "(load %v " + type +
            " %x %i)\n(load %k i32 %slot %i)\n"
            "%p = llvm.getelementptr %y[%k] : (!llvm.ptr<1>, i32) -> "
            "!llvm.ptr<1>, " +
            type + "\n" + rmw + " %p, %v monotonic : !llvm.ptr<1>, " + type);
  return makeKernel(
      "%x: !llvm.ptr<1>, %slot: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n"
      "%isSlot = llvm.icmp \"ult\" %tid, %c8 : i32\n"
      "llvm.cond_br %isSlot, ^fill, ^filled\n^fill:\n"
      "(load %start " +
          type + " %y %tid)\n(put %start " + type +
          " %s %tid)\nllvm.br ^filled\n^filled:\nnvvm.barrier0\n"
          "(load %v " +
          type +
          " %x %i)\n(load %k i32 %slot %i)\n"
          "%p = llvm.getelementptr %s[%k] : (!llvm.ptr<3>, i32) -> "
          "!llvm.ptr<3>, " +
          type + "\n" + rmw + " %p, %v monotonic : !llvm.ptr<3>, " + type +
          "\nnvvm.barrier0\nllvm.cond_br %isSlot, ^drain, ^end\n^drain:\n"
          "(get %r " +
          type + " %s %tid)\n(store %r " + type +
          " %y %tid)\nllvm.br ^end\n^end:",
      makeShared("s", 8, type));
}

template <typename T>
void testKind(const std::string &kind, const std::string &type,
              const std::vector<T> &x, const std::vector<T> &start,
              const std::function<T(T, T)> &apply) {
  for (bool isShared : {false, true}) {
    auto kernel = compileOrFail(makeAtomic(kind, type, isShared));
    ASSERT_TRUE(kernel);
    auto slot = Numbers(9).integers<int32_t>(x.size(), 0, 7);
    std::vector<T> expected = start;
    for (size_t i = 0; i < x.size(); ++i)
      expected[slot[i]] = apply(expected[slot[i]], x[i]);
    expectSound([&](const EmulatorOptions &options) {
      std::vector<T> given = x, y = start;
      // In shared memory one block has all threads.
      auto shape =
          isShared ? makeShape(1, x.size()) : makeShape(4, x.size() / 4);
      auto report = launchOrFail(
          *kernel, shape, {given.data(), slot.data(), y.data()},
          {allocate("x", given), allocate("slot", slot), allocate("y", y)},
          options);
      for (size_t k = 0; k < y.size(); ++k)
        EXPECT_EQ(y[k], expected[k]) << kind << " " << type << isShared;
      return report;
    });
  }
}

template <typename T> void testIntegers(const std::string &type) {
  using U = std::make_unsigned_t<T>;
  Numbers numbers(10);
  auto x = numbers.integers<T>(128, std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max());
  auto start = numbers.integers<T>(8, -5, 5);
  testKind<T>("add", type, x, start, [](T a, T b) { return U(a) + U(b); });
  testKind<T>("sub", type, x, start, [](T a, T b) { return U(a) - U(b); });
  testKind<T>("_and", type, x, start, [](T a, T b) { return a & b; });
  testKind<T>("_or", type, x, start, [](T a, T b) { return a | b; });
  testKind<T>("_xor", type, x, start, [](T a, T b) { return a ^ b; });
  testKind<T>("max", type, x, start, [](T a, T b) { return std::max(a, b); });
  testKind<T>("min", type, x, start, [](T a, T b) { return std::min(a, b); });
  testKind<T>("umax", type, x, start,
              [](T a, T b) { return U(a) > U(b) ? a : b; });
  testKind<T>("umin", type, x, start,
              [](T a, T b) { return U(a) < U(b) ? a : b; });
}

TEST(Atomics, IntegersOf32Bits) { testIntegers<int32_t>("i32"); }
TEST(Atomics, IntegersOf64Bits) { testIntegers<int64_t>("i64"); }

TEST(Atomics, WrappingCounters) {
  std::vector<int32_t> x(128, 12), start(8, 0);
  testKind<int32_t>("uinc_wrap", "i32", x, start, [](int32_t a, int32_t b) {
    return uint32_t(a) >= uint32_t(b) ? 0 : a + 1;
  });
  testKind<int32_t>("udec_wrap", "i32", x, start, [](int32_t a, int32_t b) {
    return a == 0 || uint32_t(a) > uint32_t(b) ? b : a - 1;
  });
}

TEST(Atomics, Floats) {
  Numbers numbers(11);
  // Whole numbers, so that sums do not depend on the order.
  std::vector<float> x(128), start(8, 1);
  std::vector<double> wide(128), wideStart(8, 1);
  auto whole = numbers.integers<int32_t>(128, -50, 50);
  for (int i = 0; i < 128; ++i)
    wide[i] = x[i] = whole[i];
  testKind<float>("fadd", "f32", x, start, std::plus<float>());
  testKind<float>("fmax", "f32", x, start,
                  [](float a, float b) { return std::max(a, b); });
  testKind<float>("fmin", "f32", x, start,
                  [](float a, float b) { return std::min(a, b); });
  testKind<double>("fadd", "f64", wide, wideStart, std::plus<double>());
}

/// Small whole numbers in 16 bits: f16 if not `isBFloat`.
uint16_t encode(int value, bool isBFloat) {
  auto number = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &number, 4);
  if (isBFloat)
    return bits >> 16;
  if (value == 0)
    return 0;
  uint32_t exponent = (bits >> 23 & 0xFF) - 127 + 15;
  return (bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3FF);
}

TEST(Atomics, Halves) {
  for (bool isBFloat : {false, true})
    for (bool isPair : {false, true}) {
      std::string half = isBFloat ? "bf16" : "f16";
      std::string type = isPair ? "vector<2x" + half + ">" : half;
      auto kernel = compileOrFail(
          makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                     "(load %v " + type +
                         " %x %i)\n%old = llvm.atomicrmw fadd %y, %v "
                         "monotonic : !llvm.ptr<1>, " +
                         type));
      ASSERT_TRUE(kernel);
      unsigned width = isPair ? 2 : 1;
      auto whole = Numbers(12).integers<int32_t>(64 * width, -3, 3);
      std::vector<uint16_t> x, y(width);
      std::vector<int> sums(width);
      for (size_t i = 0; i < whole.size(); ++i) {
        x.push_back(encode(whole[i], isBFloat));
        sums[i % width] += whole[i];
      }
      auto report =
          launchOrFail(*kernel, makeShape(2, 32), {x.data(), y.data()},
                       {allocate("x", x), allocate("y", y)});
      EXPECT_TRUE(report.isSound()) << report.str();
      for (unsigned k = 0; k < width; ++k)
        EXPECT_EQ(y[k], encode(sums[k], isBFloat)) << type;
    }
}

TEST(Atomics, OldValuesAreEachGivenOnce) {
  auto kernel = compileOrFail(makeKernel(
      "%n: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%old = llvm.atomicrmw add %n, %c1 monotonic : !llvm.ptr<1>, i32\n"
      "(store %i i32 %y %old)"));
  ASSERT_TRUE(kernel);
  bool isInOrder = true;
  expectSound([&](const EmulatorOptions &options) {
    std::vector<int32_t> n(1), y(256, -1);
    auto report = launchOrFail(*kernel, makeShape(4, 64), {n.data(), y.data()},
                               {allocate("n", n), allocate("y", y)}, options);
    EXPECT_EQ(n[0], 256);
    isInOrder &= std::is_sorted(y.begin(), y.end());
    std::sort(y.begin(), y.end());
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(y[i], i);
    return report;
  });
  EXPECT_FALSE(isInOrder);
}

TEST(Atomics, CompareAndExchange) {
  // A maximum of floats by compare and exchange, as there is no instruction.
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "(load %v f32 %x %i)\n"
      "%start = llvm.load volatile %y : !llvm.ptr<1> -> i32\n"
      "llvm.br ^try(%start : i32)\n^try(%seen: i32):\n"
      "%known = llvm.bitcast %seen : i32 to f32\n"
      "%isMore = llvm.fcmp \"ogt\" %v, %known : f32\n"
      "llvm.cond_br %isMore, ^swap, ^end\n^swap:\n"
      "%new = llvm.bitcast %v : f32 to i32\n"
      "%r = llvm.cmpxchg %y, %seen, %new acq_rel monotonic : !llvm.ptr<1>, "
      "i32\n"
      "%old = llvm.extractvalue %r[0] : !llvm.struct<(i32, i1)>\n"
      "%done = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)>\n"
      "llvm.cond_br %done, ^end, ^try(%old : i32)\n^end:"));
  ASSERT_TRUE(kernel);
  auto x = Numbers(13).floats<float>(192);
  expectSound([&](const EmulatorOptions &options) {
    std::vector<float> y(1, -100);
    auto report = launchOrFail(*kernel, makeShape(3, 64), {x.data(), y.data()},
                               {allocate("x", x), allocate("y", y)}, options);
    EXPECT_EQ(y[0], *std::max_element(x.begin(), x.end()));
    return report;
  });
}

/// The last block to come adds up what all have written: a counter tells it.
std::string makeLastBlock(const std::string &before,
                          const std::string &ordering,
                          const std::string &behind) {
  return makeKernel(
      "%x: !llvm.ptr<1>, %parts: !llvm.ptr<1>, %n: !llvm.ptr<1>, "
      "%y: !llvm.ptr<1>",
      "(load %v f32 %x %block)\n(store %v f32 %parts %block)\n" + before +
          "\n%old = llvm.atomicrmw add %n, %c1 " + ordering +
          " : !llvm.ptr<1>, i32\n" + behind +
          "\n%blocks = nvvm.read.ptx.sreg.nctaid.x : i32\n"
          "%last = llvm.sub %blocks, %c1 : i32\n"
          "%isLast = llvm.icmp \"eq\" %old, %last : i32\n"
          "(const %zero f32 0.0)\n"
          "llvm.cond_br %isLast, ^loop(%c0, %zero : i32, f32), ^end\n"
          "^loop(%k: i32, %sum: f32):\n(load %p f32 %parts %k)\n"
          "%next = llvm.fadd %sum, %p : f32\n%j = llvm.add %k, %c1 : i32\n"
          "%more = llvm.icmp \"ult\" %j, %blocks : i32\n"
          "llvm.cond_br %more, ^loop(%j, %next : i32, f32), ^done\n^done:\n"
          "(store %next f32 %y %c0)\nllvm.br ^end\n^end:");
}

void testLastBlock(const std::string &source, bool isSound) {
  auto kernel = compileOrFail(source);
  ASSERT_TRUE(kernel);
  for (uint64_t seed : allSeeds) {
    std::vector<float> x = {1, 2, 4, 8, 16, 32, 64, 128}, parts(8), y(1);
    std::vector<int32_t> n(1);
    auto report = launchOrFail(*kernel, makeShape(8, 1),
                               {x.data(), parts.data(), n.data(), y.data()},
                               {allocate("x", x), allocate("parts", parts),
                                allocate("n", n), allocate("y", y)},
                               withSeed(seed));
    EXPECT_EQ(y[0], 255);
    EXPECT_EQ(report.isSound(), isSound) << report.str();
    if (!isSound && !report.faults.empty())
      EXPECT_EQ(report.faults[0].kind, FaultKind::Race);
  }
}

TEST(Atomics, ReleaseAndAcquireOrderBlocks) {
  testLastBlock(makeLastBlock("", "acq_rel", ""), true);
}
TEST(Atomics, FencesAroundRelaxedOnesOrderBlocks) {
  testLastBlock(
      makeLastBlock("llvm.fence release", "monotonic", "llvm.fence acquire"),
      true);
  testLastBlock(makeLastBlock("nvvm.memory.barrier #nvvm.mem_scope<gpu>",
                              "monotonic",
                              "nvvm.memory.barrier #nvvm.mem_scope<gpu>"),
                true);
}
TEST(Atomics, RelaxedOnesOrderNothing) {
  testLastBlock(makeLastBlock("", "monotonic", ""), false);
}
TEST(Atomics, OneHalfOrdersNothing) {
  testLastBlock(makeLastBlock("", "release", ""), false);
  testLastBlock(makeLastBlock("", "acquire", ""), false);
}
TEST(Atomics, AFenceOfABlockOrdersNoOtherBlocks) {
  testLastBlock(makeLastBlock("nvvm.memory.barrier #nvvm.mem_scope<cta>",
                              "monotonic",
                              "nvvm.memory.barrier #nvvm.mem_scope<cta>"),
                false);
}
TEST(Atomics, AScopeOfABlockOrdersNoOtherBlocks) {
  testLastBlock(makeLastBlock("", "syncscope(\"block\") acq_rel", ""), false);
}

TEST(Atomics, AllBlocksMayWaitForEachOther) {
  // A barrier of the grid: all blocks have to be resident.
  auto kernel = compileOrFail(makeKernel(
      "%n: !llvm.ptr<1>, %x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%blocks = nvvm.read.ptx.sreg.nctaid.x : i32\n"
      "(store %block i32 %x %block)\n"
      "%old = llvm.atomicrmw add %n, %c1 release : !llvm.ptr<1>, i32\n"
      "llvm.br ^wait\n^wait:\n"
      "%seen = llvm.load %n atomic acquire {alignment = 4 : i64} : "
      "!llvm.ptr<1> -> i32\n"
      "%isDone = llvm.icmp \"eq\" %seen, %blocks : i32\n"
      "llvm.cond_br %isDone, ^go, ^wait\n^go:\n"
      "%up = llvm.add %block, %c1 : i32\n%next = llvm.urem %up, %blocks : i32\n"
      "(load %v i32 %x %next)\n(store %v i32 %y %block)"));
  ASSERT_TRUE(kernel);
  for (unsigned threads : {1, 4})
    expectSound([&](EmulatorOptions options) {
      options.threads = threads;
      std::vector<int32_t> n(1), x(20, -1), y(20, -1);
      auto report = launchOrFail(
          *kernel, makeShape(20, 1), {n.data(), x.data(), y.data()},
          {allocate("n", n), allocate("x", x), allocate("y", y)}, options);
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(y[i], (i + 1) % 20);
      return report;
    });
}

} // namespace
