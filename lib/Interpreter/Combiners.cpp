//===- Combiners.cpp - The meaning of combiners ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written apart from the dialect's table of combiners, which compiled code
// follows: the interpreter is what that is compared with.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::metaop;

/// Returns log(e^x + e^y). Infinities of one sign have no difference.
static Scalar addLogs(Scalar x, Scalar y) {
  double a = x.getFloat(), b = y.getFloat();
  if (std::isnan(a) || std::isnan(b))
    return Scalar::ofFloat(a + b);
  double difference = a == b ? 0.0 : -std::fabs(a - b);
  return Scalar::ofFloat(std::fmax(a, b) + std::log1p(std::exp(difference)));
}

ScalarCombiner metaop::getCombiner(Combiner combiner) {
  switch (combiner) {
  case Combiner::Add:
    return scalar::add;
  case Combiner::Mul:
    return scalar::mul;
  case Combiner::Max:
    return scalar::max;
  case Combiner::Min:
    return scalar::min;
  case Combiner::And:
    return scalar::bitAnd;
  case Combiner::Or:
    return scalar::bitOr;
  case Combiner::Xor:
    return scalar::bitXor;
  case Combiner::LogAddExp:
    return addLogs;
  case Combiner::Linear:
  case Combiner::None:
    return nullptr;
  }
  llvm_unreachable("all combiners are handled");
}

/// Returns the lowest or the highest value of a type.
static Scalar getExtreme(ElementKind kind, bool highest) {
  unsigned width = getWidth(kind);
  switch (getScalarKind(kind)) {
  case Scalar::Kind::Float: {
    double infinity = std::numeric_limits<double>::infinity();
    return Scalar::ofFloat(highest ? infinity : -infinity);
  }
  case Scalar::Kind::Signed:
    return Scalar::ofSigned(
        highest ? llvm::APInt::getSignedMaxValue(width).getSExtValue()
                : llvm::APInt::getSignedMinValue(width).getSExtValue());
  case Scalar::Kind::Unsigned:
    return roundTo(kind, Scalar::ofUnsigned(highest ? ~uint64_t(0) : 0));
  }
  llvm_unreachable("all kinds are handled");
}

Scalar metaop::getIdentity(Combiner combiner, ElementKind kind) {
  switch (combiner) {
  case Combiner::Add:
  case Combiner::Or:
  case Combiner::Xor:
  case Combiner::Linear:
    return Scalar::ofInteger(kind, 0);
  case Combiner::Mul:
    return Scalar::ofInteger(kind, 1);
  case Combiner::Max:
  case Combiner::LogAddExp:
    return getExtreme(kind, /*highest=*/false);
  case Combiner::Min:
    return getExtreme(kind, /*highest=*/true);
  case Combiner::And:
    return roundTo(kind, Scalar::ofInteger(kind, -1));
  case Combiner::None:
    break;
  }
  llvm_unreachable("`none` combines nothing");
}
