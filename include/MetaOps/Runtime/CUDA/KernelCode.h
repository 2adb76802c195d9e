//===- KernelCode.h - A GPU's code of a kernel ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_KERNELCODE_H
#define METAOPS_RUNTIME_CUDA_KERNELCODE_H

#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Runtime/CUDA/CubinCache.h"

namespace metaops {

struct KernelCode {
  std::string ptx;
  Cubin cubin;
};

/// Makes code of a module in the phase `nvvm`. An error says which kernel it is
/// about, what the compiler or the assembler says, and which lines of the
/// user's program the kernel is made of.
llvm::Expected<KernelCode> makeCode(mlir::gpu::GPUModuleOp module,
                                    const mlir::metaop::PtxOptions &options,
                                    CubinCache &cache);

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_KERNELCODE_H
