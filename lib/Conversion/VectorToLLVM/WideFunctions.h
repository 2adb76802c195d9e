//===- WideFunctions.h - Functions of f32 by way of f64 --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_WIDEFUNCTIONS_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_WIDEFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::metaop {

/// Logarithms of f64, powers of f64 that are rounded to f32, and trigonometric,
/// hyperbolic and other functions of f32 become arithmetic, of vectors too.
void populateWideFunctionPatterns(RewritePatternSet &patterns);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_WIDEFUNCTIONS_H
