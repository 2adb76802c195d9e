//===- CpuProgram.h - A program for the CPU ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CPU_CPUPROGRAM_H
#define METAOPS_LIB_RUNTIME_CPU_CPUPROGRAM_H

#include "MetaOps/Runtime/JIT/KernelCache.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "mlir/IR/BuiltinOps.h"

namespace metaops {

/// Where a value lives while a program runs.
struct Slot {
  enum class Kind { Argument, Result, Arena };
  Kind kind;
  int64_t index;
};

/// Kernel calls in order, with all memory decided.
class CpuProgram : public Program {
public:
  /// Reads a module in the phase `kernels` and compiles what the cache lacks.
  static llvm::Expected<std::shared_ptr<CpuProgram>>
  create(mlir::ModuleOp module, KernelCache &kernels);

  llvm::Error run(llvm::ArrayRef<BufferRef> arguments,
                  llvm::SmallVectorImpl<BufferRef> &results, Allocator &memory,
                  ThreadPool &threads) override;

  void setInfo(ProgramInfo value) { info = std::move(value); }

private:
  struct Call {
    std::shared_ptr<const Kernel> kernel;
    llvm::SmallVector<Slot, 6> buffers;
    /// Steps of the parallel range that are worth a thread of their own.
    int64_t grain;
  };

  llvm::SmallVector<Call, 0> calls;
  /// Sizes of the fresh results; 0 for a result that is not one.
  llvm::SmallVector<int64_t> resultBytes;
  llvm::SmallVector<Slot> results;
  unsigned numArguments = 0;
  int64_t arenaBytes = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CPU_CPUPROGRAM_H
