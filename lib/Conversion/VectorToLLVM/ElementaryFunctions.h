//===- ElementaryFunctions.h - exp, log, tanh and erf of f32 ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_ELEMENTARYFUNCTIONS_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_ELEMENTARYFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::metaop {

/// Replaces `math.exp`, `log`, `tanh` and `erf` of f32, scalars and vectors, by
/// arithmetic of the same shape. For GPUs a quotient is other instructions,
/// which give the same number.
void populateElementaryFunctionPatterns(RewritePatternSet &patterns,
                                        bool isForGpu);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_ELEMENTARYFUNCTIONS_H
