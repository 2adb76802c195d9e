//===- Compiler.h - What turns slices into programs -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_COMPILER_H
#define METAOPS_RUNTIME_PROGRAM_COMPILER_H

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Runtime/Program/Tuning.h"

namespace metaops {

/// What a compiler has found on disk instead of compiling it.
struct CompilerStatistics {
  int64_t programsLoaded = 0;
  int64_t kernelsLoaded = 0;
  DiskStoreStatistics disk;
};

/// A way to run slices. A session owns one for each of its backends.
class Compiler {
public:
  virtual ~Compiler() = default;

  /// `donatable[i]` says that nothing reads the buffer of argument i after the
  /// run, so that a result may be written into it. `shouldStop` is asked on the
  /// calling thread, and makes the compilation fail with Interrupted.
  virtual llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop = nullptr) = 0;

  /// Keeps what is compiled in a folder, and looks there first. Empty: nowhere.
  virtual void setCacheDirectory(llvm::StringRef folder) {}

  virtual CompilerStatistics getStatistics() const { return {}; }

  /// The IR of a slice after a phase (graph, fused, scheduled, kernels, loops,
  /// llvm), each operation with its line in `locations`.
  virtual llvm::Expected<std::string>
  print(llvm::StringRef slice, llvm::StringRef phase,
        llvm::ArrayRef<NodeLocation> locations,
        const CompileOptions &options) = 0;

  /// What the kernels of a slice will do. Fails where there are none.
  virtual llvm::Expected<ProgramDescription>
  describe(llvm::StringRef slice, const CompileOptions &options) {
    return llvm::createStringError(
        "the interpreter has no kernels to explain; set the flag backend to "
        "compiled");
  }

  /// Looks for schedules by which the kernels of a slice are faster, for so
  /// many seconds. `callSeconds` are what the calls of its program take that
  /// are no copies. What is found is for `getTargetName`.
  virtual llvm::Expected<TuningResult> tune(llvm::StringRef slice,
                                            const CompileOptions &options,
                                            llvm::ArrayRef<double> callSeconds,
                                            double budget, ThreadPool &threads,
                                            StopCheck shouldStop) {
    return llvm::createStringError(
        "the interpreter has no kernels to tune; set the flag backend to "
        "compiled");
  }

  /// The legal schedules near to those of a slice's stages, as lines of a file.
  virtual llvm::Expected<std::vector<std::string>>
  listNeighbours(llvm::StringRef slice, const CompileOptions &options) {
    return std::vector<std::string>();
  }

  /// Differs between builds of the compiler and between processors; empty where
  /// it is not known.
  virtual llvm::Expected<std::string> getTargetName() { return std::string(); }
};

/// Runs slices op by op through the reference interpreter.
std::unique_ptr<Compiler> createInterpreterCompiler();

/// Compiles for this machine's CPU, with a kernel cache of its own.
std::unique_ptr<Compiler> createCpuCompiler();

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_COMPILER_H
