//===- Fixture.h - Kernels of a few lines -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_EMULATOR_FIXTURE_H
#define METAOPS_UNITTESTS_EMULATOR_FIXTURE_H

#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "gtest/gtest.h"

#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace metaops {

/// A module with a kernel @k. Its body may use
///
/// * %tid, %lane, %block: the thread, its lane, its block, as i32;
/// * %i: the number of the thread in the grid;
/// * %c0 .. %c8, %c15, %c16, %c31, %c32, %c64, %all (-1) as i32, %true, %false;
/// * "(load V T P I)", "(store V T P I)": element I (an i32) of T at P, a
///   pointer to global memory; "(get V T P I)", "(put V T P I)" the same of
///   shared memory; "(const V T N)"; "(barrier ID N)", which may have a
///   location behind it, unlike nvvm.barrier.
///
/// It ends without a return. `parameters` are "%x: !llvm.ptr<1>, %n: i32".
std::string makeKernel(const std::string &parameters, const std::string &body,
                       const std::string &globals = "",
                       const std::string &attributes = "");

/// A shared array @name of `count` elements of `type`.
std::string makeShared(const std::string &name, unsigned count,
                       const std::string &type);

/// The text of a file of Kernels/.
std::string readKernel(const std::string &name);

/// Compiles a module; a failure of the test where that fails.
std::unique_ptr<EmulatedKernel> compileOrFail(const std::string &source);

/// Why a module cannot be compiled.
std::string getCompileError(const std::string &source);

template <typename T>
Allocation allocate(const std::string &name, std::vector<T> &values) {
  return {name, values.data(), values.size() * sizeof(T)};
}

inline LaunchShape makeShape(unsigned blocks, unsigned threads,
                             unsigned cluster = 1) {
  LaunchShape shape;
  shape.grid.x = blocks;
  shape.threads.x = threads;
  shape.cluster.x = cluster;
  return shape;
}

inline EmulatorOptions withSeed(uint64_t seed) {
  EmulatorOptions options;
  options.seed = seed;
  return options;
}

/// Launches; a failure of the test where that is refused.
EmulatorReport launchOrFail(const EmulatedKernel &kernel,
                            const LaunchShape &shape,
                            llvm::ArrayRef<KernelArgument> arguments,
                            llvm::ArrayRef<Allocation> allocations,
                            const EmulatorOptions &options = {});

/// The seeds that sound kernels are tried with.
constexpr uint64_t allSeeds[] = {0, 1, 2, 3, 4, 5};

/// Expects a kernel to be sound, with several orders of execution.
template <typename F> void expectSound(const F &launch) {
  for (uint64_t seed : allSeeds) {
    EmulatorReport report = launch(withSeed(seed));
    EXPECT_TRUE(report.isSound()) << "seed " << seed << "\n" << report.str();
  }
}

/// Numbers from a seed.
class Numbers {
public:
  explicit Numbers(unsigned seed) : generator(seed) {}

  template <typename T> std::vector<T> integers(size_t count, T low, T high) {
    std::uniform_int_distribution<T> draw(low, high);
    std::vector<T> values(count);
    for (T &value : values)
      value = draw(generator);
    return values;
  }
  template <typename T>
  std::vector<T> floats(size_t count, T low = -4, T high = 4) {
    std::uniform_real_distribution<T> draw(low, high);
    std::vector<T> values(count);
    for (T &value : values)
      value = draw(generator);
    return values;
  }

private:
  std::mt19937_64 generator;
};

} // namespace metaops

#endif // METAOPS_UNITTESTS_EMULATOR_FIXTURE_H
