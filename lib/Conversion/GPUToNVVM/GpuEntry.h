//===- GpuEntry.h - How kernels for GPUs are called ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_GPUTONVVM_GPUENTRY_H
#define METAOPS_LIB_CONVERSION_GPUTONVVM_GPUENTRY_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::metaop {

/// The bytes of shared memory of static shape. A boolean is a byte.
int64_t getSharedBytes(MemRefType type);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_GPUTONVVM_GPUENTRY_H
