//===- StretchKernel.h - Kernels of another length --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_STRETCHKERNEL_H
#define METAOPS_LIB_RUNTIME_KERNELS_STRETCHKERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace metaops {

/// Lengths that between them tell which numbers depend on one: some of each
/// class (Stage::getClassExtent), which nothing divides.
inline constexpr int64_t kOtherLengths[] = {2, 3, 7, 11, 37, 61, 83, 509};

/// Changes the types of a scheduled kernel to those of another length: each
/// extent that varies becomes another one, and with it what is read and written
/// along it. The smallest extent that varies becomes `length`. Fails, and
/// leaves types in between, where the types of a value would be two.
mlir::LogicalResult stretchKernel(mlir::func::FuncOp function, int64_t length);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_STRETCHKERNEL_H
