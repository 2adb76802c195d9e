//===- MatrixFunctions.h - Triangular factors, and their use ----*- C++ -*-===//
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

#include "MatrixBatch.h"
#include "MetaOps/Support/Determinants.h"
#include "Workspace.h"

#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace metaops {

/// The library starts threads for triangular systems of more elements.
inline constexpr int64_t kMaxSerial = 1023;

template <typename T, typename Int> class Cholesky : public MatrixFunction {
public:
  Cholesky(void *potrf, const MatrixBatch &batch)
      : potrf(reinterpret_cast<Function *>(potrf)), n(batch.n) {}

  int64_t countFlops() const override {
    return multiplyCounts(multiplyCounts(n, n), n) / 3;
  }
  void run(const RoutineRun &run, int64_t number, char *) const override {
    T *factor = copyOver<T>(run, 0, 0, number, n * n);
    Int order = n, info = 0;
    if (n > 0)
      potrf("U", &order, factor, &order, &info, 1);
    for (int64_t i = 0; i < n; ++i)
      std::fill(factor + i * n + i + 1, factor + (i + 1) * n, T(0));
    *at<int64_t>(run.results[1], number, 1) = info;
  }

private:
  using Function = void(const char *, const Int *, T *, const Int *, Int *,
                        size_t);

  Function *potrf;
  int64_t n;
};

template <typename T, typename Int> class Lu : public MatrixFunction {
public:
  Lu(void *getrf, const MatrixBatch &batch)
      : getrf(reinterpret_cast<Function *>(getrf)), n(batch.n) {}

  int64_t countFlops() const override {
    return multiplyCounts(multiplyCounts(n, n), n) / 2;
  }
  void run(const RoutineRun &run, int64_t number, char *) const override {
    T *factors = copyOver<T>(run, 0, 0, number, n * n);
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

private:
  using Function = void(const Int *, const Int *, T *, const Int *, Int *,
                        Int *);

  Function *getrf;
  int64_t n;
};

/// Writes both factors of a matrix, which lie in one, as matrices in rows. Its
/// rows and columns are steps apart.
template <typename T>
void splitFactors(const T *x, int64_t m, int64_t n, int64_t rowStep,
                  int64_t columnStep, T *lower, T *upper) {
  int64_t rank = std::min(m, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < rank; ++j)
      *lower++ = i > j ? x[i * rowStep + j * columnStep] : T(i == j);
  for (int64_t i = 0; i < rank; ++i)
    for (int64_t j = 0; j < n; ++j)
      *upper++ = i <= j ? x[i * rowStep + j * columnStep] : T(0);
}

/// Writes the order of m rows, of which the first ones have been exchanged with
/// those of a function.
template <typename FunctionT>
void orderRows(int64_t m, int64_t exchanges, FunctionT getOther,
               int64_t *order) {
  std::iota(order, order + m, 0);
  for (int64_t i = 0; i < exchanges; ++i)
    std::swap(order[i], order[getOther(i)]);
}

/// Both factors of a matrix that need not be square, by a transposed copy: the
/// library exchanges rows.
template <typename T, typename Int> class RowLu : public MatrixFunction {
public:
  RowLu(void *getrf, const MatrixBatch &batch)
      : getrf(reinterpret_cast<Function *>(getrf)), m(batch.m), n(batch.n),
        rank(batch.getRank()), columns(space.add<T>(multiplyCounts(m, n))),
        pivots(space.add<Int>(rank)) {}

  int64_t getScratch() const override { return space.getBytes(); }
  int64_t countFlops() const override {
    return multiplyCounts(multiplyCounts(m, n), rank);
  }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    T *x = reinterpret_cast<T *>(scratch + columns);
    Int *exchanged = reinterpret_cast<Int *>(scratch + pivots);
    transpose(at<T>(run.operands[0], number, m * n), m, n, x);
    Int rows = m, given = n, info = 0;
    if (rank > 0)
      getrf(&rows, &given, x, &rows, exchanged, &info);
    splitFactors(x, m, n, 1, m, at<T>(run.results[0], number, m * rank),
                 at<T>(run.results[1], number, rank * n));
    // Among NaN, a library may find no row.
    orderRows(
        m, rank,
        [&](int64_t i) { return std::clamp<int64_t>(exchanged[i], 1, m) - 1; },
        at<int64_t>(run.results[2], number, m));
  }

private:
  using Function = void(const Int *, const Int *, T *, const Int *, Int *,
                        Int *);

  Function *getrf;
  int64_t m, n, rank;
  Workspace space;
  int64_t columns, pivots;
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

template <typename T, typename Int> class LuSolve : public MatrixFunction {
public:
  LuSolve(void *trsm, const MatrixBatch &batch, bool isTransposed)
      : triangle(trsm, batch.n), n(batch.n), rows(batch.rows),
        isTransposed(isTransposed) {}

  int64_t countFlops() const override {
    return multiplyCounts(multiplyCounts(2 * rows, n), n);
  }
  void run(const RoutineRun &run, int64_t number, char *) const override {
    T *x = copyOver<T>(run, 2, 0, number, n * rows);
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

  Triangle<T, Int> triangle;
  int64_t n, rows;
  bool isTransposed;
};

template <typename T, typename Int>
class TriangularSolve : public MatrixFunction {
public:
  TriangularSolve(void *trsm, const MatrixBatch &batch, bool isLower,
                  bool isTransposed, bool isUnit)
      : triangle(trsm, batch.n), n(batch.n), columns(batch.columns),
        form({isLower ? 'U' : 'L', isTransposed ? 'T' : 'N',
              isUnit ? 'U' : 'N'}) {}

  int64_t countFlops() const override {
    return multiplyCounts(multiplyCounts(columns, n), n);
  }
  void run(const RoutineRun &run, int64_t number, char *) const override {
    const T *a = at<T>(run.operands[0], number, n * n);
    T *x = copyOver<T>(run, 1, 0, number, n * columns);
    int64_t info = 0;
    for (int64_t i = 0; i < n && info == 0 && form[2] == 'N'; ++i)
      if (a[i * n + i] == 0)
        info = i + 1;
    *at<int64_t>(run.results[1], number, 1) = info;
    // X^T A^T = B^T, in which all are as they lie.
    if (n > 0 && columns > 0)
      triangle.solveRight(form.c_str(), a, x, columns);
  }

private:
  Triangle<T, Int> triangle;
  int64_t n, columns;
  /// Triangle, transposition and diagonal as the library names them.
  std::string form;
};

template <typename T, typename Int> class PivotProduct : public MatrixFunction {
public:
  explicit PivotProduct(const MatrixBatch &batch) : n(batch.n) {}

  int64_t countFlops() const override { return n; }
  void run(const RoutineRun &run, int64_t number, char *) const override {
    const T *factors = at<T>(run.operands[0], number, n * n);
    const auto *pivots = at<int64_t>(run.operands[1], number, n);
    ScaledProduct product;
    for (int64_t i = 0; i < n; ++i) {
      bool isExchanged = pivots[i] != i + 1;
      product.multiply(isExchanged ? -factors[i * n + i] : factors[i * n + i]);
    }
    *at<T>(run.results[0], number, 1) = static_cast<T>(product.get());
  }

private:
  int64_t n;
};

template <typename T, typename Int> class Diagonalise : public MatrixFunction {
public:
  explicit Diagonalise(const MatrixBatch &batch) : n(batch.n) {}

  int64_t countFlops() const override {
    return multiplyCounts(3, multiplyCounts(multiplyCounts(n, n), n));
  }
  void run(const RoutineRun &run, int64_t number, char *) const override {
    T *form = at<T>(run.results[2], number, n * n);
    std::copy_n(at<T>(run.operands[0], number, n * n), n * n, form);
    DiagonalForm<T>(form, at<T>(run.results[0], number, n * n),
                    at<T>(run.results[1], number, n * n), n)
        .compute();
  }

private:
  int64_t n;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_MATRIXFUNCTIONS_H
