//===- MatrixEigenvalues.cpp - The meaning of eigenvalues -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eigenvalues of any square matrices by steps of Q R with shifts (J. Francis,
// 1961), in complex numbers of f64: A = Z T Z^H with a triangular T.
//
//===----------------------------------------------------------------------===//

#include "Matrices.h"

#include <cmath>
#include <complex>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;

using Complex = std::complex<double>;

/// Values of `info` beside 0.
static constexpr int64_t kNotFinite = 1, kNotConverged = 2;
/// Steps for each eigenvalue; a few are enough.
static constexpr int64_t kMaxSteps = 100;

namespace {
/// A square matrix that becomes triangular, and the unitary one that does it.
class SchurForm {
public:
  explicit SchurForm(const Matrix &a)
      : n(a.rows), t(a.elements.begin(), a.elements.end()), z(n * n) {
    for (int64_t i = 0; i < n; ++i)
      z[i * n + i] = 1;
    for (const Complex &x : t)
      size = std::max(size, std::abs(x));
  }

  /// Returns false where it does not converge.
  bool compute() {
    // Zeros below the first diagonal under the main one.
    for (int64_t j = 0; j + 2 < n; ++j)
      for (int64_t i = n - 1; i > j + 1; --i)
        turn(i - 1, j);
    int64_t last = n - 1;
    for (int64_t steps = 0; last > 0; ++steps) {
      if (steps > kMaxSteps * n)
        return false;
      int64_t first = last;
      while (first > 0 && !isSplit(first))
        --first;
      if (first == last)
        --last;
      else
        step(first, last, steps % 11 == 10);
    }
    return true;
  }

  Complex getValue(int64_t j) const {
    // Of a real matrix, rounding makes no number complex.
    Complex x = t[j * n + j];
    double rounding = 100.0 * n * size * std::numeric_limits<double>::epsilon();
    return std::abs(x.imag()) <= rounding ? Complex(x.real()) : x;
  }
  /// Returns the vector of a value: of length 1, its largest element is real.
  std::vector<Complex> getVector(int64_t j) const {
    std::vector<Complex> y(n), vector(n);
    y[j] = 1;
    double tiny = size * std::numeric_limits<double>::epsilon();
    for (int64_t i = j; i-- > 0;) {
      Complex sum = 0, gap = t[j * n + j] - t[i * n + i];
      for (int64_t k = i + 1; k <= j; ++k)
        sum += t[i * n + k] * y[k];
      y[i] = sum / (std::abs(gap) > tiny ? gap : Complex(tiny));
    }
    double squares = 0;
    Complex largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k <= j; ++k)
        vector[i] += z[i * n + k] * y[k];
      squares += std::norm(vector[i]);
      // Of equal ones, the first.
      if (std::abs(vector[i]) > std::abs(largest) * (1 + 1e-9))
        largest = vector[i];
    }
    Complex factor =
        std::conj(largest) / (std::abs(largest) * std::sqrt(squares));
    for (Complex &x : vector)
      x *= factor;
    return vector;
  }

private:
  /// Turns rows i and i + 1, and these columns, so that element (i + 1, j) is
  /// 0.
  void turn(int64_t i, int64_t j) {
    Complex a = t[i * n + j], b = t[(i + 1) * n + j];
    double length = std::hypot(std::abs(a), std::abs(b));
    if (length > 0)
      turn(i, a / length, b / length);
  }
  void turn(int64_t i, Complex c, Complex s) {
    turnRows(i, c, s);
    turnColumns(t, i, c, s);
    turnColumns(z, i, c, s);
  }
  void turnRows(int64_t i, Complex c, Complex s) {
    for (int64_t k = 0; k < n; ++k) {
      Complex x = t[i * n + k], y = t[(i + 1) * n + k];
      t[i * n + k] = std::conj(c) * x + std::conj(s) * y;
      t[(i + 1) * n + k] = c * y - s * x;
    }
  }
  void turnColumns(std::vector<Complex> &x, int64_t i, Complex c, Complex s) {
    for (int64_t k = 0; k < n; ++k) {
      Complex a = x[k * n + i], b = x[k * n + i + 1];
      x[k * n + i] = a * c + b * s;
      x[k * n + i + 1] = b * std::conj(c) - a * std::conj(s);
    }
  }
  /// Returns true if rows from i on do not depend on those above, and says so.
  bool isSplit(int64_t i) {
    Complex &below = t[i * n + i - 1];
    double around = std::abs(t[i * n + i]) + std::abs(t[(i - 1) * n + i - 1]);
    if (std::abs(below) > around * std::numeric_limits<double>::epsilon())
      return false;
    below = 0;
    return true;
  }
  /// Makes one step for rows `first` to `last`.
  void step(int64_t first, int64_t last, bool isOdd) {
    Complex shift = isOdd
                        ? t[last * n + last] + std::abs(t[last * n + last - 1])
                        : findShift(last);
    Complex a = t[first * n + first] - shift, b = t[(first + 1) * n + first];
    double length = std::hypot(std::abs(a), std::abs(b));
    if (length > 0)
      turn(first, a / length, b / length);
    for (int64_t i = first + 1; i < last; ++i)
      turn(i, i - 1);
  }
  /// Returns the eigenvalue of the last 2 x 2 elements that is nearer to the
  /// last one.
  Complex findShift(int64_t last) const {
    Complex a = t[(last - 1) * n + last - 1], b = t[(last - 1) * n + last];
    Complex c = t[last * n + last - 1], d = t[last * n + last];
    Complex half = (a - d) / 2.0, root = std::sqrt(half * half + b * c);
    return std::abs(half + root) < std::abs(half - root) ? d + half + root
                                                         : d + half - root;
  }

  int64_t n;
  std::vector<Complex> t, z;
  double size = 0;
};
} // namespace

void metaop::runEig(const MatrixCall &call, int64_t number) {
  Matrix a = readMatrix(call.operands[0], number);
  int64_t n = a.rows, info = 0;
  bool isFinite =
      llvm::all_of(a.elements, [](double x) { return std::isfinite(x); });
  SchurForm form(a);
  if (!isFinite)
    info = kNotFinite;
  else if (!form.compute())
    info = kNotConverged;
  call.results.back().set(number, Scalar::ofSigned(info));
  double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<Complex> values(n, Complex(none, none));
  for (int64_t j = 0; j < n && info == 0; ++j)
    values[j] = form.getValue(j);
  bool hasVectors = call.results.size() == 5;
  for (int64_t j = 0; j < n; ++j) {
    auto put = [&](size_t result, int64_t place, Complex x) {
      call.results[result].set(place, Scalar::ofFloat(x.real()));
      call.results[result + 1].set(place, Scalar::ofFloat(x.imag()));
    };
    put(0, number * n + j, values[j]);
    if (!hasVectors)
      continue;
    std::vector<Complex> vector(n, Complex(none, none));
    if (info == 0)
      vector = form.getVector(j);
    for (int64_t i = 0; i < n; ++i)
      put(2, (number * n + i) * n + j, vector[i]);
  }
}
