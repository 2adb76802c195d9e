//===- CodeFeatures.h - Features of a kernel's code -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_CODEFEATURES_H
#define METAOPS_LIB_RUNTIME_KERNELS_CODEFEATURES_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// Returns the features of a lowered kernel: hashes of its frames, and of each
/// operation in it with the element type that it is of. Kernels with the same
/// features have been through much the same code of the compiler, but for what
/// numbers decide.
std::vector<uint64_t> getCodeFeatures(mlir::Operation *kernel);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_CODEFEATURES_H
