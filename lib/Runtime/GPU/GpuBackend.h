//===- GpuBackend.h - Code of kernels for GPUs ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H
#define METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H

#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "MetaOps/Transforms/Schedule/Gpu/Chip.h"

namespace metaops {

/// Kernels for a chip. Their code is a module in the phase nvvm, as bytecode.
class GpuBackend : public KernelBackend {
public:
  explicit GpuBackend(const mlir::metaop::Chip &chip) : chip(chip) {}

  std::string getDescription() const override;
  void setTarget(mlir::metaop::PipelineOptions &options) const override;
  mlir::FailureOr<mlir::metaop::KernelDescription>
  describe(mlir::metaop::KernelOp kernel) const override;
  void addLowering(mlir::OpPassManager &passes) const override;
  std::unique_ptr<KernelWorker> createWorker() const override;

protected:
  const mlir::metaop::Chip &chip;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H
