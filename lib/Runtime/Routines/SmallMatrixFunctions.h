//===- SmallMatrixFunctions.h - Many small matrices at once -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Routines of triangular factors and of equations, by tiles that have a matrix
// in each column. See MatrixRoutines.cpp for what they are given and give.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_SMALLMATRIXFUNCTIONS_H
#define METAOPS_LIB_RUNTIME_ROUTINES_SMALLMATRIXFUNCTIONS_H

#include "MatrixFunctions.h"
#include "SmallMatrices.h"

namespace metaops {

/// Computes as many matrices at once as a tile has columns.
template <typename T> class TileFunction : public MatrixFunction {
public:
  explicit TileFunction(const MatrixBatch &batch) : batch(batch) {}

  int64_t getGroup() const override { return kTileWidth<T>; }
  int64_t getScratch() const override { return space.getBytes(); }

protected:
  /// The matrices of a group, and its scratch memory.
  struct Group {
    int64_t first, count;
    char *scratch;
  };
  Group makeGroup(int64_t number, char *scratch) const {
    int64_t first = number * kTileWidth<T>;
    return {first, std::min(kTileWidth<T>, batch.count - first), scratch};
  }

  /// Returns where a tile for so many elements of each matrix begins.
  int64_t addTile(int64_t elements) {
    return space.add<T>(elements * kTileWidth<T>);
  }
  static T *getTile(const Group &group, int64_t begin) {
    return reinterpret_cast<T *>(group.scratch + begin);
  }
  /// Copies matrices into a tile. Columns without a matrix have zeros.
  static void read(void *operand, const Group &group, int64_t elements,
                   T *tile) {
    if (group.count < kTileWidth<T>)
      std::fill_n(tile, elements * kTileWidth<T>, T(0));
    transposeSquares(at<T>(operand, group.first, elements), elements,
                     group.count, elements, tile, kTileWidth<T>);
  }
  static void write(const T *tile, const Group &group, int64_t elements,
                    void *result) {
    transposeSquares(tile, kTileWidth<T>, elements, group.count,
                     at<T>(result, group.first, elements), elements);
  }
  /// Copies integers into a tile, or from it, with something added.
  static void readIntegers(void *operand, const Group &group, int64_t elements,
                           int64_t added, T *tile) {
    const auto *from = at<int64_t>(operand, group.first, elements);
    for (int64_t k = 0; k < group.count; ++k)
      for (int64_t e = 0; e < elements; ++e)
        tile[e * kTileWidth<T> + k] =
            static_cast<T>(from[k * elements + e]) + static_cast<T>(added);
  }
  static void writeIntegers(const T *tile, const Group &group, int64_t elements,
                            int64_t added, void *result) {
    auto *to = at<int64_t>(result, group.first, elements);
    for (int64_t k = 0; k < group.count; ++k)
      for (int64_t e = 0; e < elements; ++e)
        to[k * elements + e] =
            static_cast<int64_t>(tile[e * kTileWidth<T> + k]) + added;
  }

  MatrixBatch batch;

private:
  Workspace space;
};

template <typename T, typename> class SmallCholesky : public TileFunction<T> {
public:
  SmallCholesky(const Routine &, const MatrixBatch &batch)
      : TileFunction<T>(batch), n(batch.n), factor(this->addTile(n * n)),
        info(this->addTile(1)) {}

  int64_t countFlops() const override { return n * n * n / 3; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    auto group = this->makeGroup(number, scratch);
    T *a = this->getTile(group, factor), *failed = this->getTile(group, info);
    this->read(run.operands[0], group, n * n, a);
    factorCholesky(makeLaneMatrices(a, n, n), failed);
    this->write(a, group, n * n, run.results[0]);
    this->writeIntegers(failed, group, 1, 0, run.results[1]);
  }

private:
  int64_t n, factor, info;
};

template <typename T, typename> class SmallLu : public TileFunction<T> {
public:
  SmallLu(const Routine &, const MatrixBatch &batch)
      : TileFunction<T>(batch), n(batch.n), factors(this->addTile(n * n)),
        pivots(this->addTile(n)), info(this->addTile(1)) {}

  int64_t countFlops() const override { return n * n * n / 2; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    auto group = this->makeGroup(number, scratch);
    T *a = this->getTile(group, factors), *rows = this->getTile(group, pivots);
    T *failed = this->getTile(group, info);
    this->read(run.operands[0], group, n * n, a);
    factorLu(makeLaneMatrices(a, n, n).transposed(), rows, failed);
    this->write(a, group, n * n, run.results[0]);
    this->writeIntegers(rows, group, n, /*added=*/1, run.results[1]);
    this->writeIntegers(failed, group, 1, 0, run.results[2]);
  }

private:
  int64_t n, factors, pivots, info;
};

template <typename T, typename> class SmallLuSolve : public TileFunction<T> {
public:
  SmallLuSolve(const Routine &routine, const MatrixBatch &batch)
      : TileFunction<T>(batch), n(batch.n), rows(batch.rows),
        isTransposed(routine.findInteger("transposed") == 1),
        factors(this->addTile(n * n)), pivots(this->addTile(n)),
        solutions(this->addTile(n * rows)) {}

  int64_t countFlops() const override { return 2 * rows * n * n; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    auto group = this->makeGroup(number, scratch);
    T *tile = this->getTile(group, factors);
    T *exchanged = this->getTile(group, pivots);
    T *right = this->getTile(group, solutions);
    this->read(run.operands[0], group, n * n, tile);
    this->readIntegers(run.operands[1], group, n, /*added=*/-1, exchanged);
    this->read(run.operands[2], group, n * rows, right);
    solve(makeLaneMatrices(tile, n, n), exchanged,
          makeLaneMatrices(right, rows, n).transposed());
    this->write(right, group, n * rows, run.results[0]);
  }

private:
  /// See LuSolve: the factors are those of the transposed of A.
  void solve(const LaneMatrices<T> &a, const T *exchanged,
             const LaneMatrices<T> &x) const {
    TriangleForm lower = {/*isLower=*/true, /*isUnit=*/isTransposed};
    TriangleForm upper = {/*isLower=*/false, /*isUnit=*/!isTransposed};
    LaneMatrices<T> triangles = isTransposed ? a.transposed() : a;
    if (isTransposed)
      exchangeRows(exchanged, /*isLastFirst=*/false, x);
    solveTriangle(triangles, lower, x);
    solveTriangle(triangles, upper, x);
    if (!isTransposed)
      exchangeRows(exchanged, /*isLastFirst=*/true, x);
  }

  int64_t n, rows;
  bool isTransposed;
  int64_t factors, pivots, solutions;
};

template <typename T, typename>
class SmallTriangularSolve : public TileFunction<T> {
public:
  SmallTriangularSolve(const Routine &routine, const MatrixBatch &batch)
      : TileFunction<T>(batch), n(batch.n), columns(batch.columns),
        isTransposed(routine.findInteger("transposed") == 1),
        form({(routine.findInteger("lower") == 1) != isTransposed,
              routine.findInteger("unit") == 1}),
        triangle(this->addTile(n * n)), solutions(this->addTile(n * columns)) {}

  int64_t countFlops() const override { return columns * n * n; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    auto group = this->makeGroup(number, scratch);
    T *tile = this->getTile(group, triangle);
    T *right = this->getTile(group, solutions);
    this->read(run.operands[0], group, n * n, tile);
    this->read(run.operands[1], group, n * columns, right);
    auto *info = at<int64_t>(run.results[1], group.first, 1);
    for (int64_t k = 0; k < group.count; ++k)
      info[k] = form.isUnit ? 0 : findZero(tile + k);
    LaneMatrices<T> a = makeLaneMatrices(tile, n, n);
    solveTriangle(isTransposed ? a.transposed() : a, form,
                  makeLaneMatrices(right, n, columns));
    this->write(right, group, n * columns, run.results[0]);
  }

private:
  /// Returns the first 0 in the diagonal of a matrix, from 1 on, or 0.
  int64_t findZero(const T *a) const {
    for (int64_t i = 0; i < n; ++i)
      if (a[i * (n + 1) * kTileWidth<T>] == 0)
        return i + 1;
    return 0;
  }

  int64_t n, columns;
  bool isTransposed;
  TriangleForm form;
  int64_t triangle, solutions;
};

/// Both factors of matrices that need not be square.
template <typename T, typename> class SmallRowLu : public TileFunction<T> {
public:
  SmallRowLu(const Routine &, const MatrixBatch &batch)
      : TileFunction<T>(batch), m(batch.m), n(batch.n), rank(batch.getRank()),
        factors(this->addTile(m * n)), pivots(this->addTile(rank)),
        info(this->addTile(1)) {}

  int64_t countFlops() const override { return m * n * rank; }
  void run(const RoutineRun &run, int64_t number,
           char *scratch) const override {
    auto group = this->makeGroup(number, scratch);
    T *a = this->getTile(group, factors), *rows = this->getTile(group, pivots);
    this->read(run.operands[0], group, m * n, a);
    factorLu(makeLaneMatrices(a, m, n), rows, this->getTile(group, info));
    for (int64_t k = 0; k < group.count; ++k) {
      int64_t matrix = group.first + k, width = kTileWidth<T>;
      splitFactors(a + k, m, n, n * width, width,
                   at<T>(run.results[0], matrix, m * rank),
                   at<T>(run.results[1], matrix, rank * n));
      orderRows(
          m, rank, [&](int64_t i) { return int64_t(rows[i * width + k]); },
          at<int64_t>(run.results[2], matrix, m));
    }
  }

private:
  int64_t m, n, rank, factors, pivots, info;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_SMALLMATRIXFUNCTIONS_H
