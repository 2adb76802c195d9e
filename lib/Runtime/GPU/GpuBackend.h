//===- GpuBackend.h - Code of kernels for GPUs ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H
#define METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H

#include "ContextPool.h"
#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "MetaOps/Target/Description/Chip.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

namespace metaops {

/// Takes kernels from the phase gpu to nvvm.
class GpuWorker : public KernelWorker {
public:
  explicit GpuWorker(ContextPool &contexts);

  CompiledCode compile(const BoundKernel &kernel, StopCheck) override;

protected:
  /// Goes on from the phase nvvm to what is kept.
  virtual llvm::Error finish(mlir::ModuleOp) { return llvm::Error::success(); }

private:
  PooledContext context;
  std::string messages;
  mlir::ScopedDiagnosticHandler handler;
  mlir::PassManager passes;
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

  std::string getDescription() const override;
  void setTarget(mlir::metaop::PipelineOptions &options) const override;
  mlir::FailureOr<mlir::metaop::KernelDescription>
  describe(mlir::metaop::KernelOp kernel) const override;
  llvm::SmallVector<mlir::metaop::KernelSchedules>
  listNeighbours(llvm::ArrayRef<mlir::metaop::Stage> stages) const override;
  void addLowering(mlir::OpPassManager &passes) const override;
  size_t getMaxNumbers(size_t buffers) const override;
  std::unique_ptr<KernelWorker> createWorker() const override;

protected:
  ContextPool &getContexts() const { return *contexts; }

  const mlir::metaop::Chip &chip;

private:
  std::unique_ptr<ContextPool> contexts;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_GPUBACKEND_H
