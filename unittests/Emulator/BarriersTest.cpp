//===- BarriersTest.cpp - Barriers, clusters, asynchronous copies ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace metaops;

namespace {

/// Reverses each block's part of x through shared memory, with `barrier`
/// between.
std::string makeReverse(const std::string &barrier) {
  return makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                    "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n"
                    "(load %v f32 %x %i)\n(put %v f32 %s %tid)\n" +
                        barrier +
                        "\n%last = llvm.sub %ntid, %c1 : i32\n"
                        "%other = llvm.sub %last, %tid : i32\n"
                        "(get %w f32 %s %other)\n(store %w f32 %y %i)",
                    makeShared("s", 256, "f32"));
}

void testReverse(const std::string &barrier, unsigned threads) {
  auto kernel = compileOrFail(makeReverse(barrier));
  ASSERT_TRUE(kernel);
  auto x = Numbers(20).floats<float>(4 * threads);
  std::vector<float> y(x.size());
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(4, threads), {x.data(), y.data()},
                        {allocate("x", x), allocate("y", y)}, options);
  });
  for (unsigned i = 0; i < y.size(); ++i)
    EXPECT_EQ(y[i], x[i / threads * threads + threads - 1 - i % threads]);
}

TEST(Barriers, OfAllThreads) {
  testReverse("nvvm.barrier0", 256);
  testReverse("nvvm.barrier", 96);
  testReverse("nvvm.barrier id = %c5", 64);
  // The last warp is not full.
  testReverse("nvvm.barrier0", 70);
}

TEST(Barriers, OfACount) {
  testReverse("nvvm.barrier id = %c3 number_of_threads = %ntid", 128);
  testReverse("llvm.call_intrinsic \"llvm.nvvm.barrier.cta.sync.count\"(%c1, "
              "%ntid) : (i32, i32) -> ()",
              128);
}

TEST(Barriers, OfIntrinsics) {
  testReverse("llvm.call_intrinsic \"llvm.nvvm.barrier.cta.sync.aligned.all\""
              "(%c0) : (i32) -> ()",
              128);
  testReverse("llvm.call_intrinsic \"llvm.nvvm.barrier.cta.sync.all\"(%c0) : "
              "(i32) -> ()",
              128);
}

TEST(Barriers, NotAlignedInDivergentCode) {
  testReverse("%odd = llvm.and %lane, %c1 : i32\n"
              "%isOdd = llvm.icmp \"eq\" %odd, %c1 : i32\n"
              "llvm.cond_br %isOdd, ^a, ^b\n^a:\n"
              "llvm.call_intrinsic \"llvm.nvvm.barrier.cta.sync.all\"(%c0) : "
              "(i32) -> ()\nllvm.br ^join\n^b:\n"
              "llvm.call_intrinsic \"llvm.nvvm.barrier.cta.sync.all\"(%c0) : "
              "(i32) -> ()\nllvm.br ^join\n^join:",
              128);
}

TEST(Barriers, OfHalvesOfABlockByThemselves) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
  testReverse("%half = llvm.udiv %tid, %c64 : i32\n"
              "%id = llvm.add %half, %c1 : i32\n"
              "nvvm.barrier id = %id number_of_threads = %c64\nnvvm.barrier0",
              128);
}

TEST(Barriers, ProducersArriveAndConsumersWait) {
  auto kernel = compileOrFail(
      makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                 "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n"
                 "%isProducer = llvm.icmp \"ult\" %tid, %c32 : i32\n"
                 "llvm.cond_br %isProducer, ^produce, ^consume\n^produce:\n"
                 "(load %v f32 %x %tid)\n(put %v f32 %s %tid)\n"
                 "nvvm.barrier.arrive id = %c4 number_of_threads = %c64\n"
                 "llvm.br ^end\n^consume:\n"
                 "nvvm.barrier id = %c4 number_of_threads = %c64\n"
                 "%from = llvm.sub %tid, %c32 : i32\n(get %w f32 %s %from)\n"
                 "(store %w f32 %y %from)\nllvm.br ^end\n^end:",
                 makeShared("s", 32, "f32")));
  ASSERT_TRUE(kernel);
  auto x = Numbers(21).floats<float>(32);
  std::vector<float> y(32);
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(1, 64), {x.data(), y.data()},
                        {allocate("x", x), allocate("y", y)}, options);
  });
  EXPECT_EQ(x, y);
}

TEST(Barriers, Reductions) {
  Numbers numbers(22);
  for (std::string kind : {"popc", "and", "or"}) {
    auto kernel = compileOrFail(
        makeKernel("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                   "(load %v i32 %x %i)\n%r = nvvm.barrier #nvvm.reduction<" +
                       kind + "> %v -> i32\n(store %r i32 %y %i)"));
    ASSERT_TRUE(kernel);
    for (int ones : {0, 37, 128}) {
      std::vector<int32_t> x(128), y(128);
      std::fill(x.begin(), x.begin() + ones, 1);
      auto report =
          launchOrFail(*kernel, makeShape(1, 128), {x.data(), y.data()},
                       {allocate("x", x), allocate("y", y)});
      EXPECT_TRUE(report.isSound()) << report.str();
      int expected = kind == "popc"  ? ones
                     : kind == "and" ? ones == 128
                                     : ones > 0;
      for (int value : y)
        EXPECT_EQ(value, expected) << kind << ones;
    }
  }
}

TEST(Barriers, ExitedThreadsAreNotWaitedFor) {
  auto kernel = compileOrFail(
      makeKernel("%y: !llvm.ptr<1>",
                 "%isOut = llvm.icmp \"ult\" %tid, %c64 : i32\n"
                 "llvm.cond_br %isOut, ^end, ^stay\n^stay:\nnvvm.barrier0\n"
                 "(store %c1 i32 %y %tid)\nllvm.br ^end\n^end:"));
  ASSERT_TRUE(kernel);
  std::vector<int32_t> y(128);
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(1, 128), {y.data()},
                        {allocate("y", y)}, options);
  });
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(y[i], i >= 64);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

/// Each block adds up what the blocks of its cluster have in shared memory.
std::string makeClusterSum(const std::string &before,
                           const std::string &behind) {
  return makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n(load %v f32 %x %i)\n"
      "(put %v f32 %s %tid)\n" +
          before +
          "\n%blocks = nvvm.read.ptx.sreg.cluster.nctarank : i32\n"
          "(const %zero f32 0.0)\nllvm.br ^loop(%c0, %zero : i32, f32)\n"
          "^loop(%k: i32, %sum: f32):\n"
          "%there = nvvm.mapa %s, %k : !llvm.ptr<3> -> !llvm.ptr<7>\n"
          "%p = llvm.getelementptr %there[%tid] : (!llvm.ptr<7>, i32) -> "
          "!llvm.ptr<7>, f32\n"
          "%w = llvm.load %p : !llvm.ptr<7> -> f32\n"
          "%next = llvm.fadd %sum, %w : f32\n%j = llvm.add %k, %c1 : i32\n"
          "%more = llvm.icmp \"ult\" %j, %blocks : i32\n"
          "llvm.cond_br %more, ^loop(%j, %next : i32, f32), ^done\n^done:\n" +
          behind + "\n(store %next f32 %y %i)",
      makeShared("s", 64, "f32"));
}

const char *const clusterBarrier =
    "nvvm.cluster.arrive {aligned}\nnvvm.cluster.wait {aligned}";

TEST(Clusters, DistributedSharedMemory) {
  auto kernel = compileOrFail(makeClusterSum(clusterBarrier, clusterBarrier));
  ASSERT_TRUE(kernel);
  for (unsigned cluster : {1, 2, 8}) {
    auto x = Numbers(23).integers<int32_t>(16 * 64, -8, 8);
    std::vector<float> from(x.begin(), x.end()), y(x.size());
    expectSound([&](const EmulatorOptions &options) {
      return launchOrFail(*kernel, makeShape(16, 64, cluster),
                          {from.data(), y.data()},
                          {allocate("x", from), allocate("y", y)}, options);
    });
    for (unsigned i = 0; i < x.size(); ++i) {
      float sum = 0;
      for (unsigned k = 0; k < cluster; ++k)
        sum += x[(i / 64 / cluster * cluster + k) * 64 + i % 64];
      EXPECT_EQ(y[i], sum) << cluster;
    }
  }
}

TEST(Clusters, StoresToOtherBlocksByGenericAddresses) {
  // Block k writes to block k + 1, which reads after the barrier.
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      std::string("%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n") +
          clusterBarrier +
          "\n(load %v f32 %x %i)\n"
          "%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
          "%blocks = nvvm.read.ptx.sreg.cluster.nctarank : i32\n"
          "%up = llvm.add %rank, %c1 : i32\n"
          "%next = llvm.urem %up, %blocks : i32\n"
          "%own = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr\n"
          "%there = nvvm.mapa %own, %next : !llvm.ptr -> !llvm.ptr\n"
          "%p = llvm.getelementptr %there[%tid] : (!llvm.ptr, i32) -> "
          "!llvm.ptr, f32\nllvm.store %v, %p : f32, !llvm.ptr\n"
          "nvvm.cluster.arrive\nnvvm.cluster.wait\n"
          "(get %w f32 %s %tid)\n(store %w f32 %y %i)",
      makeShared("s", 32, "f32")));
  ASSERT_TRUE(kernel);
  auto x = Numbers(24).floats<float>(8 * 32);
  std::vector<float> y(x.size());
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(8, 32, 4), {x.data(), y.data()},
                        {allocate("x", x), allocate("y", y)}, options);
  });
  for (unsigned i = 0; i < x.size(); ++i) {
    unsigned block = i / 32;
    EXPECT_EQ(y[i], x[(block / 4 * 4 + (block + 3) % 4) * 32 + i % 32]);
  }
}

TEST(Clusters, AtomicsOnOtherBlocks) {
  auto kernel = compileOrFail(makeKernel(
      "%y: !llvm.ptr<1>",
      std::string("%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n"
                  "%isFirst = llvm.icmp \"eq\" %tid, %c0 : i32\n"
                  "llvm.cond_br %isFirst, ^zero, ^zeroed\n^zero:\n"
                  "(put %c0 i32 %s %c0)\nllvm.br ^zeroed\n^zeroed:\n") +
          clusterBarrier +
          "\n%there = nvvm.mapa %s, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
          "%generic = llvm.addrspacecast %there : !llvm.ptr<7> to !llvm.ptr\n"
          "%old = llvm.atomicrmw add %generic, %c1 syncscope(\"cluster\") "
          "monotonic : !llvm.ptr, i32\n" +
          clusterBarrier +
          "\n%rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
          "%sum = llvm.or %rank, %tid : i32\n"
          "%isWriter = llvm.icmp \"eq\" %sum, %c0 : i32\n"
          "llvm.cond_br %isWriter, ^write, ^end\n^write:\n(get %r i32 %s %c0)\n"
          "%cluster = nvvm.read.ptx.sreg.clusterid.x : i32\n"
          "(store %r i32 %y %cluster)\nllvm.br ^end\n^end:",
      makeShared("s", 1, "i32")));
  ASSERT_TRUE(kernel);
  std::vector<int32_t> y(3);
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(12, 64, 4), {y.data()},
                        {allocate("y", y)}, options);
  });
  EXPECT_EQ(y, std::vector<int32_t>(3, 256));
}

TEST(Clusters, RelaxedArrivalsOrderNothing) {
  auto kernel = compileOrFail(makeClusterSum(
      std::string(clusterBarrier) +
          "\n(put %v f32 %s %tid)\nnvvm.cluster.arrive.relaxed {aligned}\n"
          "nvvm.cluster.wait {aligned}",
      clusterBarrier));
  ASSERT_TRUE(kernel);
  std::vector<float> x(128), y(128);
  auto report = launchOrFail(*kernel, makeShape(2, 64, 2), {x.data(), y.data()},
                             {allocate("x", x), allocate("y", y)});
  ASSERT_FALSE(report.isSound());
  EXPECT_EQ(report.faults[0].kind, FaultKind::Race);
}

TEST(Clusters, SpecialRegisters) {
  const char *names[] = {"tid.x",
                         "tid.y",
                         "tid.z",
                         "ntid.x",
                         "ntid.y",
                         "ntid.z",
                         "ctaid.x",
                         "ctaid.y",
                         "ctaid.z",
                         "nctaid.x",
                         "nctaid.y",
                         "nctaid.z",
                         "clusterid.x",
                         "clusterid.y",
                         "nclusterid.x",
                         "nclusterid.y",
                         "cluster.ctaid.x",
                         "cluster.ctaid.y",
                         "cluster.nctaid.x",
                         "cluster.nctaid.y",
                         "cluster.ctarank",
                         "cluster.nctarank",
                         "laneid",
                         "warpid",
                         "nwarpid",
                         "warpsize"};
  constexpr unsigned count = std::size(names);
  std::string body =
      "%ty = nvvm.read.ptx.sreg.tid.y : i32\n"
      "%tz = nvvm.read.ptx.sreg.tid.z : i32\n"
      "%nx = nvvm.read.ptx.sreg.ntid.x : i32\n"
      "%ny = nvvm.read.ptx.sreg.ntid.y : i32\n"
      "%by = nvvm.read.ptx.sreg.ctaid.y : i32\n"
      "%gx = nvvm.read.ptx.sreg.nctaid.x : i32\n"
      "%a = llvm.mul %tz, %ny : i32\n%b = llvm.add %a, %ty : i32\n"
      "%c = llvm.mul %b, %nx : i32\n%d = llvm.add %c, %tid : i32\n"
      "%e = llvm.mul %by, %gx : i32\n%f = llvm.add %e, %block : i32\n"
      "(const %threads i32 48)\n%g = llvm.mul %f, %threads : i32\n"
      "%h = llvm.add %g, %d : i32\n(const %count i32 " +
      std::to_string(count) + ")\n%begin = llvm.mul %h, %count : i32\n";
  for (unsigned k = 0; k < count; ++k) {
    std::string n = std::to_string(k);
    body += "%r" + n + " = nvvm.read.ptx.sreg." + names[k] +
            " : i32\n(const %k" + n + " i32 " + n + ")\n%at" + n +
            " = llvm.add %begin, %k" + n + " : i32\n(store %r" + n +
            " i32 %y %at" + n + ")\n";
  }
  auto kernel = compileOrFail(makeKernel("%y: !llvm.ptr<1>", body));
  ASSERT_TRUE(kernel);
  LaunchShape shape;
  shape.grid = {4, 6, 1};
  shape.cluster = {2, 3, 1};
  shape.threads = {4, 6, 2};
  std::vector<uint32_t> y(24 * 48 * count);
  auto report = launchOrFail(*kernel, shape, {y.data()}, {allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  for (unsigned block = 0; block < 24; ++block)
    for (unsigned t = 0; t < 48; ++t) {
      unsigned bx = block % 4, by = block / 4;
      std::vector<uint32_t> expected = {
          t % 4, t / 4 % 6, t / 24, 4,      6, 2,      bx,
          by,    0,         4,      6,      1, bx / 2, by / 3,
          2,     2,         bx % 2, by % 3, 2, 3,      by % 3 * 2 + bx % 2,
          6,     t % 32,    t / 32, 2,      32};
      const uint32_t *own = &y[(block * 48 + t) * count];
      EXPECT_EQ(std::vector<uint32_t>(own, own + count), expected);
    }
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

TEST(Copies, OfEachSizeWithZerosBehind) {
  for (int size : {4, 8, 16}) {
    std::string words = std::to_string(size / 4);
    auto kernel = compileOrFail(makeKernel(
        "%x: !llvm.ptr<1>, %bytes: !llvm.ptr<1>, %y: !llvm.ptr<1>",
        "%s = llvm.mlir.addressof @s : !llvm.ptr<3>\n(load %n i32 %bytes %i)\n"
        "(const %words i32 " +
            words +
            ")\n%at = llvm.mul %tid, %words : i32\n"
            "%to = llvm.getelementptr %s[%at] : (!llvm.ptr<3>, i32) -> "
            "!llvm.ptr<3>, i32\n"
            "%from = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> "
            "!llvm.ptr<1>, i32\n"
            "nvvm.cp.async.shared.global %to, %from, " +
            std::to_string(size) + ", cache = " + (size == 16 ? "cg" : "ca") +
            ", %n : !llvm.ptr<3>, !llvm.ptr<1>, i32\n"
            "nvvm.cp.async.commit.group\nnvvm.cp.async.wait.group 0\n"
            "nvvm.barrier0\nllvm.br ^loop(%tid : i32)\n^loop(%k: i32):\n"
            "(get %v i32 %s %k)\n(store %v i32 %y %k)\n"
            "%next = llvm.add %k, %ntid : i32\n"
            "%end = llvm.mul %ntid, %words : i32\n"
            "%more = llvm.icmp \"ult\" %next, %end : i32\n"
            "llvm.cond_br %more, ^loop(%next : i32), ^done\n^done:",
        makeShared("s", 256, "i32")));
    ASSERT_TRUE(kernel);
    Numbers numbers(25);
    auto x = numbers.integers<int32_t>(64 * size / 4, 1, 1000);
    auto bytes = numbers.integers<int32_t>(64, 0, size);
    std::vector<int32_t> y(x.size(), -1);
    expectSound([&](const EmulatorOptions &options) {
      return launchOrFail(
          *kernel, makeShape(1, 64), {x.data(), bytes.data(), y.data()},
          {allocate("x", x), allocate("bytes", bytes), allocate("y", y)},
          options);
    });
    std::vector<uint8_t> expected(x.size() * 4);
    for (int i = 0; i < 64; ++i)
      std::memcpy(&expected[i * size],
                  reinterpret_cast<uint8_t *>(x.data()) + i * size, bytes[i]);
    EXPECT_EQ(std::memcmp(expected.data(), y.data(), expected.size()), 0)
        << size;
  }
}

TEST(Grids, WaitForThoseBefore) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "nvvm.griddepcontrol wait\n(load %v f32 %x %i)\n"
      "nvvm.griddepcontrol launch_dependents\n(store %v f32 %y %i)"));
  ASSERT_TRUE(kernel);
  auto x = Numbers(26).floats<float>(64);
  std::vector<float> y(64);
  Allocation pending = allocate("x", x);
  pending.isPending = true;
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(2, 32), {x.data(), y.data()},
                        {pending, allocate("y", y)}, options);
  });
  EXPECT_EQ(x, y);
}

} // namespace
