//===- Compare.cpp - Results of two runs side by side ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;

Tolerance Tolerance::ofType(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return {1e-11, 1e-11};
  case ElementKind::F32:
    return {2e-5, 2e-5};
  case ElementKind::F16:
    return {4e-3, 4e-3};
  case ElementKind::BF16:
    return {3e-2, 3e-2};
  default:
    return {};
  }
}

llvm::Expected<Tolerance> Tolerance::parse(StringRef text) {
  auto [first, second] = text.split(',');
  Tolerance tolerance;
  bool isValid = !first.getAsDouble(tolerance.relative);
  tolerance.absolute = tolerance.relative;
  if (text.contains(','))
    isValid &= !second.getAsDouble(tolerance.absolute);
  if (!isValid || !(tolerance.relative >= 0) || !(tolerance.absolute >= 0))
    return llvm::createStringError("--compare=" + text +
                                   ": expected a relative and an absolute "
                                   "tolerance, as in --compare=1e-5,1e-6");
  return tolerance;
}

static double toDouble(Scalar value) {
  if (value.isFloat())
    return value.getFloat();
  return value.isSigned() ? static_cast<double>(value.getSigned())
                          : static_cast<double>(value.getBits());
}

static double getDistance(Scalar computed, Scalar expected) {
  // 64-bit integers are not all exact as double.
  if (!computed.isFloat() && computed.getBits() == expected.getBits())
    return 0;
  double a = toDouble(computed), b = toDouble(expected);
  if (a == b)
    return computed.isFloat() ? 0 : 1;
  if (std::isnan(a) && std::isnan(b))
    return 0;
  double distance = std::abs(a - b);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity()
                              : distance;
}

Difference metaop::findDifference(const Tensor &computed,
                                  const Tensor &expected, Tolerance tolerance) {
  Difference difference;
  difference.elements = expected.getNumElements();
  forEachIndex(expected.getShape(),
               [&](ArrayRef<int64_t> index, int64_t position) {
                 Scalar a = computed.get(position), b = expected.get(position);
                 double distance = getDistance(a, b);
                 double magnitude = std::abs(toDouble(b));
                 double allowed = tolerance.absolute;
                 if (std::isfinite(magnitude))
                   allowed += tolerance.relative * magnitude;
                 difference.beyond += distance > allowed;
                 if (distance <= difference.largest)
                   return;
                 difference.largest = distance;
                 difference.place.assign(index.begin(), index.end());
                 difference.computed = toDouble(a);
                 difference.expected = toDouble(b);
               });
  return difference;
}
