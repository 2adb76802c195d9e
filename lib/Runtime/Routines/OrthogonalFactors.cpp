//===- OrthogonalFactors.cpp - Matrices as Q R ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library factors a transposed copy by columns, geqrf, which is quicker
// than gelqf by rows of the matrix as it lies.
//
//===----------------------------------------------------------------------===//

#include "OrthogonalFactors.h"
#include "Workspace.h"

using namespace metaops;

namespace {
template <typename T, typename Int> class Qr : public MatrixFunction {
public:
  Qr(llvm::ArrayRef<void *> functions, const MatrixBatch &batch,
     bool isComplete)
      : geqrf(reinterpret_cast<Factor *>(functions[0])),
        orgqr(reinterpret_cast<Generate *>(functions[1])), m(batch.m),
        n(batch.n), rank(batch.getRank()), width(isComplete ? m : rank) {
    columns = space.add<T>(multiplyCounts(m, std::max(n, width)));
    tau = space.add<T>(rank);
    length = rank > 0 ? findLength() : 1;
    work = space.add<T>(length);
  }

  int64_t getScratch() const override { return space.getBytes(); }
  int64_t countFlops() const override {
    return multiplyCounts(4, multiplyCounts(multiplyCounts(m, n), rank));
  }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    const T *a = at<T>(run.operands[0], number, m * n);
    T *q = at<T>(run.results[0], number, m * width);
    T *r = at<T>(run.results[1], number, width * n);
    if (rank == 0) {
      for (int64_t i = 0; i < m * width; ++i)
        q[i] = i % (width + 1) == 0;
      return;
    }
    auto get = [&](int64_t place) {
      return reinterpret_cast<T *>(scratch + place);
    };
    T *x = get(columns);
    transpose(a, m, n, x);
    Int rows = m, given = n, made = width, reflectors = rank, size = length;
    Int info = 0;
    geqrf(&rows, &given, x, &rows, get(tau), get(work), &size, &info);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t j = 0; j < n; ++j)
        r[i * n + j] = i <= j ? x[j * m + i] : T(0);
    orgqr(&rows, &made, &reflectors, x, &rows, get(tau), get(work), &size,
          &info);
    transpose(x, width, m, q);
  }

private:
  using Factor = void(const Int *, const Int *, T *, const Int *, T *, T *,
                      const Int *, Int *);
  using Generate = void(const Int *, const Int *, const Int *, T *, const Int *,
                        const T *, T *, const Int *, Int *);

  /// Asks the library for the longer of the workspaces.
  int64_t findLength() const {
    T answers[2] = {}, none = 0;
    Int rows = m, given = n, made = width, reflectors = rank, ask = -1;
    Int info = 0;
    geqrf(&rows, &given, &none, &rows, &none, &answers[0], &ask, &info);
    orgqr(&rows, &made, &reflectors, &none, &rows, &none, &answers[1], &ask,
          &info);
    return readWorkspace(std::max(answers[0], answers[1]));
  }

  Factor *geqrf;
  Generate *orgqr;
  /// Columns of Q are the width.
  int64_t m, n, rank, width, length = 1;
  Workspace space;
  int64_t columns, tau, work;
};
} // namespace

std::unique_ptr<const MatrixFunction>
metaops::makeQr(const MatrixBatch &batch, llvm::ArrayRef<void *> functions,
                bool isWide, bool isComplete) {
  // Blocks of columns are no wider than this.
  constexpr int64_t kMaxBlock = 512;
  int64_t longest = multiplyCounts(std::max(batch.m, batch.n), kMaxBlock);
  if (!isWide && longest > INT32_MAX)
    return nullptr;
  return makeOfTypes<Qr>(batch.dtype, isWide, functions, batch, isComplete);
}
