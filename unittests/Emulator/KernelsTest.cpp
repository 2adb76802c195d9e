//===- KernelsTest.cpp - Whole kernels, written by hand -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"

#include <cmath>

using namespace metaops;

namespace {

/// Memory at 64 bytes, as a device's buffers are.
template <typename T> class Buffer {
public:
  explicit Buffer(std::vector<T> values) : count(values.size()) {
    memory.resize(count * sizeof(T) + 64);
    auto begin = reinterpret_cast<uintptr_t>(memory.data());
    data = reinterpret_cast<T *>((begin + 63) / 64 * 64);
    std::copy(values.begin(), values.end(), data);
  }
  T &operator[](size_t i) { return data[i]; }
  Allocation allocate(const std::string &name) {
    return {name, data, count * sizeof(T)};
  }
  T *data;
  size_t count;

private:
  std::vector<char> memory;
};

void testSoftmax(const std::string &file, unsigned row, unsigned threads) {
  auto kernel = compileOrFail(readKernel(file));
  ASSERT_TRUE(kernel);
  unsigned rows = 5;
  Buffer<float> x(Numbers(60).floats<float>(rows * row)),
      y(std::vector<float>(rows * row));
  expectSound([&](const EmulatorOptions &options) {
    auto report =
        launchOrFail(*kernel, makeShape(rows, threads), {x.data, y.data},
                     {x.allocate("x"), y.allocate("y")}, options);
    auto global = report.counts.getGlobal();
    EXPECT_EQ(global.moved, global.least);
    EXPECT_EQ(global.moved, rows * row * 4 * 2 / 32);
    EXPECT_EQ(report.counts.getBankConflicts(), 0u);
    return report;
  });
  for (unsigned r = 0; r < rows; ++r) {
    double most = -1e30, sum = 0;
    for (unsigned i = 0; i < row; ++i)
      most = std::max<double>(most, x[r * row + i]);
    for (unsigned i = 0; i < row; ++i)
      sum += std::exp(x[r * row + i] - most);
    for (unsigned i = 0; i < row; ++i)
      EXPECT_NEAR(y[r * row + i], std::exp(x[r * row + i] - most) / sum, 1e-7);
  }
}

TEST(Kernels, Softmax) {
  testSoftmax("softmax.mlir", 512, 128);
  testSoftmax("softmax-4096.mlir", 4096, 256);
}

TEST(Kernels, SumByShuffles) {
  auto kernel = compileOrFail(readKernel("sum.mlir"));
  ASSERT_TRUE(kernel);
  auto whole = Numbers(61).integers<int32_t>(1000, -100, 100);
  Buffer<float> x(std::vector<float>(whole.begin(), whole.end()));
  Buffer<float> y(std::vector<float>(1));
  int64_t sum = 0;
  for (int value : whole)
    sum += value;
  expectSound([&](const EmulatorOptions &options) {
    y[0] = 0;
    auto report =
        launchOrFail(*kernel, makeShape(1, 256), {x.data, y.data, 1000},
                     {x.allocate("x"), y.allocate("y")}, options);
    EXPECT_EQ(y[0], sum);
    return report;
  });
}

TEST(Kernels, TransposeThroughAPaddedTile) {
  auto kernel = compileOrFail(readKernel("transpose.mlir"));
  ASSERT_TRUE(kernel);
  unsigned rows = 70, columns = 100;
  Buffer<float> x(Numbers(62).floats<float>(rows * columns));
  Buffer<float> y(std::vector<float>(rows * columns));
  expectSound([&](const EmulatorOptions &options) {
    LaunchShape shape;
    shape.grid = {(columns + 31) / 32, (rows + 31) / 32, 1};
    shape.threads = {32, 8, 1};
    auto report = launchOrFail(*kernel, shape, {x.data, y.data, rows, columns},
                               {x.allocate("x"), y.allocate("y")}, options);
    EXPECT_EQ(report.counts.getBankConflicts(), 0u);
    return report;
  });
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j)
      EXPECT_EQ(y[j * rows + i], x[i * columns + j]);
}

TEST(Kernels, HistogramByAtomics) {
  auto kernel = compileOrFail(readKernel("histogram.mlir"));
  ASSERT_TRUE(kernel);
  Buffer<int32_t> x(Numbers(63).integers<int32_t>(3000, 0, 63));
  Buffer<int32_t> y(std::vector<int32_t>(64));
  std::vector<int32_t> expected(64);
  for (unsigned i = 0; i < 3000; ++i)
    ++expected[x[i]];
  expectSound([&](const EmulatorOptions &options) {
    std::fill(y.data, y.data + 64, 0);
    auto report =
        launchOrFail(*kernel, makeShape(4, 128), {x.data, y.data, 3000},
                     {x.allocate("x"), y.allocate("y")}, options);
    EXPECT_EQ(std::vector<int32_t>(y.data, y.data + 64), expected);
    return report;
  });
}

TEST(Kernels, PipelineOfAsynchronousCopies) {
  // A sum over tiles, with copies two tiles ahead in three buffers.
  auto kernel = compileOrFail(readKernel("pipeline.mlir"));
  ASSERT_TRUE(kernel);
  unsigned tiles = 9, threads = 64;
  Buffer<float> x(Numbers(64).floats<float>(tiles * threads * 4));
  Buffer<float> y(std::vector<float>(threads * 4));
  expectSound([&](const EmulatorOptions &options) {
    return launchOrFail(*kernel, makeShape(1, threads), {x.data, y.data, tiles},
                        {x.allocate("x"), y.allocate("y")}, options);
  });
  for (unsigned i = 0; i < threads * 4; ++i) {
    float sum = 0;
    // Each thread takes what the other end's thread has copied.
    for (unsigned tile = 0; tile < tiles; ++tile)
      sum += x[tile * threads * 4 + (threads - 1 - i / 4) * 4 + i % 4];
    EXPECT_EQ(y[i], sum);
  }
}

TEST(Kernels, PipelineWithOneBarrierTooFew) {
  std::string source = readKernel("pipeline.mlir");
  size_t second =
      source.find("nvvm.barrier0", source.find("nvvm.barrier0") + 1);
  ASSERT_NE(second, std::string::npos);
  source.replace(second, strlen("nvvm.barrier0"), "");
  // Three buffers and one barrier a tile are enough; two are not, and the
  // kernel then writes what others still read.
  size_t buffers = source.find("%buffers = llvm.mlir.constant(3");
  ASSERT_NE(buffers, std::string::npos);
  source.replace(buffers, strlen("%buffers = llvm.mlir.constant(3"),
                 "%buffers = llvm.mlir.constant(2");
  auto kernel = compileOrFail(source);
  ASSERT_TRUE(kernel);
  Buffer<float> x(std::vector<float>(9 * 256)), y(std::vector<float>(256));
  for (uint64_t seed : allSeeds) {
    auto report =
        launchOrFail(*kernel, makeShape(1, 64), {x.data, y.data, 9},
                     {x.allocate("x"), y.allocate("y")}, withSeed(seed));
    EXPECT_FALSE(report.isSound());
  }
}

TEST(Kernels, RowSumOverACluster) {
  auto kernel = compileOrFail(readKernel("cluster-sum.mlir"));
  ASSERT_TRUE(kernel);
  for (unsigned cluster : {2, 4, 8}) {
    unsigned rows = 3, part = 128;
    auto whole = Numbers(65).integers<int32_t>(rows * cluster * part, -50, 50);
    Buffer<float> x(std::vector<float>(whole.begin(), whole.end()));
    Buffer<float> y(std::vector<float>(whole.size()));
    expectSound([&](const EmulatorOptions &options) {
      return launchOrFail(*kernel, makeShape(rows * cluster, part, cluster),
                          {x.data, y.data}, {x.allocate("x"), y.allocate("y")},
                          options);
    });
    for (unsigned r = 0; r < rows; ++r) {
      float sum = 0;
      for (unsigned i = 0; i < cluster * part; ++i)
        sum += whole[r * cluster * part + i];
      for (unsigned i = 0; i < cluster * part; ++i)
        EXPECT_EQ(y[r * cluster * part + i],
                  whole[r * cluster * part + i] - sum);
    }
  }
}

} // namespace
