//===- CpuBackend.h - Code of kernels for processors ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CPU_CPUBACKEND_H
#define METAOPS_RUNTIME_CPU_CPUBACKEND_H

#include "MetaOps/Runtime/JIT/Jit.h"
#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "llvm/ADT/StringMap.h"

namespace metaops {

/// Kernels as machine code of a processor.
class CpuBackend : public KernelBackend {
public:
  /// For the processor that this process runs on.
  static llvm::Expected<std::shared_ptr<CpuBackend>> create();
  /// For another one: code is kept in the target's form, and not linked.
  static std::shared_ptr<CpuBackend> createFor(CodeTarget target);

  const CodeTarget &getCodeTarget() const { return target; }
  /// The code of a kernel that was not linked; null where there is none.
  const llvm::MemoryBuffer *getObject(llvm::StringRef name) const;

  std::string getDescription() const override;
  llvm::Expected<std::unique_ptr<CodeEmitter>> createEmitter() const override;
  llvm::Expected<Kernel>
  load(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) override;

private:
  CpuBackend(CodeTarget target, std::unique_ptr<Jit> jit);

  CodeTarget target;
  /// Null where the processor is another one.
  std::unique_ptr<Jit> jit;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> objects;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CPU_CPUBACKEND_H
