//===- ApproximateFunctions.h - Functions rounded to halves -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_APPROXIMATEFUNCTIONS_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_APPROXIMATEFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::metaop {

/// Approximates what is marked `afn` and rounded to halves by instructions of
/// PTX. These patterns come before those of ElementaryFunctions.h.
void populateApproximateFunctionPatterns(RewritePatternSet &patterns);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_APPROXIMATEFUNCTIONS_H
