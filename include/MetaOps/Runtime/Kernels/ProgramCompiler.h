//===- ProgramCompiler.h - From slices to programs of kernels ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_PROGRAMCOMPILER_H
#define METAOPS_RUNTIME_KERNELS_PROGRAMCOMPILER_H

#include "MetaOps/Runtime/Compiler/KernelTools.h"
#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"

namespace metaops {

struct TuningTarget;

/// Makes programs of the kernels of one backend.
class ProgramCompiler : public Compiler, public KernelTools {
public:
  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef bytecode, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override;

  KernelTools *getTools() override { return this; }
  KernelSharing getSharing() const override { return KernelSharing::Growing; }
  void setCacheDirectory(llvm::StringRef folder) override;
  void setRoutines(std::shared_ptr<const RoutineRegistry> routines) override;
  CompilerStatistics getStatistics() const override;

  llvm::Expected<std::vector<std::string>> getPhases() override;
  llvm::Expected<std::string> print(llvm::StringRef bytecode,
                                    llvm::StringRef phase,
                                    llvm::ArrayRef<NodeLocation> locations,
                                    const CompileOptions &options) override;
  llvm::Expected<ProgramDescription>
  describe(llvm::StringRef bytecode, const CompileOptions &options) override;

  llvm::Expected<TuningResult> tune(llvm::StringRef bytecode,
                                    const CompileOptions &options,
                                    llvm::ArrayRef<double> callSeconds,
                                    double budget, ThreadPool &threads,
                                    StopCheck shouldStop) override;
  llvm::Expected<std::vector<std::string>>
  listNeighbours(llvm::StringRef bytecode,
                 const CompileOptions &options) override;
  llvm::Expected<TargetCode> compileFor(llvm::StringRef target,
                                        llvm::ArrayRef<ExportedSlice> slices,
                                        const CompileOptions &options,
                                        StopCheck shouldStop) override {
    return llvm::createStringError(
        "programs are exported for processors alone");
  }
  llvm::Expected<std::string> getTargetName() override;

protected:
  /// Called when something is compiled for the first time, and for each
  /// candidate of what is tuned: the code of that may go with it.
  virtual llvm::Expected<std::shared_ptr<KernelBackend>> createBackend() = 0;

  llvm::Expected<KernelCache *> getKernels();
  std::shared_ptr<DiskStore> getStore() const { return store; }
  const std::shared_ptr<const RoutineRegistry> &getRoutines() const {
    return routines;
  }
  /// A program compiled from a slice; see buildProgram.
  static llvm::Expected<std::shared_ptr<CompiledProgram>>
  compileSlice(llvm::StringRef bytecode, llvm::ArrayRef<bool> donatable,
               const CompileOptions &options, KernelCache &kernels,
               StopCheck shouldStop, llvm::ArrayRef<std::string> lines = {});

private:
  llvm::Expected<TuningTarget> getTuningTarget(const CompileOptions &options);

  std::shared_ptr<const RoutineRegistry> routines = createHostRoutines();
  std::unique_ptr<KernelCache> kernels;
  /// Null where nothing is kept on disk.
  std::shared_ptr<DiskStore> store;
  int64_t programsLoaded = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_PROGRAMCOMPILER_H
