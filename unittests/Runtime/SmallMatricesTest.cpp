//===- SmallMatricesTest.cpp - Tests of many small matrices at once -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "llvm/Support/Allocator.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace metaops;

namespace {

/// Matrices of a size, in tensors of float64. Some groups of lanes are whole.
class SmallMatricesTest : public testing::TestWithParam<int64_t> {
protected:
  static constexpr int64_t kCount = 21;

  static RoutineTensor makeTensor(llvm::StringRef role, DType dtype,
                                  llvm::ArrayRef<int64_t> extents) {
    std::vector<int64_t> shape = {kCount};
    shape.insert(shape.end(), extents.begin(), extents.end());
    return makeDenseTensor(role, dtype, shape);
  }
  static Routine makeCholesky(int64_t n) {
    Routine routine;
    routine.name = "cholesky";
    routine.operands = {makeTensor("a", DType::F64, {n, n})};
    routine.results = {makeTensor("factor", DType::F64, {n, n}),
                       makeTensor("info", DType::I64, {})};
    return routine;
  }
  static Routine makeLu(int64_t n) {
    Routine routine;
    routine.name = "lu";
    routine.operands = {makeTensor("a", DType::F64, {n, n})};
    routine.results = {makeTensor("factors", DType::F64, {n, n}),
                       makeTensor("pivots", DType::I64, {n}),
                       makeTensor("info", DType::I64, {})};
    return routine;
  }
  static Routine makeSolve(int64_t n, int64_t rows, bool isTransposed) {
    Routine routine;
    routine.name = "lu_solve";
    routine.attributes = {
        {"transposed", RoutineAttribute::Integers{isTransposed}}};
    routine.operands = {makeTensor("factors", DType::F64, {n, n}),
                        makeTensor("pivots", DType::I64, {n}),
                        makeTensor("rows", DType::F64, {rows, n})};
    routine.results = {makeTensor("solutions", DType::F64, {rows, n})};
    return routine;
  }

  /// Runs a routine on two threads.
  static void run(const Routine &routine, std::vector<void *> operands,
                  std::vector<void *> results) {
    auto planned = llvm::cantFail(createHostRoutines()->plan(routine));
    EXPECT_EQ(planned.implementation->getLibrary(), "host");
    llvm::BumpPtrAllocator allocator;
    size_t bytes = planned.plan->getEstimate().scratchBytes;
    auto *scratch =
        static_cast<char *>(allocator.Allocate(bytes, llvm::Align(64)));
    ThreadPool threads(2);
    llvm::cantFail(planned.plan->run({operands, results, scratch, threads}));
  }
  static std::vector<double> makeNumbers(int64_t count) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::vector<double> numbers(count);
    for (double &number : numbers)
      number = normal(random);
    return numbers;
  }
};

TEST_P(SmallMatricesTest, FactorsOfPositiveDefiniteOnes) {
  int64_t n = GetParam();
  std::vector<double> x = makeNumbers(kCount * n * n), a(x.size());
  for (int64_t m = 0; m < kCount; ++m)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = i == j;
        for (int64_t k = 0; k < n; ++k)
          sum += x[(m * n + i) * n + k] * x[(m * n + j) * n + k];
        a[(m * n + i) * n + j] = sum;
      }
  // One is not.
  a[(5 * n + n - 1) * n + n - 1] = -1;
  std::vector<double> factor(a.size());
  std::vector<int64_t> info(kCount, -1);
  run(makeCholesky(n), {a.data()}, {factor.data(), info.data()});
  for (int64_t m = 0; m < kCount; ++m) {
    EXPECT_EQ(info[m], m == 5 ? n : 0) << m;
    for (int64_t i = 0; i < n && m != 5; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += factor[(m * n + i) * n + k] * factor[(m * n + j) * n + k];
        EXPECT_NEAR(sum, a[(m * n + i) * n + j], 1e-12 * (1 + std::abs(sum)));
        if (j > i)
          EXPECT_EQ(factor[(m * n + i) * n + j], 0);
      }
  }
}

TEST_P(SmallMatricesTest, EquationsByFactorsOfAnyOnes) {
  int64_t n = GetParam(), rows = 5;
  std::vector<double> a = makeNumbers(kCount * n * n), factors(a.size());
  std::vector<double> b = makeNumbers(kCount * rows * n), x(b.size());
  // One has a row of zeros, in which elimination ends.
  for (int64_t j = 0; j < n; ++j)
    a[(3 * n + n - 1) * n + j] = 0;
  std::vector<int64_t> pivots(kCount * n), info(kCount, -1);
  run(makeLu(n), {a.data()}, {factors.data(), pivots.data(), info.data()});
  for (bool isTransposed : {false, true}) {
    run(makeSolve(n, rows, isTransposed),
        {factors.data(), pivots.data(), b.data()}, {x.data()});
    for (int64_t m = 0; m < kCount; ++m) {
      EXPECT_EQ(info[m], m == 3 ? n : 0) << m;
      for (int64_t row = 0; row < rows && m != 3; ++row)
        for (int64_t i = 0; i < n; ++i) {
          double sum = 0, size = 0;
          for (int64_t j = 0; j < n; ++j) {
            double element =
                a[m * n * n + (isTransposed ? j * n + i : i * n + j)];
            sum += element * x[(m * rows + row) * n + j];
            size += std::abs(element * x[(m * rows + row) * n + j]);
          }
          EXPECT_NEAR(sum, b[(m * rows + row) * n + i], 1e-12 * (1 + size));
        }
    }
  }
}

TEST_P(SmallMatricesTest, PivotsOfAnyFileAreTaken) {
  int64_t n = GetParam();
  std::vector<double> a(kCount * n * n, 1), b(kCount * n, 1), x(b.size());
  std::vector<int64_t> pivots(kCount * n);
  for (size_t i = 0; i < pivots.size(); ++i)
    pivots[i] = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN : 0;
  run(makeSolve(n, 1, false), {a.data(), pivots.data(), b.data()}, {x.data()});
}

INSTANTIATE_TEST_SUITE_P(Sizes, SmallMatricesTest,
                         testing::Values(1, 2, 3, 4, 7, 8, 13, 16));

TEST(SmallMatricesRefusalTest, LargeOnesAreLeftToTheLibrary) {
  Routine routine;
  routine.name = "cholesky";
  routine.operands = {makeDenseTensor("a", DType::F64, {17, 17})};
  routine.results = {makeDenseTensor("factor", DType::F64, {17, 17}),
                     makeDenseTensor("info", DType::I64, {})};
  auto planned = createHostRoutines()->plan(routine, "host");
  ASSERT_FALSE(static_cast<bool>(planned));
  EXPECT_NE(toString(planned.takeError()).find("are 16 at most"),
            std::string::npos);
}

} // namespace
