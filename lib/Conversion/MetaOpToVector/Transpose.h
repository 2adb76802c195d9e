//===- Transpose.h - Transposes in registers --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_TRANSPOSE_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_TRANSPOSE_H

#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// The columns of a square matrix whose rows are vectors of `lanes` elements; a
/// power of two.
SmallVector<Value, 4> emitTranspose(OpBuilder &b, Location loc,
                                    SmallVector<Value, 4> rows, int64_t lanes);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_TRANSPOSE_H
