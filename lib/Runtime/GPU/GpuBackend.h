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
#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Target/NVGPU/NvgpuTarget.h"
#include "mlir/IR/BuiltinOps.h"

namespace metaops {

/// Keeps modules in the phase nvvm as bytecode.
class GpuEmitter : public CodeEmitter {
public:
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emit(mlir::ModuleOp module, StopCheck) override;

protected:
  /// Goes on from the phase nvvm to what is kept.
  virtual llvm::Error finish(mlir::ModuleOp) { return llvm::Error::success(); }
};

/// A kernel's code, as a worker has made it.
class GpuCode {
public:
  static llvm::Expected<std::unique_ptr<GpuCode>>
  parse(const llvm::MemoryBuffer &code, ContextPool &contexts);

  mlir::ModuleOp getModule() { return *module; }

private:
  explicit GpuCode(ContextPool &contexts) : context(contexts) {}

  PooledContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Kernels for a chip. Their code is a module in the phase nvvm, as bytecode.
class GpuBackend : public KernelBackend {
public:
  explicit GpuBackend(const mlir::metaop::Chip &chip);

  using KernelBackend::getTarget;
  const mlir::metaop::Target &
  getTarget(const CompileOptions &options) const override;
  llvm::Expected<std::unique_ptr<CodeEmitter>> createEmitter() const override;

private:
  /// The same target, where floats may be added in any order.
  mlir::metaop::NvgpuTarget withFloatAtomics;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H
