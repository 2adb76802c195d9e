//===- Spectra.cpp - Eigenvalues and singular values ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library sees the transposed of each matrix, whose eigenvectors are the
// same, and whose singular vectors have changed sides. Its columns are rows
// here.
//
// Matrices are looked at before: from an infinity the library may not return.
//
//===----------------------------------------------------------------------===//

#include "Spectra.h"
#include "Workspace.h"

using namespace metaops;

//===----------------------------------------------------------------------===//
// Symmetric matrices
//===----------------------------------------------------------------------===//

namespace {
template <typename T, typename Int> class Eigh : public MatrixFunction {
public:
  Eigh(void *syevd, const MatrixBatch &batch, bool hasVectors)
      : syevd(reinterpret_cast<Function *>(syevd)), n(batch.n),
        hasVectors(hasVectors) {
    if (!hasVectors)
      copy = space.add<T>(multiplyCounts(n, n));
    if (n > 0)
      findLengths();
    work = space.add<T>(length);
    integers = space.add<Int>(integerLength);
  }

  int64_t getScratch() const override { return space.getBytes(); }
  int64_t countFlops() const override {
    int64_t cube = multiplyCounts(multiplyCounts(n, n), n);
    return hasVectors ? multiplyCounts(9, cube) : multiplyCounts(4, cube) / 3;
  }
  int64_t getSharedRank() const override { return 25; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    T *values = at<T>(run.results[0], number, n);
    T *x = nullptr;
    if (hasVectors) {
      x = copyOver<T>(run, 0, 1, number, n * n);
    } else {
      x = reinterpret_cast<T *>(scratch + copy);
      std::memcpy(x, at<T>(run.operands[0], number, n * n), n * n * sizeof(T));
    }
    int64_t *info = at<int64_t>(run.results.back(), number, 1);
    *info = 0;
    for (int64_t i = 0; i < n && *info == 0; ++i)
      *info = isFinite(x + i * n, i + 1) ? 0 : kNotFinite;
    if (n > 0 && *info == 0) {
      Int order = n, size = length, integerSize = integerLength, failed = 0;
      syevd(getJob(), "U", &order, x, &order, values,
            reinterpret_cast<T *>(scratch + work), &size,
            reinterpret_cast<Int *>(scratch + integers), &integerSize, &failed,
            1, 1);
      *info = failed == 0 ? 0 : kNotConverged;
    }
    if (*info == 0)
      return;
    fillNaN(values, n);
    fillNaN(x, n * n);
  }

private:
  using Function = void(const char *, const char *, const Int *, T *,
                        const Int *, T *, T *, const Int *, Int *, const Int *,
                        Int *, size_t, size_t);

  const char *getJob() const { return hasVectors ? "V" : "N"; }
  /// Asks the library for the lengths of its workspaces.
  void findLengths() {
    T none = 0, answer = 0;
    Int order = n, ask = -1, integerAnswer = 0, info = 0;
    syevd(getJob(), "U", &order, &none, &order, &none, &answer, &ask,
          &integerAnswer, &ask, &info, 1, 1);
    length = readWorkspace(answer);
    integerLength = integerAnswer;
  }

  Function *syevd;
  int64_t n;
  bool hasVectors;
  int64_t length = 1, integerLength = 1;
  Workspace space;
  int64_t copy = 0, work, integers;
};
} // namespace

std::unique_ptr<const MatrixFunction>
metaops::makeEigh(const MatrixBatch &batch, void *syevd, bool isWide,
                  bool hasVectors) {
  // A workspace of 2 n^2 + 6 n + 1.
  if (!isWide && batch.n > 32'000)
    return nullptr;
  return makeOfTypes<Eigh>(batch.dtype, isWide, syevd, batch, hasVectors);
}

//===----------------------------------------------------------------------===//
// Singular values
//===----------------------------------------------------------------------===//

namespace {
template <typename T, typename Int> class Svd : public MatrixFunction {
public:
  Svd(void *gesdd, const MatrixBatch &batch, SpectrumVectors vectors)
      : gesdd(reinterpret_cast<Function *>(gesdd)), m(batch.m), n(batch.n),
        rank(batch.getRank()), vectors(vectors) {
    bool isFull = vectors == SpectrumVectors::Full;
    leftColumns = isFull ? m : rank;
    rightRows = isFull ? n : rank;
    copy = space.add<T>(multiplyCounts(m, n));
    integers = space.add<Int>(8 * rank);
    if (rank > 0)
      findLength();
    work = space.add<T>(length);
  }

  int64_t getScratch() const override { return space.getBytes(); }
  int64_t countFlops() const override {
    int64_t flops = multiplyCounts(multiplyCounts(m, n), rank);
    return multiplyCounts(vectors == SpectrumVectors::None ? 4 : 20, flops);
  }
  int64_t getSharedRank() const override { return 40; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    const T *a = at<T>(run.operands[0], number, m * n);
    bool hasVectors = vectors != SpectrumVectors::None;
    T *values = at<T>(run.results[hasVectors ? 1 : 0], number, rank);
    T *left = nullptr, *right = nullptr;
    if (hasVectors) {
      left = at<T>(run.results[0], number, m * leftColumns);
      right = at<T>(run.results[2], number, rightRows * n);
    }
    int64_t info = decompose(a, left, values, right, scratch);
    *at<int64_t>(run.results.back(), number, 1) = info;
    if (info == 0)
      return;
    fillNaN(values, rank);
    if (hasVectors) {
      fillNaN(left, m * leftColumns);
      fillNaN(right, rightRows * n);
    }
  }

private:
  using Function = void(const char *, const Int *, const Int *, T *,
                        const Int *, T *, T *, const Int *, T *, const Int *,
                        T *, const Int *, Int *, Int *, size_t);

  const char *getJob() const {
    switch (vectors) {
    case SpectrumVectors::None:
      return "N";
    case SpectrumVectors::Thin:
      return "S";
    case SpectrumVectors::Full:
      return "A";
    }
    llvm_unreachable("not a kind of vectors");
  }

  int64_t decompose(const T *a, T *left, T *values, T *right,
                    char *scratch) const {
    if (!isFinite(a, m * n))
      return kNotFinite;
    if (rank == 0) {
      fillIdentity(left, m * leftColumns, leftColumns);
      fillIdentity(right, rightRows * n, n);
      return 0;
    }
    T *x = reinterpret_cast<T *>(scratch + copy);
    std::memcpy(x, a, m * n * sizeof(T));
    return call(x, left, values, right, reinterpret_cast<T *>(scratch + work),
                length, reinterpret_cast<Int *>(scratch + integers));
  }
  /// Writes elements of an identity matrix; there may be none.
  static void fillIdentity(T *x, int64_t count, int64_t columns) {
    for (int64_t i = 0; x && i < count; ++i)
      x[i] = i % (columns + 1) == 0;
  }
  int64_t call(T *x, T *left, T *values, T *right, T *memory, int64_t size,
               Int *numbers) const {
    Int rows = n, columns = m, rightPitch = n, leftPitch = leftColumns;
    Int given = size, failed = 0;
    gesdd(getJob(), &rows, &columns, x, &rows, values, right, &rightPitch, left,
          &leftPitch, memory, &given, numbers, &failed, 1);
    return failed == 0 ? 0 : kNotConverged;
  }
  /// Asks the library for the length of its workspace.
  void findLength() {
    T none = 0, answer = 0;
    Int number = 0;
    call(&none, &none, &none, &none, &answer, /*size=*/-1, &number);
    length = readWorkspace(answer);
  }

  Function *gesdd;
  int64_t m, n, rank;
  SpectrumVectors vectors;
  int64_t leftColumns, rightRows, length = 1;
  Workspace space;
  int64_t copy, integers, work;
};
} // namespace

std::unique_ptr<const MatrixFunction>
metaops::makeSvd(const MatrixBatch &batch, void *gesdd, bool isWide,
                 SpectrumVectors vectors) {
  // A workspace of 4 k^2 + 7 k, and blocks of up to 512 columns.
  int64_t longest = std::max(batch.m, batch.n);
  if (!isWide && (batch.getRank() > 23'000 || longest > INT32_MAX / 512))
    return nullptr;
  return makeOfTypes<Svd>(batch.dtype, isWide, gesdd, batch, vectors);
}
