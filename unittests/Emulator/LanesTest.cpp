//===- LanesTest.cpp - Instructions between lanes -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each instruction beside plain loops that follow the tables of the PTX manual.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cmath>
#include <cstring>

using namespace metaops;

namespace {

/// Shuffles as the manual writes them: the source of a lane, and its predicate.
std::pair<int, bool> shuffleSource(const std::string &mode, int lane, int b,
                                   int c) {
  int bval = b & 0x1F, cval = c & 0x1F, mask = (c >> 8) & 0x1F;
  int maxLane = (lane & mask) | (cval & ~mask), minLane = lane & mask, j = 0;
  bool p = false;
  if (mode == "up") {
    j = lane - bval;
    p = j >= maxLane;
  } else if (mode == "down") {
    j = lane + bval;
    p = j <= maxLane;
  } else if (mode == "bfly") {
    j = lane ^ bval;
    p = j <= maxLane;
  } else {
    j = minLane | (bval & ~mask);
    p = j <= maxLane;
  }
  return {p ? j : lane, p};
}

TEST(Lanes, ShuffleModesWidthsAndPredicates) {
  Numbers numbers(1);
  for (std::string mode : {"up", "down", "bfly", "idx"}) {
    auto kernel = compileOrFail(makeKernel(
        "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %p: !llvm.ptr<1>, "
        "%b: !llvm.ptr<1>, %c: i32",
        "(load %v i32 %x %i)\n(load %w i32 %b %i)\n"
        "%r = nvvm.shfl.sync " +
            mode +
            " %all, %v, %w, %c {return_value_and_is_valid} : i32 -> "
            "!llvm.struct<(i32, i1)>\n"
            "%value = llvm.extractvalue %r[0] : !llvm.struct<(i32, i1)>\n"
            "%valid = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)>\n"
            "%wide = llvm.zext %valid : i1 to i32\n"
            "(store %value i32 %y %i)\n(store %wide i32 %p %i)"));
    ASSERT_TRUE(kernel);
    for (int width : {1, 2, 4, 8, 16, 32}) {
      int clamp = (32 - width) << 8 | (mode == "up" ? 0 : 31);
      auto x = numbers.integers<int32_t>(64, -1000, 1000);
      // The offset of bfly is the same for all lanes, as everywhere in use.
      auto b = numbers.integers<int32_t>(64, 0, mode == "idx" ? 31 : width);
      std::vector<int32_t> y(64), p(64);
      auto report =
          launchOrFail(*kernel, makeShape(2, 32),
                       {x.data(), y.data(), p.data(), b.data(), clamp},
                       {allocate("x", x), allocate("y", y), allocate("p", p),
                        allocate("b", b)},
                       withSeed(width));
      EXPECT_TRUE(report.isSound()) << report.str();
      for (int i = 0; i < 64; ++i) {
        auto [source, valid] = shuffleSource(mode, i % 32, b[i], clamp);
        EXPECT_EQ(y[i], x[i / 32 * 32 + source]) << mode << " " << width;
        EXPECT_EQ(p[i], valid) << mode << " " << width << " lane " << i % 32;
      }
    }
  }
}

TEST(Lanes, ShuffleOfFloatsInPartsOfAWarp) {
  // Each half shuffles by itself, at another place of the code.
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "(load %v f32 %x %i)\n(const %low i32 65535)\n(const %high i32 -65536)\n"
      "%isLow = llvm.icmp \"ult\" %lane, %c16 : i32\n"
      "llvm.cond_br %isLow, ^low, ^high\n"
      "^low:\n%a = nvvm.shfl.sync bfly %low, %v, %c8, %c31 : f32 -> f32\n"
      "llvm.br ^join(%a : f32)\n"
      "^high:\n%b = nvvm.shfl.sync bfly %high, %v, %c1, %c31 : f32 -> f32\n"
      "llvm.br ^join(%b : f32)\n"
      "^join(%r: f32):\n(store %r f32 %y %i)"));
  ASSERT_TRUE(kernel);
  Numbers numbers(2);
  auto x = numbers.floats<float>(32);
  std::vector<float> y(32);
  expectSound([&](const EmulatorOptions &options) {
    auto report = launchOrFail(*kernel, makeShape(1, 32), {x.data(), y.data()},
                               {allocate("x", x), allocate("y", y)}, options);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(y[i], x[i < 16 ? i ^ 8 : i ^ 1]);
    return report;
  });
}

TEST(Lanes, SameShuffleAtTwoPlaces) {
  // The lanes meet, though each half is at its own instruction.
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "(load %v i32 %x %i)\n%isLow = llvm.icmp \"ult\" %lane, %c16 : i32\n"
      "llvm.cond_br %isLow, ^low, ^high\n"
      "^low:\n%a = nvvm.shfl.sync idx %all, %v, %c31, %c31 : i32 -> i32\n"
      "llvm.br ^join(%a : i32)\n"
      "^high:\n%b = nvvm.shfl.sync idx %all, %v, %c0, %c31 : i32 -> i32\n"
      "llvm.br ^join(%b : i32)\n"
      "^join(%r: i32):\n(store %r i32 %y %i)"));
  ASSERT_TRUE(kernel);
  auto x = Numbers(3).integers<int32_t>(32, -99, 99);
  std::vector<int32_t> y(32);
  expectSound([&](const EmulatorOptions &options) {
    auto report = launchOrFail(*kernel, makeShape(1, 32), {x.data(), y.data()},
                               {allocate("x", x), allocate("y", y)}, options);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(y[i], x[i < 16 ? 31 : 0]);
    return report;
  });
}

TEST(Lanes, Votes) {
  Numbers numbers(4);
  for (std::string kind : {"any", "all", "uni", "ballot"}) {
    bool isBallot = kind == "ballot";
    auto kernel = compileOrFail(makeKernel(
        "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %mask: i32",
        "(load %v i32 %x %i)\n%p = llvm.icmp \"ne\" %v, %c0 : i32\n"
        "%bit = llvm.shl %c1, %lane : i32\n"
        "%own = llvm.and %bit, %mask : i32\n"
        "%takesPart = llvm.icmp \"ne\" %own, %c0 : i32\n"
        "llvm.cond_br %takesPart, ^vote, ^end\n^vote:\n"
        "%r = nvvm.vote.sync " +
            kind + " %mask, %p -> " +
            (isBallot ? "i32" : "i1\n%w = llvm.zext %r : i1 to i32") +
            "\n(store " + (isBallot ? "%r" : "%w") +
            " i32 %y %i)\nllvm.br ^end\n^end:"));
    ASSERT_TRUE(kernel);
    for (int turn = 0; turn < 12; ++turn) {
      uint32_t mask = numbers.integers<uint32_t>(1, 1, ~0u)[0];
      auto x = numbers.integers<int32_t>(32, 0, turn % 3 ? 1 : 0);
      if (turn % 4 == 1)
        x.assign(32, 1);
      std::vector<int32_t> y(32, -7);
      auto report =
          launchOrFail(*kernel, makeShape(1, 32), {x.data(), y.data(), mask},
                       {allocate("x", x), allocate("y", y)}, withSeed(turn));
      EXPECT_TRUE(report.isSound()) << report.str();
      uint32_t ballot = 0;
      for (int i = 0; i < 32; ++i)
        ballot |= (mask >> i & 1 && x[i] ? 1u : 0u) << i;
      int64_t expected = kind == "any"   ? ballot != 0
                         : kind == "all" ? ballot == mask
                         : kind == "uni" ? ballot == mask || ballot == 0
                                         : int32_t(ballot);
      for (int i = 0; i < 32; ++i)
        EXPECT_EQ(y[i], mask >> i & 1 ? expected : -7) << kind;
    }
  }
}

TEST(Lanes, Matches) {
  Numbers numbers(5);
  auto any = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "(load %v i64 %x %i)\n"
      "%r = nvvm.match.sync any %all, %v : i64 -> i32\n(store %r i32 %y %i)"));
  auto all = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %p: !llvm.ptr<1>",
      "(load %v i32 %x %i)\n"
      "%r = nvvm.match.sync all %all, %v : i32 -> !llvm.struct<(i32, i1)>\n"
      "%mask = llvm.extractvalue %r[0] : !llvm.struct<(i32, i1)>\n"
      "%valid = llvm.extractvalue %r[1] : !llvm.struct<(i32, i1)>\n"
      "%wide = llvm.zext %valid : i1 to i32\n"
      "(store %mask i32 %y %i)\n(store %wide i32 %p %i)"));
  ASSERT_TRUE(any && all);
  auto wide = numbers.integers<int64_t>(32, 0, 3);
  for (int64_t &value : wide)
    value |= value << 40;
  std::vector<uint32_t> y(32), p(32);
  auto report = launchOrFail(*any, makeShape(1, 32), {wide.data(), y.data()},
                             {allocate("x", wide), allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  for (int i = 0; i < 32; ++i) {
    uint32_t mask = 0;
    for (int j = 0; j < 32; ++j)
      mask |= uint32_t(wide[j] == wide[i]) << j;
    EXPECT_EQ(y[i], mask);
  }
  for (int different : {0, 1}) {
    std::vector<int32_t> x(32, 5);
    x[9] += different;
    report =
        launchOrFail(*all, makeShape(1, 32), {x.data(), y.data(), p.data()},
                     {allocate("x", x), allocate("y", y), allocate("p", p)});
    EXPECT_TRUE(report.isSound()) << report.str();
    for (int i = 0; i < 32; ++i) {
      EXPECT_EQ(y[i], different ? 0 : ~0u);
      EXPECT_EQ(p[i], different ? 0u : 1u);
    }
  }
}

TEST(Lanes, ReduxOfIntegers) {
  Numbers numbers(6);
  auto apply = [](const std::string &kind, uint32_t a, uint32_t b) -> uint32_t {
    auto x = int32_t(a), y = int32_t(b);
    if (kind == "add")
      return a + b;
    if (kind == "and")
      return a & b;
    if (kind == "or")
      return a | b;
    if (kind == "xor")
      return a ^ b;
    if (kind == "max")
      return x > y ? x : y;
    if (kind == "min")
      return x < y ? x : y;
    return kind == "umax" ? std::max(a, b) : std::min(a, b);
  };
  for (std::string kind :
       {"add", "and", "or", "xor", "max", "min", "umax", "umin"}) {
    auto kernel = compileOrFail(
        makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                   "(load %v i32 %x %i)\n%r = nvvm.redux.sync " + kind +
                       " %v, %all : i32 -> i32\n(store %r i32 %y %i)"));
    ASSERT_TRUE(kernel);
    auto x = numbers.integers<uint32_t>(64, 0, ~0u);
    std::vector<uint32_t> y(64);
    auto report = launchOrFail(*kernel, makeShape(1, 64), {x.data(), y.data()},
                               {allocate("x", x), allocate("y", y)});
    EXPECT_TRUE(report.isSound()) << report.str();
    for (int warp = 0; warp < 2; ++warp) {
      uint32_t expected = x[warp * 32];
      for (int i = 1; i < 32; ++i)
        expected = apply(kind, expected, x[warp * 32 + i]);
      for (int i = 0; i < 32; ++i)
        EXPECT_EQ(y[warp * 32 + i], expected) << kind;
    }
  }
}

TEST(Lanes, ReduxOfFloats) {
  for (std::string kind : {"fmin", "fmax"})
    for (bool abs : {false, true}) {
      auto kernel = compileOrFail(
          makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                     "(load %v f32 %x %i)\n%r = nvvm.redux.sync " + kind +
                         " %v, %all {abs = " + (abs ? "true" : "false") +
                         "} : f32 -> f32\n(store %r f32 %y %i)"));
      ASSERT_TRUE(kernel);
      auto x = Numbers(7).floats<float>(32);
      std::vector<float> y(32);
      auto report =
          launchOrFail(*kernel, makeShape(1, 32), {x.data(), y.data()},
                       {allocate("x", x), allocate("y", y)});
      EXPECT_TRUE(report.isSound()) << report.str();
      float expected = abs ? std::fabs(x[0]) : x[0];
      for (float value : x) {
        value = abs ? std::fabs(value) : value;
        expected = kind == "fmin" ? std::min(expected, value)
                                  : std::max(expected, value);
      }
      for (float value : y)
        EXPECT_EQ(value, expected) << kind << abs;
    }
}

TEST(Lanes, ElectChoosesOneLaneOfAMask) {
  auto kernel = compileOrFail(makeKernel(
      "%y: !llvm.ptr<1>, %z: !llvm.ptr<1>",
      "(const %odd i32 -1431655766)\n%bit = llvm.and %lane, %c1 : i32\n"
      "%isOdd = llvm.icmp \"ne\" %bit, %c0 : i32\n"
      "%all1 = nvvm.elect.sync -> i1\n%w1 = llvm.zext %all1 : i1 to i32\n"
      "(store %w1 i32 %y %i)\nllvm.cond_br %isOdd, ^odd, ^end\n^odd:\n"
      "%some = nvvm.elect.sync %odd -> i1\n%w2 = llvm.zext %some : i1 to i32\n"
      "(store %w2 i32 %z %i)\nllvm.br ^end\n^end:"));
  ASSERT_TRUE(kernel);
  std::vector<int> leaders;
  expectSound([&](const EmulatorOptions &options) {
    std::vector<int32_t> y(64), z(64);
    auto report = launchOrFail(*kernel, makeShape(1, 64), {y.data(), z.data()},
                               {allocate("y", y), allocate("z", z)}, options);
    for (int warp : {0, 32}) {
      int all = 0, odd = 0;
      for (int i = 0; i < 32; ++i) {
        all += y[warp + i];
        odd += z[warp + i];
        if (z[warp + i])
          EXPECT_EQ(i % 2, 1);
        // The same lane in each warp, for the same mask.
        EXPECT_EQ(y[i], y[warp + i]);
      }
      EXPECT_EQ(all, 1);
      EXPECT_EQ(odd, 1);
    }
    leaders.push_back(std::find(y.begin(), y.end(), 1) - y.begin());
    return report;
  });
  // Not always the first one.
  EXPECT_TRUE(std::any_of(leaders.begin(), leaders.end(),
                          [&](int leader) { return leader != leaders[0]; }));
}

TEST(Lanes, ActiveMaskAndLaneMasks) {
  auto kernel = compileOrFail(makeKernel(
      "%y: !llvm.ptr<1>, %m: !llvm.ptr<1>",
      "%isLow = llvm.icmp \"ult\" %lane, %c8 : i32\n"
      "llvm.cond_br %isLow, ^low, ^end\n^low:\n"
      "%mask = llvm.call_intrinsic \"llvm.nvvm.activemask\"() : () -> i32\n"
      "(store %mask i32 %y %i)\nllvm.br ^end\n^end:\n"
      "%eq = nvvm.read.ptx.sreg.lanemask.eq : i32\n"
      "%le = nvvm.read.ptx.sreg.lanemask.le : i32\n"
      "%lt = nvvm.read.ptx.sreg.lanemask.lt : i32\n"
      "%ge = nvvm.read.ptx.sreg.lanemask.ge : i32\n"
      "%gt = nvvm.read.ptx.sreg.lanemask.gt : i32\n"
      "%at = llvm.mul %i, %c5 : i32\n(store %eq i32 %m %at)\n"
      "%at1 = llvm.add %at, %c1 : i32\n(store %le i32 %m %at1)\n"
      "%at2 = llvm.add %at, %c2 : i32\n(store %lt i32 %m %at2)\n"
      "%at3 = llvm.add %at, %c3 : i32\n(store %ge i32 %m %at3)\n"
      "%at4 = llvm.add %at, %c4 : i32\n(store %gt i32 %m %at4)"));
  ASSERT_TRUE(kernel);
  std::vector<uint32_t> y(32), m(160);
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(1, 32), {y.data(), m.data()},
                        {allocate("y", y), allocate("m", m)}, options);
  });
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(y[i], i < 8 ? 0xFFu : 0u);
    uint32_t masks[5] = {};
    for (unsigned j = 0; j < 32; ++j) {
      bool relations[] = {j == i, j <= i, j<i, j >= i, j> i};
      for (int k = 0; k < 5; ++k)
        masks[k] |= uint32_t(relations[k]) << j;
    }
    EXPECT_EQ(std::memcmp(masks, &m[i * 5], sizeof masks), 0) << i;
  }
}

TEST(Lanes, WarpSyncOrdersMemory) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n(load %v f32 %x %i)\n"
      "(put %v f32 %s %tid)\nnvvm.bar.warp.sync %all : i32\n"
      "%other = llvm.xor %tid, %c15 : i32\n(get %w f32 %s %other)\n"
      "(store %w f32 %y %i)",
      makeShared("s", 64, "f32")));
  ASSERT_TRUE(kernel);
  auto x = Numbers(8).floats<float>(64);
  std::vector<float> y(64);
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(1, 64), {x.data(), y.data()},
                        {allocate("x", x), allocate("y", y)}, options);
  });
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], x[i ^ 15]);
}

TEST(Lanes, ExitedLanesAreNotWaitedFor) {
  auto kernel = compileOrFail(makeKernel(
      "%y: !llvm.ptr<1>, %n: i32",
      "%isOut = llvm.icmp \"uge\" %lane, %n : i32\n"
      "llvm.cond_br %isOut, ^out, ^in\n^out:\nnvvm.exit\nllvm.br ^in\n^in:\n"
      "%r = nvvm.redux.sync add %c1, %all : i32 -> i32\n"
      "(store %r i32 %y %i)"));
  ASSERT_TRUE(kernel);
  std::vector<int32_t> y(32, -1);
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(1, 32), {y.data(), 20},
                        {allocate("y", y)}, options);
  });
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], i < 20 ? 20 : -1);
}

} // namespace
