//===- ProgramCompiler.h - From slices to programs of kernels ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_PROGRAMCOMPILER_H
#define METAOPS_RUNTIME_KERNELS_PROGRAMCOMPILER_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"

namespace metaops {

/// Makes programs of the kernels of one backend.
class ProgramCompiler : public Compiler {
public:
  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef bytecode, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override;

  bool hasKernels() const override { return true; }
  void setCacheDirectory(llvm::StringRef folder) override;
  CompilerStatistics getStatistics() const override;

  llvm::Expected<std::vector<std::string>> getPhases() override;
  llvm::Expected<std::string> print(llvm::StringRef bytecode,
                                    llvm::StringRef phase,
                                    llvm::ArrayRef<NodeLocation> locations,
                                    const CompileOptions &options) override;
  llvm::Expected<ProgramDescription>
  describe(llvm::StringRef bytecode, const CompileOptions &options) override;

protected:
  /// Called once, when something is compiled for the first time.
  virtual llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() = 0;

  llvm::Expected<KernelCache *> getKernels();
  std::shared_ptr<DiskStore> getStore() const { return store; }
  /// A program compiled from a slice; see buildProgram.
  static llvm::Expected<std::shared_ptr<CompiledProgram>>
  compileSlice(llvm::StringRef bytecode, llvm::ArrayRef<bool> donatable,
               const CompileOptions &options, KernelCache &kernels,
               StopCheck shouldStop, llvm::ArrayRef<std::string> lines = {});

private:
  std::unique_ptr<KernelCache> kernels;
  /// Null where nothing is kept on disk.
  std::shared_ptr<DiskStore> store;
  int64_t programsLoaded = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_PROGRAMCOMPILER_H
