//===- Canonicalization.h - Canonicalisation patterns -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_CANONICALIZATION_H
#define METAOPS_DIALECT_METAOP_IR_CANONICALIZATION_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::metaop {

/// broadcast, transpose, slice and pad become reindex; reduce becomes
/// reindex_reduce.
void populateNamedToGeneralPatterns(RewritePatternSet &patterns);

/// Fewer and simpler reindexes, reindex-reduces and reshapes.
void populateSimplificationPatterns(RewritePatternSet &patterns);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_CANONICALIZATION_H
