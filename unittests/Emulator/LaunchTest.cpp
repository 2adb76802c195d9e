//===- LaunchTest.cpp - What can be compiled and launched -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

using namespace metaops;

namespace {

std::string launchError(const std::string &attributes, const LaunchShape &shape,
                        llvm::ArrayRef<KernelArgument> arguments,
                        unsigned shared = 1) {
  auto kernel =
      compileOrFail(makeKernel("%x: !llvm.ptr<1>",
                               "%s = llvm.mlir.addressof @s : "
                               "!llvm.ptr<3>\n(put %tid i32 %s %c0)",
                               makeShared("s", shared, "i32"), attributes));
  if (!kernel)
    return "";
  auto report = kernel->launch(shape, arguments, {});
  return report ? "" : toString(report.takeError());
}

TEST(Launch, ShapesThatAreImpossible) {
  int32_t x = 0;
  EXPECT_EQ(launchError("", makeShape(1, 32), {}),
            "kernel k takes 1 arguments, not 0");
  EXPECT_EQ(launchError("", makeShape(0, 32), {&x}),
            "kernel k: a launch of no threads");
  EXPECT_EQ(launchError("", makeShape(1, 2048), {&x}),
            "kernel k: a block of (2048, 1, 1) threads, where 1024 are "
            "possible");
  EXPECT_EQ(launchError("", makeShape(5, 32, 2), {&x}),
            "kernel k: clusters of (2, 1, 1) blocks do not divide a grid of "
            "(5, 1, 1)");
  EXPECT_EQ(launchError("", makeShape(32, 32, 32), {&x}),
            "kernel k: a cluster of (32, 1, 1) blocks, where 16 are possible");
  EXPECT_EQ(launchError(", nvvm.reqntid = array<i32: 64, 1, 1>",
                        makeShape(1, 32), {&x}),
            "kernel k: it takes blocks of (64, 1, 1) threads, not of (32, 1, "
            "1)");
  EXPECT_EQ(
      launchError(", nvvm.maxntid = array<i32: 64>", makeShape(1, 128), {&x}),
      "kernel k: it takes blocks of at most 64 threads, not of (128, 1, "
      "1)");
  EXPECT_EQ(launchError(", nvvm.cluster_dim = array<i32: 2, 1, 1>",
                        makeShape(4, 32, 4), {&x}),
            "kernel k: it takes clusters of (2, 1, 1) blocks, not of (4, 1, "
            "1)");
  EXPECT_EQ(launchError("", makeShape(1, 32), {&x}, 60000),
            "kernel k: a block needs 240000 bytes of shared memory, where "
            "232448 are possible");
}

TEST(Launch, WhatCannotBeEmulatedIsNamed) {
  auto getError = [](const std::string &body, const std::string &globals = "") {
    return getCompileError(makeKernel("%x: !llvm.ptr<1>", body, globals));
  };
  EXPECT_NE(getError("nvvm.wgmma.fence.aligned")
                .find("'nvvm.wgmma.fence.aligned' op is no instruction that "
                      "the emulator knows"),
            std::string::npos);
  EXPECT_NE(getError("llvm.inline_asm has_side_effects asm_dialect = att "
                     "\"nanosleep.u32 5;\", \"\" : () -> ()")
                .find("'nanosleep.u32 5;', which the emulator does not know"),
            std::string::npos);
  EXPECT_NE(getError("%v = llvm.call @__nv_powi(%c) : (f64) -> f64\n"
                     "%c = llvm.mlir.constant(1.0 : f64) : f64",
                     "llvm.func @__nv_powi(f64) -> f64"),
            "");
  EXPECT_NE(getError("%v = llvm.call_intrinsic \"llvm.nvvm.foo\"(%c0) : "
                     "(i32) -> i32")
                .find("'llvm.nvvm.foo', which the emulator does not know"),
            std::string::npos);
  EXPECT_NE(getCompileError("gpu.module @m {}").find("has 0 kernels"),
            std::string::npos);
  EXPECT_NE(getCompileError("gpu.module {").find("could not be read"),
            std::string::npos);
}

TEST(Launch, AModuleMayHaveTheNameOfItsKernelAndSeveralKernels) {
  std::string source = R"mlir(
    gpu.module @k {
      llvm.func @k_fill(%y: !llvm.ptr<1>) attributes {nvvm.kernel,
          metaop.launch = #metaop.launch<threads = 32>} {
        %0 = llvm.mlir.constant(7 : i32) : i32
        llvm.store %0, %y : i32, !llvm.ptr<1>
        llvm.return
      }
      llvm.func @k(%y: !llvm.ptr<1>) attributes {nvvm.kernel} {
        %0 = llvm.load %y : !llvm.ptr<1> -> i32
        %1 = llvm.add %0, %0 : i32
        llvm.store %1, %y : i32, !llvm.ptr<1>
        llvm.return
      }
    })mlir";
  std::vector<int32_t> y(1);
  for (std::string name : {"k_fill", "k"}) {
    auto kernel = EmulatedKernel::compile(source, name);
    ASSERT_TRUE(static_cast<bool>(kernel)) << toString(kernel.takeError());
    auto report =
        launchOrFail(**kernel, makeShape(1, 1), {y.data()}, {allocate("y", y)});
    EXPECT_TRUE(report.isSound()) << report.str();
  }
  EXPECT_EQ(y[0], 14);
}

TEST(Launch, DynamicSharedMemory) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%s = llvm.mlir.addressof @dynamic : !llvm.ptr<3>\n(load %v f32 %x %i)\n"
      "(put %v f32 %s %tid)\nnvvm.barrier0\n"
      "%last = llvm.sub %ntid, %c1 : i32\n%o = llvm.sub %last, %tid : i32\n"
      "(get %w f32 %s %o)\n(store %w f32 %y %i)",
      makeShared("other", 3, "f32") + makeShared("dynamic", 0, "f32")));
  ASSERT_TRUE(kernel);
  auto x = Numbers(50).floats<float>(128);
  std::vector<float> y(128);
  LaunchShape shape = makeShape(2, 64);
  shape.dynamicSharedBytes = 256;
  auto launch = [&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, shape, {x.data(), y.data()},
                        {allocate("x", x), allocate("y", y)}, options);
  };
  expectSound(launch);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(y[i], x[i / 64 * 64 + 63 - i % 64]);
  shape.dynamicSharedBytes = 252;
  auto report = launch(withSeed(0));
  ASSERT_FALSE(report.isSound());
  EXPECT_EQ(report.faults[0].kind, FaultKind::OutOfBounds);
}

TEST(Launch, ArgumentsOfEachType) {
  auto kernel = compileOrFail(makeKernel(
      "%y: !llvm.ptr<1>, %a: i64, %b: i32, %c: f32, %d: f64, %e: i8, %f: f16",
      "%wide = llvm.sext %b : i32 to i64\n%byte = llvm.sext %e : i8 to i64\n"
      "%c_ = llvm.fptosi %c : f32 to i64\n%d_ = llvm.fptosi %d : f64 to i64\n"
      "%f_ = llvm.fptosi %f : f16 to i64\n%s1 = llvm.add %a, %wide : i64\n"
      "%s2 = llvm.add %s1, %byte : i64\n%s3 = llvm.add %s2, %c_ : i64\n"
      "%s4 = llvm.add %s3, %d_ : i64\n%s5 = llvm.add %s4, %f_ : i64\n"
      "(store %s5 i64 %y %i)"));
  ASSERT_TRUE(kernel);
  std::vector<int64_t> y(1);
  uint16_t half = 0x4500; // 5
  auto report = launchOrFail(
      *kernel, makeShape(1, 1),
      {y.data(), int64_t(1) << 40, -3, 70.f, 800., int8_t(-9), half},
      {allocate("y", y)});
  EXPECT_TRUE(report.isSound()) << report.str();
  EXPECT_EQ(y[0], (int64_t(1) << 40) - 3 + 70 + 800 - 9 + 5);
}

TEST(Launch, SeveralThreadsOfTheHost) {
  auto kernel = compileOrFail(makeKernel(
      "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: !llvm.ptr<1>",
      "(load %v f32 %x %i)\n"
      "%r = nvvm.shfl.sync bfly %all, %v, %c1, %c31 : f32 -> f32\n"
      "(store %r f32 %y %i)\n"
      "%old = llvm.atomicrmw add %n, %c1 monotonic : !llvm.ptr<1>, i32"));
  ASSERT_TRUE(kernel);
  auto x = Numbers(51).floats<float>(64 * 64);
  std::vector<float> y(x.size());
  std::vector<int32_t> n(1);
  for (bool checksRaces : {true, false}) {
    EmulatorOptions options;
    options.threads = 4;
    options.checksRaces = checksRaces;
    n[0] = 0;
    auto report = launchOrFail(
        *kernel, makeShape(64, 64), {x.data(), y.data(), n.data()},
        {allocate("x", x), allocate("y", y), allocate("n", n)}, options);
    EXPECT_TRUE(report.isSound()) << report.str();
    EXPECT_EQ(n[0], 64 * 64);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(y[i], x[i ^ 1]);
    EXPECT_EQ(report.counts[InstructionClass::Atomic], x.size());
    EXPECT_EQ(report.counts.accesses[0].requests, x.size() / 32);
  }
}

TEST(Launch, RacesBetweenBlocksOnSeveralThreadsOfTheHost) {
  auto kernel = compileOrFail(
      makeKernel("%y: !llvm.ptr<1>", "(store %block i32 %y %tid)"));
  ASSERT_TRUE(kernel);
  std::vector<int32_t> y(32);
  EmulatorOptions options;
  options.threads = 4;
  auto report = launchOrFail(*kernel, makeShape(64, 32), {y.data()},
                             {allocate("y", y)}, options);
  ASSERT_FALSE(report.isSound());
  EXPECT_EQ(report.faults[0].kind, FaultKind::Race);
}

TEST(Launch, TheSameSeedIsTheSameRun) {
  auto kernel = compileOrFail(makeKernel(
      "%n: !llvm.ptr<1>, %y: !llvm.ptr<1>",
      "%old = llvm.atomicrmw add %n, %c1 monotonic : !llvm.ptr<1>, i32\n"
      "(store %old i32 %y %i)"));
  ASSERT_TRUE(kernel);
  auto run = [&](uint64_t seed) {
    std::vector<int32_t> n(1), y(512);
    launchOrFail(*kernel, makeShape(8, 64), {n.data(), y.data()},
                 {allocate("n", n), allocate("y", y)}, withSeed(seed));
    return y;
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

} // namespace
