//===- SpecialFunctions.cpp - What the C library lacks --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/SpecialFunctions.h"

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
