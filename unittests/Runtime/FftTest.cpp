//===- FftTest.cpp - Tests of the host's Fourier transforms ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Routines/FftTables.h"
#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <atomic>
#include <random>

using namespace metaops;

namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<double>;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

TEST(FftTablesTest, RootsAreThoseOfTheCircle) {
  for (int64_t n : {1, 2, 3, 8, 12, 1009, 1 << 20})
    for (int64_t k = 0; k < n; k += 1 + n / 50) {
      Complex root = getRootOfUnity(k, n);
      Complex expected =
          std::polar(1.0, -2 * llvm::numbers::pi * static_cast<double>(k) / n);
      EXPECT_NEAR(root.real(), expected.real(), 1e-15) << k << " of " << n;
      EXPECT_NEAR(root.imag(), expected.imag(), 1e-15) << k << " of " << n;
    }
  EXPECT_EQ(getRootOfUnity(3, 12), Complex(0, -1));
  EXPECT_EQ(getRootOfUnity(500, 1000), Complex(-1, 0));
}

TEST(FftTablesTest, RootsAreProductsOfTwo) {
  for (int64_t order : {1, 2, 5, 64, 1000003}) {
    TwoLevelRoots roots(order);
    for (int64_t k = 0; k < order; k += 1 + order / 100)
      EXPECT_LT(std::abs(roots.get(k) - getRootOfUnity(k, order)), 4e-16);
  }
}

TEST(FftTablesTest, SmoothLengthsAreNotBelowOthers) {
  for (int64_t least : {1, 17, 34, 997, 4097, 100003}) {
    int64_t length = findSmoothLength(least);
    EXPECT_GE(length, least);
    EXPECT_LT(length, 2 * least);
    EXPECT_TRUE(isSmooth(length));
    EXPECT_EQ(length % findMiddleFactor(length), 0);
  }
  EXPECT_EQ(findSmoothLength(17), 18);
  EXPECT_FALSE(isSmooth(2 * 17));
}

TEST(FftTablesTest, TablesAreSharedUntilTheyAreTooMany) {
  FftTables tables;
  std::shared_ptr<const RootTable> first = tables.get<RootTable>(7);
  EXPECT_EQ(tables.get<RootTable>(7), first);
  EXPECT_NE(
      static_cast<const FftTable *>(tables.get<ColumnTable<float>>(7).get()),
      static_cast<const FftTable *>(first.get()));
  // Each has more than a 32nd part of what is kept.
  for (int64_t k = 1; k <= 32; ++k)
    tables.get<RootTable>((int64_t(1) << 32) + k);
  EXPECT_NE(tables.get<RootTable>(7), first);
}

//===----------------------------------------------------------------------===//
// The routine
//===----------------------------------------------------------------------===//

/// Two lines of a length, each along the first of two dimensions.
class FftRoutineTest : public testing::TestWithParam<int64_t> {
protected:
  static constexpr int64_t kLines = 2;

  /// Makes a transform of `operands` and `results` tensors.
  Routine makeFft(int64_t operands, int64_t results, bool isInverse) const {
    int64_t half = GetParam() / 2 + 1;
    auto make = [&](int64_t count) {
      int64_t rows = count == 1 || operands + results == 4 ? GetParam() : half;
      std::vector<RoutineTensor> tensors;
      for (const char *role : {"real", "imag"})
        tensors.push_back(makeDenseTensor(role, DType::F64, {rows, kLines}));
      tensors.resize(count);
      return tensors;
    };
    Routine fft;
    fft.name = "fft";
    fft.attributes = {{"dims", RoutineAttribute::Integers{0}},
                      {"inverse", RoutineAttribute::Integers{isInverse}},
                      {"scale", RoutineAttribute::Floats{0.5}}};
    fft.operands = make(operands);
    fft.results = make(results);
    return fft;
  }

  /// Runs a transform, which is stopped after each two units.
  std::vector<Numbers> run(const Routine &fft, std::vector<Numbers> operands) {
    auto planned = llvm::cantFail(createHostRoutines()->plan(fft));
    std::vector<Numbers> results;
    for (const RoutineTensor &tensor : fft.results)
      results.emplace_back(tensor.shape[0] * tensor.shape[1]);
    auto point = [](std::vector<Numbers> &tensors) {
      std::vector<void *> places;
      for (Numbers &tensor : tensors)
        places.push_back(tensor.data());
      return places;
    };
    std::vector<void *> from = point(operands), to = point(results);
    size_t bytes = planned.plan->getEstimate().scratchBytes;
    llvm::BumpPtrAllocator allocator;
    auto *scratch =
        static_cast<char *>(allocator.Allocate(bytes, llvm::Align(64)));
    ThreadPool threads(2);
    std::atomic<int> asked = 0;
    auto shouldStop = [&] { return ++asked % 3 == 0; };
    std::optional<int64_t> begin = 0;
    for (int tries = 0; begin && tries < 10000; ++tries)
      begin = llvm::cantFail(
          planned.plan->run({from, to, scratch, threads, shouldStop, *begin}));
    EXPECT_EQ(begin, std::nullopt);
    return results;
  }

  Numbers makeNumbers(int64_t rows) {
    Numbers numbers(rows * kLines);
    std::normal_distribution<double> normal;
    for (double &number : numbers)
      number = normal(random);
    return numbers;
  }

  std::mt19937_64 random{7};
};

/// Returns element `k` of the transform of a line, by its definition.
Complex sumOf(const Numbers &real, const Numbers &imag, int64_t line,
              int64_t lines, int64_t k, bool isInverse) {
  int64_t n = real.size() / lines;
  Complex sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    Complex root = getRootOfUnity(j * k % n, n);
    sum += Complex(real[j * lines + line], imag[j * lines + line]) *
           (isInverse ? std::conj(root) : root);
  }
  return sum;
}

TEST_P(FftRoutineTest, ComplexNumbersAreSummedByDefinition) {
  int64_t n = GetParam();
  Numbers real = makeNumbers(n), imag = makeNumbers(n);
  double bound = 1e-15 * static_cast<double>(n);
  for (bool isInverse : {false, true}) {
    std::vector<Numbers> results = run(makeFft(2, 2, isInverse), {real, imag});
    for (int64_t line = 0; line < kLines; ++line)
      for (int64_t k = 0; k < n; k += 1 + n / 40) {
        Complex sum = sumOf(real, imag, line, kLines, k, isInverse);
        int64_t place = k * kLines + line;
        EXPECT_NEAR(results[0][place], sum.real() / 2, bound);
        EXPECT_NEAR(results[1][place], sum.imag() / 2, bound);
      }
  }
}

TEST_P(FftRoutineTest, RealNumbersComeBackFromHalfOfTheResults) {
  int64_t n = GetParam(), half = n / 2 + 1;
  Numbers real = makeNumbers(n), zeros(n * kLines);
  double bound = 1e-15 * static_cast<double>(n);
  std::vector<Numbers> results = run(makeFft(1, 2, false), {real});
  for (int64_t line = 0; line < kLines; ++line)
    for (int64_t k = 0; k < half; k += 1 + n / 40) {
      Complex sum = sumOf(real, zeros, line, kLines, k, false);
      EXPECT_NEAR(results[0][k * kLines + line], sum.real() / 2, bound);
      EXPECT_NEAR(results[1][k * kLines + line], sum.imag() / 2, bound);
    }
  Numbers back = run(makeFft(2, 1, true), results).front();
  for (auto [given, expected] : llvm::zip_equal(back, real))
    EXPECT_NEAR(given * 4 / static_cast<double>(n), expected, bound);
}

// Of passes, of a convolution, and of four steps with and without rests.
INSTANTIATE_TEST_SUITE_P(Lengths, FftRoutineTest,
                         testing::Values(1, 2, 9, 34, 121, 1000, 1024, 1018,
                                         4096, 4099, 7007));

TEST(FftRoutineRefusalTest, OtherRoutinesAreRefused) {
  Routine fft;
  fft.name = "fft";
  fft.operands = fft.results = {makeDenseTensor("real", DType::F32, {2, 4}),
                                makeDenseTensor("imag", DType::F32, {2, 4})};
  auto plans = [&](std::vector<int64_t> dims, int64_t inverse) {
    fft.attributes = {{"dims", dims},
                      {"inverse", RoutineAttribute::Integers{inverse}},
                      {"scale", RoutineAttribute::Floats{1}}};
    llvm::Expected<PlannedRoutine> planned = createHostRoutines()->plan(fft);
    if (planned)
      return true;
    llvm::consumeError(planned.takeError());
    return false;
  };
  EXPECT_TRUE(plans({1, 0}, 1));
  EXPECT_FALSE(plans({}, 0));
  EXPECT_FALSE(plans({2}, 0));
  EXPECT_FALSE(plans({-1}, 0));
  EXPECT_FALSE(plans({1, 1}, 0));
  EXPECT_FALSE(plans({1}, 2));
  fft.results.pop_back();
  EXPECT_FALSE(plans({1}, 1));
  fft.operands.pop_back();
  EXPECT_FALSE(plans({1}, 0));
}

TEST(FftRoutineRefusalTest, NoElementsTakeNoTables) {
  Routine fft;
  fft.name = "fft";
  fft.attributes = {{"dims", RoutineAttribute::Integers{1}},
                    {"inverse", RoutineAttribute::Integers{0}},
                    {"scale", RoutineAttribute::Floats{1}}};
  int64_t n = (int64_t(1) << 50) + 1;
  fft.operands = {makeDenseTensor("real", DType::F32, {0, n})};
  fft.results = {makeDenseTensor("real", DType::F32, {0, n / 2 + 1}),
                 makeDenseTensor("imag", DType::F32, {0, n / 2 + 1})};
  auto planned = llvm::cantFail(createHostRoutines()->plan(fft));
  EXPECT_EQ(planned.plan->getEstimate().scratchBytes, 0);
}

} // namespace
