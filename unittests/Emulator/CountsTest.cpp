//===- CountsTest.cpp - What accesses move --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <set>

using namespace metaops;

namespace {

/// Copies x[slot[i]] to y[i]; elements are vectors of `lanes` floats.
EmulatorReport gather(std::vector<int32_t> slot, unsigned lanes,
                      uint64_t seed = 0) {
  std::string type =
      lanes == 1 ? "f32" : "vector<" + std::to_string(lanes) + "xf32>";
  auto kernel = compileOrFail(
      makeKernel("%x: !llvm.ptr<1>, %slot: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                 "(load %k i32 %slot %i)\n(load %v " + type +
                     " %x %k)\n(store %v " + type + " %y %i)"));
  if (!kernel)
    return {};
  size_t count = *std::max_element(slot.begin(), slot.end()) + 1;
  // Where sectors begin.
  std::vector<std::array<double, 4>> memory(count + slot.size() + 8);
  auto begin = reinterpret_cast<uintptr_t>(memory.data());
  auto *x = reinterpret_cast<float *>((begin + 31) / 32 * 32);
  float *y = x + (count * lanes + 7) / 8 * 8;
  return launchOrFail(*kernel, makeShape(slot.size() / 32, 32),
                      {x, slot.data(), y},
                      {{"x", x, count * lanes * 4},
                       allocate("slot", slot),
                       {"y", y, slot.size() * lanes * 4}},
                      withSeed(seed));
}

/// What the gathered access moved, and the least that it could have.
void expectSectors(const std::vector<int32_t> &slot, unsigned lanes) {
  auto report = gather(slot, lanes);
  EXPECT_TRUE(report.isSound()) << report.str();
  uint64_t moved = 0, least = 0;
  for (size_t first = 0; first < slot.size(); first += 32) {
    std::set<uint64_t> sectors, bytes;
    for (size_t i = first; i < first + 32; ++i)
      for (uint64_t byte = 0; byte < 4 * lanes; ++byte) {
        bytes.insert(uint64_t(slot[i]) * 4 * lanes + byte);
        sectors.insert((uint64_t(slot[i]) * 4 * lanes + byte) / 32);
      }
    moved += sectors.size();
    least += (bytes.size() + 31) / 32;
  }
  ASSERT_EQ(report.counts.accesses.size(), 3u);
  EXPECT_EQ(report.counts.accesses[1].requests, slot.size() / 32);
  EXPECT_EQ(report.counts.accesses[1].moved, moved);
  EXPECT_EQ(report.counts.accesses[1].least, least);
}

TEST(Counts, SectorsOfEachRequest) {
  std::vector<int32_t> slot(64);
  for (int stride : {0, 1, 2, 3, 8, 9})
    for (unsigned lanes : {1, 2, 4}) {
      for (int i = 0; i < 64; ++i)
        slot[i] = 5 * lanes + stride * i;
      expectSectors(slot, lanes);
    }
  for (unsigned seed = 0; seed < 8; ++seed)
    expectSectors(Numbers(seed).integers<int32_t>(64, 0, 100), 1 << seed % 3);
}

TEST(Counts, DoNotDependOnTheOrder) {
  auto slot = Numbers(40).integers<int32_t>(128, 0, 60);
  auto first = gather(slot, 2).counts.accesses[1];
  for (uint64_t seed : allSeeds) {
    auto other = gather(slot, 2, seed).counts.accesses[1];
    EXPECT_EQ(first.requests, other.requests);
    EXPECT_EQ(first.moved, other.moved);
  }
}

TEST(Counts, AnUnalignedVectorIsSeveralRequests) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%at = llvm.mul %i, %c4 : i32\n"
      "%p = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, "
      "f32\n"
      "%v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> "
      "vector<4xf32>\n(store %v vector<4xf32> %y %i)"));
  ASSERT_TRUE(kernel);
  std::vector<float> x(128);
  std::vector<std::array<double, 2>> y(64);
  auto report = launchOrFail(*kernel, makeShape(1, 32), {x.data(), y.data()},
                             {allocate("x", x), allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  EXPECT_EQ(report.counts.accesses[0].requests, 4u);
  EXPECT_EQ(report.counts.accesses[1].requests, 1u);
  EXPECT_GE(report.counts.accesses[0].moved, 64u);
}

TEST(Counts, ScalarsAreAlignedToTheirSize) {
  for (std::string type : {"i16", "i32", "i64", "f64"}) {
    auto kernel = compileOrFail(makeKernel(
        "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
        "(load %v " + type + " %x %i)\n(store %v " + type + " %y %i)"));
    ASSERT_TRUE(kernel);
    alignas(32) int64_t x[32] = {}, y[32] = {};
    auto report = launchOrFail(*kernel, makeShape(1, 32), {x, y},
                               {{"x", x, sizeof(x)}, {"y", y, sizeof(y)}});
    EXPECT_TRUE(report.isSound()) << report.str();
    uint64_t bytes = std::stoi(type.substr(1)) / 8;
    for (const auto &access : report.counts.accesses) {
      EXPECT_EQ(access.requests, 1u) << type;
      EXPECT_EQ(access.moved, bytes) << type;
    }
  }
  // Half of it is not enough.
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>", "%v = llvm.load %x : !llvm.ptr<1> -> i64"));
  ASSERT_TRUE(kernel);
  alignas(32) int32_t x[8] = {};
  auto report =
      launchOrFail(*kernel, makeShape(1, 1), {x + 1}, {{"x", x, sizeof(x)}});
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_NE(report.str().find("misaligned"), std::string::npos) << report.str();
}

/// Passes through the banks for a request, as plainly as can be: lanes of an
/// eighth-word access and more go in parts.
uint64_t countPasses(const std::vector<int32_t> &slot, unsigned words) {
  uint64_t passes = 0;
  unsigned together = 32 / words;
  for (unsigned first = 0; first < 32; first += together) {
    std::vector<std::set<int>> banks(32);
    for (unsigned i = first; i < first + together; ++i)
      for (unsigned w = 0; w < words; ++w) {
        int word = slot[i] * words + w;
        banks[word % 32].insert(word);
      }
    size_t most = 0;
    for (auto &bank : banks)
      most = std::max(most, bank.size());
    passes += most;
  }
  return passes;
}

TEST(Counts, BankConflicts) {
  for (unsigned lanes : {1, 2, 4}) {
    std::string type =
        lanes == 1 ? "f32" : "vector<" + std::to_string(lanes) + "xf32>";
    auto kernel = compileOrFail(makeKernel(
        "%slot: !llvm.ptr<1>, %v: " + std::string("f32"),
        "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n(load %k i32 %slot %i)\n"
        "%zero = llvm.mlir.zero : " +
            type + "\n(put %zero " + type + " %s %k)",
        makeShared("s", 4096, "f32")));
    ASSERT_TRUE(kernel);
    for (int stride : {1, 2, 3, 4, 8, 16, 32, 33}) {
      if (stride * 32 * lanes > 4096)
        continue;
      std::vector<int32_t> slot(32);
      for (int i = 0; i < 32; ++i)
        slot[i] = stride * i;
      auto report = launchOrFail(*kernel, makeShape(1, 32), {slot.data(), 0.f},
                                 {allocate("slot", slot)});
      EXPECT_TRUE(report.isSound()) << report.str();
      auto shared = report.counts.getShared();
      EXPECT_EQ(shared.moved, countPasses(slot, lanes)) << stride << lanes;
      EXPECT_EQ(shared.least, lanes);
      EXPECT_EQ(report.counts.getBankConflicts(), shared.moved - lanes);
    }
  }
}

TEST(Counts, WhatOneLaneDoesBesideIsARequestOfItsOwn) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%isFirst = llvm.icmp \"eq\" %lane, %c3 : i32\n"
      "llvm.cond_br %isFirst, ^one, ^rest\n^one:\n(store %c7 i32 %y %c64)\n"
      "llvm.br ^rest\n^rest:\n(load %v i32 %x %i)\n(store %v i32 %y %i)"));
  ASSERT_TRUE(kernel);
  std::vector<int32_t> x(32), y(80);
  expectSound([&](const EmulatorOptions &options) {
    auto report = launchOrFail(*kernel, makeShape(1, 32), {x.data(), y.data()},
                               {allocate("x", x), allocate("y", y)}, options);
    for (const AccessCounts &access : report.counts.accesses)
      EXPECT_EQ(access.requests, 1u) << access.location;
    return report;
  });
}

TEST(Counts, InstructionsByClass) {
  auto kernel = compileOrFail(
      makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32",
                 "llvm.br ^loop(%c0 : i32)\n^loop(%k: i32):\n(load %v "
                 "vector<4xf32> %x %k)\n"
                 "%w = llvm.fmul %v, %v : vector<4xf32>\n"
                 "%e = llvm.extractelement %w[%c0 : i32] : vector<4xf32>\n"
                 "%s = llvm.intr.exp(%e) : (f32) -> f32\n"
                 "%h = llvm.fptrunc %s : f32 to f16\n"
                 "%next = llvm.add %k, %c1 : i32\n"
                 "%more = llvm.icmp \"ult\" %next, %n : i32\n"
                 "llvm.cond_br %more, ^loop(%next : i32), ^done\n^done:\n"
                 "nvvm.barrier0\n%t = nvvm.shfl.sync idx %all, %s, %c0, %c31 : "
                 "f32 -> f32\n"
                 "(store %t f32 %y %i)"));
  ASSERT_TRUE(kernel);
  std::vector<std::array<double, 2>> x(16);
  std::vector<float> y(64);
  auto report = launchOrFail(*kernel, makeShape(2, 32), {x.data(), y.data(), 5},
                             {allocate("x", x), allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  const LaunchCounts &counts = report.counts;
  // Of 64 threads, five times.
  EXPECT_EQ(counts[InstructionClass::Float], 64u * 5 * 4);
  EXPECT_EQ(counts[InstructionClass::Function], 64u * 5);
  EXPECT_EQ(counts[InstructionClass::Conversion], 64u * 5);
  EXPECT_EQ(counts[InstructionClass::Global], 64u * 6);
  EXPECT_EQ(counts[InstructionClass::Barrier], 64u);
  EXPECT_EQ(counts[InstructionClass::Exchange], 64u);
  EXPECT_EQ(counts[InstructionClass::Control], 64u * (1 + 5));
  EXPECT_EQ(counts[InstructionClass::Shared], 0u);
}

} // namespace
