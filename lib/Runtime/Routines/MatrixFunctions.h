//===- MatrixFunctions.h - One matrix of a batch ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See MatrixRoutines.cpp. Behind all arguments, Fortran is given the lengths of
// those that are texts.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_MATRIXFUNCTIONS_H
#define METAOPS_LIB_RUNTIME_ROUTINES_MATRIXFUNCTIONS_H

#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "MetaOps/Support/Determinants.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace metaops {

/// Matrices of more rows are left to the library's threads.
inline constexpr int64_t kMaxShared = 64;
/// The library starts threads for triangular systems of more elements.
inline constexpr int64_t kMaxSerial = 1023;

/// Sizes of a batch of matrices.
struct MatrixBatch {
  DType dtype = DType::F64;
  int64_t count = 1;
  /// Rows of a square matrix, and of what is on the right.
  int64_t n = 0, rows = 0, columns = 0;
  /// Set where no result has an element.
  bool isEmpty = false;

  int64_t getSize() const { return sizeOf(dtype); }
};

/// Computes one matrix of a batch.
struct MatrixFunction {
  virtual ~MatrixFunction() = default;
  virtual void run(const RoutineRun &run, int64_t number) const = 0;
};

/// Returns where a matrix of so many elements is in a buffer.
template <typename T> T *at(void *buffer, int64_t number, int64_t elements) {
  return static_cast<T *>(buffer) + number * elements;
}

template <typename T, typename Int> struct Cholesky : MatrixFunction {
  using Function = void(const char *, const Int *, T *, const Int *, Int *,
                        size_t);
  Function *potrf;
  int64_t n;

  Cholesky(void *potrf, const MatrixBatch &batch)
      : potrf(reinterpret_cast<Function *>(potrf)), n(batch.n) {}

  void run(const RoutineRun &run, int64_t number) const override {
    T *factor = at<T>(run.results[0], number, n * n);
    const T *a = at<T>(run.operands[0], number, n * n);
    if (factor != a)
      std::memcpy(factor, a, n * n * sizeof(T));
    Int order = n, info = 0;
    if (n > 0)
      potrf("U", &order, factor, &order, &info, 1);
    for (int64_t i = 0; i < n; ++i)
      std::fill(factor + i * n + i + 1, factor + (i + 1) * n, T(0));
    *at<int64_t>(run.results[1], number, 1) = info;
  }
};

template <typename T, typename Int> struct Lu : MatrixFunction {
  using Function = void(const Int *, const Int *, T *, const Int *, Int *,
                        Int *);
  Function *getrf;
  int64_t n;

  Lu(void *getrf, const MatrixBatch &batch)
      : getrf(reinterpret_cast<Function *>(getrf)), n(batch.n) {}

  void run(const RoutineRun &run, int64_t number) const override {
    T *factors = at<T>(run.results[0], number, n * n);
    const T *a = at<T>(run.operands[0], number, n * n);
    if (factors != a)
      std::memcpy(factors, a, n * n * sizeof(T));
    auto *pivots = at<int64_t>(run.results[1], number, n);
    auto *narrow = reinterpret_cast<Int *>(pivots);
    Int order = n, info = 0;
    if (n > 0)
      getrf(&order, &order, factors, &order, narrow, &info);
    // From the last on, so that none is overwritten before it is read.
    for (int64_t i = n; i-- > 0;) {
      Int pivot;
      std::memcpy(&pivot, narrow + i, sizeof(Int));
      int64_t wide = pivot;
      std::memcpy(pivots + i, &wide, sizeof(wide));
    }
    *at<int64_t>(run.results[2], number, 1) = info;
  }
};

/// Triangular systems of the library's: of small matrices in parts for which it
/// starts no threads, since many run beside each other.
template <typename T, typename Int> class Triangle {
public:
  using Function = void(const char *, const char *, const char *, const char *,
                        const Int *, const Int *, const T *, const T *,
                        const Int *, T *, const Int *, size_t, size_t, size_t,
                        size_t);

  Triangle(void *trsm, int64_t n)
      : trsm(reinterpret_cast<Function *>(trsm)), n(n),
        part(n <= kMaxShared ? kMaxSerial / std::max<int64_t>(n, 1)
                             : std::numeric_limits<int32_t>::max()) {}

  /// Solves with `count` columns of n elements, one behind the other.
  void solveLeft(const char *form, const T *a, T *x, int64_t count) const {
    Int order = n;
    T one = 1;
    for (int64_t begin = 0; begin < count; begin += part) {
      Int columns = std::min(part, count - begin);
      trsm("L", form, form + 1, form + 2, &order, &columns, &one, a, &order,
           x + begin * n, &order, 1, 1, 1, 1);
    }
  }
  /// Solves with n columns of `count` elements, one behind the other.
  void solveRight(const char *form, const T *a, T *x, int64_t count) const {
    Int order = n, pitch = count;
    T one = 1;
    for (int64_t begin = 0; begin < count; begin += part) {
      Int rows = std::min(part, count - begin);
      trsm("R", form, form + 1, form + 2, &rows, &order, &one, a, &order,
           x + begin, &pitch, 1, 1, 1, 1);
    }
  }

private:
  Function *trsm;
  int64_t n, part;
};

template <typename T, typename Int> struct LuSolve : MatrixFunction {
  Triangle<T, Int> triangle;
  int64_t n, rows;
  bool isTransposed;

  LuSolve(void *trsm, const MatrixBatch &batch, bool isTransposed)
      : triangle(trsm, batch.n), n(batch.n), rows(batch.rows),
        isTransposed(isTransposed) {}

  void run(const RoutineRun &run, int64_t number) const override {
    T *x = at<T>(run.results[0], number, n * rows);
    const T *given = at<T>(run.operands[2], number, n * rows);
    if (x != given)
      std::memcpy(x, given, n * rows * sizeof(T));
    if (n == 0 || rows == 0)
      return;
    const T *factors = at<T>(run.operands[0], number, n * n);
    const auto *pivots = at<int64_t>(run.operands[1], number, n);
    // The transposed of A is P L U.
    if (isTransposed) {
      for (int64_t i = 0; i < n; ++i)
        exchange(x, i, pivots[i]);
      triangle.solveLeft("LNU", factors, x, rows);
      triangle.solveLeft("UNN", factors, x, rows);
    } else {
      triangle.solveLeft("UTN", factors, x, rows);
      triangle.solveLeft("LTU", factors, x, rows);
      for (int64_t i = n; i-- > 0;)
        exchange(x, i, pivots[i]);
    }
  }

private:
  /// Exchanges two elements of each row. A file may say anything: none is
  /// exchanged with one that is not there.
  void exchange(T *x, int64_t i, int64_t pivot) const {
    int64_t other = std::clamp<int64_t>(pivot, 1, n) - 1;
    if (other != i)
      for (int64_t row = 0; row < rows; ++row)
        std::swap(x[row * n + i], x[row * n + other]);
  }
};

template <typename T, typename Int> struct TriangularSolve : MatrixFunction {
  Triangle<T, Int> triangle;
  int64_t n, columns;
  /// Triangle, transposition and diagonal as the library names them.
  std::string form;

  TriangularSolve(void *trsm, const MatrixBatch &batch, bool isLower,
                  bool isTransposed, bool isUnit)
      : triangle(trsm, batch.n), n(batch.n), columns(batch.columns),
        form({isLower ? 'U' : 'L', isTransposed ? 'T' : 'N',
              isUnit ? 'U' : 'N'}) {}

  void run(const RoutineRun &run, int64_t number) const override {
    const T *a = at<T>(run.operands[0], number, n * n);
    T *x = at<T>(run.results[0], number, n * columns);
    const T *b = at<T>(run.operands[1], number, n * columns);
    if (x != b)
      std::memcpy(x, b, n * columns * sizeof(T));
    int64_t info = 0;
    for (int64_t i = 0; i < n && info == 0 && form[2] == 'N'; ++i)
      if (a[i * n + i] == 0)
        info = i + 1;
    *at<int64_t>(run.results[1], number, 1) = info;
    // X^T A^T = B^T, in which all are as they lie.
    if (n > 0 && columns > 0)
      triangle.solveRight(form.c_str(), a, x, columns);
  }
};

template <typename T> struct PivotProduct : MatrixFunction {
  int64_t n;

  explicit PivotProduct(const MatrixBatch &batch) : n(batch.n) {}

  void run(const RoutineRun &run, int64_t number) const override {
    const T *factors = at<T>(run.operands[0], number, n * n);
    const auto *pivots = at<int64_t>(run.operands[1], number, n);
    ScaledProduct product;
    for (int64_t i = 0; i < n; ++i) {
      bool isExchanged = pivots[i] != i + 1;
      product.multiply(isExchanged ? -factors[i * n + i] : factors[i * n + i]);
    }
    *at<T>(run.results[0], number, 1) = static_cast<T>(product.get());
  }
};

template <typename T> struct Diagonalise : MatrixFunction {
  int64_t n;

  explicit Diagonalise(const MatrixBatch &batch) : n(batch.n) {}

  void run(const RoutineRun &run, int64_t number) const override {
    T *form = at<T>(run.results[2], number, n * n);
    std::copy_n(at<T>(run.operands[0], number, n * n), n * n, form);
    DiagonalForm<T>(form, at<T>(run.results[0], number, n * n),
                    at<T>(run.results[1], number, n * n), n)
        .compute();
  }
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_MATRIXFUNCTIONS_H
