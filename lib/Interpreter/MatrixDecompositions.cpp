//===- MatrixDecompositions.cpp - The meaning of orthogonal factors -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Q R by reflections (A. Householder, 1958), eigenvalues by rotations of rows
// and columns (C. Jacobi, 1846), singular values by rotations of columns
// (M. Hestenes, 1958), in f64.
//
//===----------------------------------------------------------------------===//

#include "Matrices.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::metaop;

/// Values of `info` beside 0.
static constexpr int64_t kNotFinite = 1, kNotConverged = 2;
/// Rounds of rotations; a dozen is enough for any matrix.
static constexpr int kMaxRounds = 60;

static bool isFinite(const Matrix &matrix) {
  return llvm::all_of(matrix.elements,
                      [](double x) { return std::isfinite(x); });
}

//===----------------------------------------------------------------------===//
// Q R
//===----------------------------------------------------------------------===//

/// Applies 1 - 2 v v^T to columns of a matrix; v is 0 above its last elements.
static void reflect(ArrayRef<double> v, Matrix &x) {
  int64_t first = x.rows - v.size();
  for (int64_t j = 0; j < x.columns; ++j) {
    double sum = 0;
    for (auto [i, element] : llvm::enumerate(v))
      sum += element * x.at(first + i, j);
    for (auto [i, element] : llvm::enumerate(v))
      x.at(first + i, j) -= 2 * sum * element;
  }
}

/// Returns the unit vector whose reflection takes the rest of a column, from
/// the diagonal on, to its first element; nothing where it is there already.
static std::vector<double> findReflection(const Matrix &x, int64_t column) {
  std::vector<double> v;
  double rest = 0;
  for (int64_t i = column; i < x.rows; ++i) {
    v.push_back(x.at(i, column));
    rest = i > column ? std::hypot(rest, v.back()) : 0;
  }
  if (rest == 0)
    return {};
  // Away from the first element, so that nothing is cancelled.
  v[0] += std::copysign(std::hypot(v[0], rest), v[0]);
  double length = std::hypot(v[0], rest);
  for (double &element : v)
    element /= length;
  return v;
}

void metaop::runQr(const MatrixCall &call, int64_t number) {
  Matrix x = readMatrix(call.operands[0], number);
  int64_t width = call.results[0].getShape().back();
  std::vector<std::vector<double>> reflections;
  for (int64_t j = 0; j < std::min(x.rows, x.columns); ++j) {
    reflections.push_back(findReflection(x, j));
    reflect(reflections.back(), x);
  }
  Matrix q = Matrix::makeIdentity(x.rows, width);
  for (const auto &each : llvm::reverse(reflections))
    reflect(each, q);
  Matrix r(width, x.columns);
  for (int64_t i = 0; i < width; ++i)
    for (int64_t j = i; j < x.columns; ++j)
      r.at(i, j) = x.at(i, j);
  writeMatrix(q, number, call.results[0]);
  writeMatrix(r, number, call.results[1]);
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

namespace {
struct Rotation {
  double cosine, sine;
};
} // namespace

/// Returns the rotation that makes [[a, b], [b, c]] diagonal.
static Rotation findRotation(double a, double b, double c) {
  double cotangent = (c - a) / (2 * b);
  double tangent = std::copysign(
      1 / (std::abs(cotangent) + std::hypot(1, cotangent)), cotangent);
  double cosine = 1 / std::hypot(1, tangent);
  return {cosine, tangent * cosine};
}

static void rotateColumns(Matrix &x, int64_t p, int64_t q, Rotation by) {
  for (int64_t i = 0; i < x.rows; ++i) {
    double left = x.at(i, p), right = x.at(i, q);
    x.at(i, p) = by.cosine * left - by.sine * right;
    x.at(i, q) = by.sine * left + by.cosine * right;
  }
}

/// Calls `rotate` for pairs of columns until it rotates none. Returns false
/// where that does not end.
static bool rotatePairs(int64_t columns,
                        llvm::function_ref<bool(int64_t p, int64_t q)> rotate) {
  for (int round = 0; round < kMaxRounds; ++round) {
    bool isDone = true;
    for (int64_t p = 0; p < columns; ++p)
      for (int64_t q = p + 1; q < columns; ++q)
        if (rotate(p, q))
          isDone = false;
    if (isDone)
      return true;
  }
  return false;
}

/// Returns the order in which numbers rise, or fall.
static std::vector<int64_t> findOrder(ArrayRef<double> numbers,
                                      bool isFalling) {
  std::vector<int64_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    double x = numbers[i], y = numbers[j];
    if (isFalling)
      std::swap(x, y);
    return x < y || (x == y && i < j);
  });
  return order;
}

/// Returns columns in an order.
static Matrix takeColumns(const Matrix &x, ArrayRef<int64_t> order) {
  Matrix taken(x.rows, order.size());
  for (int64_t i = 0; i < x.rows; ++i)
    for (auto [j, from] : llvm::enumerate(order))
      taken.at(i, j) = x.at(i, from);
  return taken;
}

static void fillNaN(const MatrixCall &call, int64_t number) {
  for (Tensor &result : MutableArrayRef(call.results).drop_back()) {
    ArrayRef<int64_t> front = call.operands[0].getShape().drop_back(2);
    int64_t count = 1;
    for (int64_t extent : result.getShape().drop_front(front.size()))
      count *= extent;
    std::vector<double> elements(count,
                                 std::numeric_limits<double>::quiet_NaN());
    writeElements(elements, number, result);
  }
}

//===----------------------------------------------------------------------===//
// Eigenvalues
//===----------------------------------------------------------------------===//

/// Makes a symmetric matrix diagonal, and columns of `vectors` its
/// eigenvectors.
static bool diagonalise(Matrix &x, Matrix &vectors) {
  double size = 0;
  for (double element : x.elements)
    size = std::hypot(size, element);
  return rotatePairs(x.columns, [&](int64_t p, int64_t q) {
    double between = x.at(p, q);
    if (std::abs(between) <= 1e-17 * size)
      return false;
    Rotation by = findRotation(x.at(p, p), between, x.at(q, q));
    rotateColumns(x, p, q, by);
    x = x.transposed();
    rotateColumns(x, p, q, by);
    rotateColumns(vectors, p, q, by);
    x.at(p, q) = x.at(q, p) = 0;
    return true;
  });
}

void metaop::runEigh(const MatrixCall &call, int64_t number) {
  Matrix x = readMatrix(call.operands[0], number);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = i + 1; j < x.columns; ++j)
      x.at(i, j) = x.at(j, i);
  Matrix vectors = Matrix::makeIdentity(x.rows, x.rows);
  int64_t info = !isFinite(x)               ? kNotFinite
                 : !diagonalise(x, vectors) ? kNotConverged
                                            : 0;
  call.results.back().set(number, Scalar::ofSigned(info));
  if (info != 0)
    return fillNaN(call, number);
  std::vector<double> values;
  for (int64_t i = 0; i < x.rows; ++i)
    values.push_back(x.at(i, i));
  std::vector<int64_t> order = findOrder(values, /*isFalling=*/false);
  llvm::sort(values);
  writeElements(values, number, call.results[0]);
  if (call.results.size() == 3)
    writeMatrix(takeColumns(vectors, order).transposed(), number,
                call.results[1]);
}

//===----------------------------------------------------------------------===//
// Singular values
//===----------------------------------------------------------------------===//

/// Writes unit vectors that are orthogonal to the columns in front.
static void completeBasis(Matrix &basis, int64_t known) {
  int64_t rows = basis.rows;
  for (int64_t unit = 0; unit < rows && known < basis.columns; ++unit) {
    std::vector<double> rest(rows);
    rest[unit] = 1;
    double length = 0;
    // Twice, so that rounding is no matter.
    for (int round = 0; round < 2; ++round) {
      for (int64_t j = 0; j < known; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < rows; ++i)
          sum += rest[i] * basis.at(i, j);
        for (int64_t i = 0; i < rows; ++i)
          rest[i] -= sum * basis.at(i, j);
      }
      length = std::sqrt(
          std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0));
    }
    if (length < 1e-8)
      continue;
    for (int64_t i = 0; i < rows; ++i)
      basis.at(i, known) = rest[i] / length;
    ++known;
  }
}

/// Makes columns orthogonal to each other, and those of `vectors` with them.
static bool orthogonalise(Matrix &x, Matrix &vectors) {
  return rotatePairs(x.columns, [&](int64_t p, int64_t q) {
    double left = 0, between = 0, right = 0;
    for (int64_t i = 0; i < x.rows; ++i) {
      left += x.at(i, p) * x.at(i, p);
      between += x.at(i, p) * x.at(i, q);
      right += x.at(i, q) * x.at(i, q);
    }
    // A sum is rounded as often as it has elements.
    double rounding = 1e-16 * (10.0 + x.rows);
    if (std::abs(between) <= rounding * std::sqrt(left) * std::sqrt(right))
      return false;
    Rotation by = findRotation(left, between, right);
    rotateColumns(x, p, q, by);
    rotateColumns(vectors, p, q, by);
    return true;
  });
}

namespace {
/// X = left diag(values) right^T.
struct SingularVectors {
  Matrix left, right;
  std::vector<double> values;
};
} // namespace

/// Decomposes a matrix that has at least as many rows as columns, for so many
/// columns on the left. Nothing where that does not end.
static std::optional<SingularVectors> decompose(Matrix x, int64_t columns) {
  // Squares of elements around 1 neither overflow nor vanish.
  double size = 0;
  for (double element : x.elements)
    size = std::max(size, std::abs(element));
  int exponent = 0;
  std::frexp(size, &exponent);
  for (double &element : x.elements)
    element = std::ldexp(element, -exponent);
  Matrix vectors = Matrix::makeIdentity(x.columns, x.columns);
  if (!orthogonalise(x, vectors))
    return std::nullopt;
  std::vector<double> lengths(x.columns);
  for (int64_t j = 0; j < x.columns; ++j)
    for (int64_t i = 0; i < x.rows; ++i)
      lengths[j] = std::hypot(lengths[j], x.at(i, j));
  std::vector<int64_t> order = findOrder(lengths, /*isFalling=*/true);
  x = takeColumns(x, order);
  SingularVectors made = {
      Matrix(x.rows, columns), takeColumns(vectors, order), {}};
  // Columns that are nothing but rounding have no direction of their own.
  int64_t known = 0;
  for (auto [j, from] : llvm::enumerate(order)) {
    made.values.push_back(std::ldexp(lengths[from], exponent));
    if (lengths[from] <= 1e-15 * lengths[order[0]])
      continue;
    known = j + 1;
    for (int64_t i = 0; i < x.rows; ++i)
      made.left.at(i, j) = x.at(i, j) / lengths[from];
  }
  completeBasis(made.left, known);
  return made;
}

void metaop::runSvd(const MatrixCall &call, int64_t number) {
  Matrix x = readMatrix(call.operands[0], number);
  bool isWide = x.rows < x.columns, hasVectors = call.results.size() == 4;
  Tensor &values = call.results[hasVectors ? 1 : 0];
  // The larger of the bases.
  int64_t columns = std::min(x.rows, x.columns);
  if (hasVectors)
    columns = isWide ? call.results[2].getShape().end()[-2]
                     : call.results[0].getShape().back();
  std::optional<SingularVectors> made;
  int64_t info = kNotFinite;
  if (isFinite(x)) {
    made = decompose(isWide ? x.transposed() : x, columns);
    info = made ? 0 : kNotConverged;
  }
  call.results.back().set(number, Scalar::ofSigned(info));
  if (!made)
    return fillNaN(call, number);
  writeElements(made->values, number, values);
  if (!hasVectors)
    return;
  if (isWide)
    std::swap(made->left, made->right);
  writeMatrix(made->left, number, call.results[0]);
  writeMatrix(made->right.transposed(), number, call.results[2]);
}
