//===- emulator.cpp - How fast the emulator runs --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmaxes of rows, the kernels of the unit tests, on one core: elements a
// second with all checks, without the check of races, and without counts, too.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

using namespace metaops;

namespace {

constexpr int kTurns = 9;

double secondsOf(const EmulatedKernel &kernel, const LaunchShape &shape,
                 std::vector<float> &x, std::vector<float> &y,
                 const EmulatorOptions &options) {
  Allocation allocations[] = {{"x", x.data(), x.size() * sizeof(float)},
                              {"y", y.data(), y.size() * sizeof(float)}};
  auto begin = std::chrono::steady_clock::now();
  auto report =
      kernel.launch(shape, {x.data(), y.data()}, allocations, options);
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  if (!report || !report->isSound()) {
    std::printf("%s", report ? report->str().c_str()
                             : toString(report.takeError()).c_str());
    std::exit(1);
  }
  return taken.count();
}

void measure(const char *name, unsigned row, unsigned threads) {
  auto source = llvm::MemoryBuffer::getFile(
      std::string(METAOPS_EMULATOR_KERNELS) + "/" + name + ".mlir");
  auto begin = std::chrono::steady_clock::now();
  auto kernel = EmulatedKernel::compile((*source)->getBuffer());
  if (!kernel) {
    std::printf("%s\n", toString(kernel.takeError()).c_str());
    std::exit(1);
  }
  std::chrono::duration<double> compiling =
      std::chrono::steady_clock::now() - begin;
  LaunchShape shape;
  shape.grid.x = (1 << 20) / row;
  shape.threads.x = threads;
  std::mt19937 generator(1);
  std::normal_distribution<float> draw;
  std::vector<float> x(size_t(shape.grid.x) * row), y(x.size());
  std::generate(x.begin(), x.end(), [&] { return draw(generator); });

  EmulatorOptions all, noRaces, bare;
  noRaces.checksRaces = false;
  bare.checksRaces = bare.countsAccesses = false;
  std::printf("| %s | %.0f ms |", name, compiling.count() * 1e3);
  for (const EmulatorOptions &options : {all, noRaces, bare}) {
    std::vector<double> times;
    for (int turn = 0; turn < kTurns; ++turn)
      times.push_back(secondsOf(**kernel, shape, x, y, options));
    std::nth_element(times.begin(), times.begin() + kTurns / 2, times.end());
    std::printf(" %.1f |", x.size() / times[kTurns / 2] / 1e6);
  }
  std::printf("\n");
}

} // namespace

int main() {
  std::printf("Millions of elements a second:\n\n"
              "| kernel | compiling | all checks | no races | no counts |\n"
              "| --- | --- | --- | --- | --- |\n");
  measure("softmax", 512, 128);
  measure("softmax-4096", 4096, 256);
}
