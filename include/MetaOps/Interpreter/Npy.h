//===- Npy.h - NumPy's file format ------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_INTERPRETER_NPY_H
#define METAOPS_INTERPRETER_NPY_H

#include "MetaOps/Interpreter/Tensor.h"

namespace mlir::metaop {

/// Decodes the contents of a .npy file (format 1.0, 2.0 or 3.0, C order, little
/// endian). Errors begin with `name`. NumPy has no bf16; as in the packages
/// that add it, its type string is `V2`.
llvm::Expected<Tensor> parseNpy(StringRef contents, MLIRContext *context,
                                StringRef name);

/// Encodes a tensor as a .npy file. An `index` becomes an int64.
std::string encodeNpy(const Tensor &tensor);

llvm::Expected<Tensor> readNpy(StringRef path, MLIRContext *context);
llvm::Error writeNpy(StringRef path, const Tensor &tensor);

} // namespace mlir::metaop

#endif // METAOPS_INTERPRETER_NPY_H
