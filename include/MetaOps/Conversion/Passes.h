//===- Passes.h - Conversion passes -----------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_PASSES_H
#define METAOPS_CONVERSION_PASSES_H

#include "MetaOps/Target/Description/Chip.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::metaop {

#define GEN_PASS_DECL
#include "MetaOps/Conversion/Passes.h.inc"

/// Appends the passes from kernels over buffers (`convert-metaop-to-vector`) to
/// the LLVM dialect. The C library has functions of vectors of f64 of so many
/// bits; of none if that is 0.
void buildVectorToLLVMPipeline(OpPassManager &pm, unsigned vectorMathBits = 0);

/// Appends the passes from kernels in the phase `gpu` to the LLVM and NVVM
/// dialects.
void buildGPUToNVVMPipeline(OpPassManager &pm);

#define GEN_PASS_REGISTRATION
#include "MetaOps/Conversion/Passes.h.inc"

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_PASSES_H
