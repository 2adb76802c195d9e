//===- SpecialFunctions.h - What the C library lacks ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_EMISSION_SPECIALFUNCTIONS_H
#define METAOPS_DIALECT_METAOP_EMISSION_SPECIALFUNCTIONS_H

namespace mlir::metaop {

/// The y for which erf y = x: infinite at -1 and 1, NaN beyond. By bisection,
/// so that it is right whatever compiled code does: the interpreter computes
/// with it.
double evaluateErfinv(double x);

/// ln |gamma(x)|.
double evaluateLgamma(double x);

/// Its derivative: by the recurrence up to 16, then by Stirling's series.
double evaluateDigamma(double x);

/// The derivative number `order` of that: NaN if it is none of 1, 2, ...
double evaluatePolygamma(double order, double x);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_EMISSION_SPECIALFUNCTIONS_H
