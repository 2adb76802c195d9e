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

/// Has functions of f64 in a module, of scalars too, call the C library's of
/// vectors of so many bits: 128, 256 or 512.
void callVectorMath(ModuleOp module, unsigned vectorBits);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_VECTORMATH_H
