//===- SpecialFunctions.cpp - What the C library lacks --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/SpecialFunctions.h"

#include <cmath>
#include <limits>

double mlir::metaop::evaluateErfinv(double x) {
  double magnitude = std::fabs(x);
  if (!(magnitude < 1))
    return magnitude == 1
               ? std::copysign(std::numeric_limits<double>::infinity(), x)
               : std::numeric_limits<double>::quiet_NaN();
  // Of small numbers, erf y = 2 / sqrt(pi) y to the last digit.
  constexpr double halfRootOfPi = 0.88622692545275801365;
  if (magnitude < 1e-9)
    return x * halfRootOfPi;
  // erfc 6 is less than the distance of the last double below 1. Near 1, erfc
  // tells numbers apart that erf does not.
  double low = 0, high = 6, rest = 1 - magnitude;
  for (int i = 0; i < 100; ++i) {
    double middle = (low + high) / 2;
    bool isBelow = magnitude < 0.5 ? std::erf(middle) < magnitude
                                   : std::erfc(middle) > rest;
    (isBelow ? low : high) = middle;
  }
  return std::copysign((low + high) / 2, x);
}

double mlir::metaop::evaluateLgamma(double x) {
  // The C library has std::lgamma, which writes to a global variable.
  int sign;
  return ::lgamma_r(x, &sign);
}

double mlir::metaop::evaluateDigamma(double x) {
  constexpr double pi = 3.14159265358979323846;
  if (x < 0) {
    double fraction = x - std::nearbyint(x);
    if (fraction == 0 || std::isinf(x))
      return std::numeric_limits<double>::quiet_NaN();
    return evaluateDigamma(1 - x) - pi / std::tan(pi * fraction);
  }
  double sum = 0;
  for (; x < 16; x += 1)
    sum -= 1 / x;
  double square = 1 / (x * x);
  double series =
      square *
      (1.0 / 12 -
       square * (1.0 / 120 -
                 square * (1.0 / 252 -
                           square * (1.0 / 240 - square * (1.0 / 132)))));
  return sum + std::log(x) - 0.5 / x - series;
}

/// The sum of (x + k)^-power over k = 0, 1, ..., for positive x: 24 terms, then
/// the Euler-Maclaurin formula.
static double sumPowers(double power, double x) {
  static constexpr double bernoulli[] = {1.0 / 6,   -1.0 / 30, 1.0 / 42,
                                         -1.0 / 30, 5.0 / 66,  -691.0 / 2730,
                                         7.0 / 6};
  if (std::isinf(x))
    return 0;
  double sum = 0;
  for (int i = 0; i < 24; ++i)
    sum += std::pow(x + i, -power);
  x += 24;
  double last = std::pow(x, -power);
  double series = x / (power - 1) + 0.5, factor = power / x;
  for (int i = 0; i < 7; ++i) {
    double even = 2 * i + 2;
    // B_2j / (2j)! s (s + 1) ... (s + 2j - 2) x^(1 - 2j)
    factor /= even;
    series += bernoulli[i] * factor;
    factor *= (power + even - 1) * (power + even) / (x * x * (even + 1));
  }
  return sum + last * series;
}

double mlir::metaop::evaluatePolygamma(double order, double x) {
  if (!(order >= 1) || order != std::floor(order) || std::isnan(x))
    return std::numeric_limits<double>::quiet_NaN();
  double power = order + 1, parity = std::fmod(power, 2) == 0 ? 1 : -1;
  double sum;
  if (x > 0) {
    sum = sumPowers(power, x);
  } else if (std::isinf(x)) {
    return std::numeric_limits<double>::quiet_NaN();
  } else {
    // The sum over all integers has the period 1.
    double fraction = x - std::nearbyint(x);
    double nearest = std::pow(std::fabs(fraction), -power);
    sum = (fraction < 0 ? parity * nearest : nearest) +
          sumPowers(power, 1 + fraction) +
          parity * (sumPowers(power, 1 - fraction) - sumPowers(power, 1 - x));
  }
  return parity * std::tgamma(power) * sum;
}
