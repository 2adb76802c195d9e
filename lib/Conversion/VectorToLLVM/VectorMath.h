//===- VectorMath.h - Functions of f64 by the C library ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_VECTORMATH_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_VECTORMATH_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::metaop {

/// Replaces functions of f64, of scalars and of vectors, by calls of the C
/// library's functions of vectors of this width. Fails, with a diagnostic, if
/// it is not 128, 256 or 512.
LogicalResult callVectorMath(ModuleOp module, unsigned vectorBits);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_VECTORMATH_H
