//===- KernelTools.h - Looking into compiled kernels ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_KERNELTOOLS_H
#define METAOPS_RUNTIME_COMPILER_KERNELTOOLS_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Compiler/Tuning.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace metaops {

/// A program described for people; see mo.explain.
struct ProgramDescription {
  /// In the order of the program's calls that are no copies.
  std::vector<mlir::metaop::KernelDescription> kernels;
  /// Fusion's report of its cost.
  std::string fusion;
};

/// A slice that is compiled for another process.
struct ExportedSlice {
  /// As MLIR bytecode.
  std::string bytecode;
  /// The lines of its operations, which its checks name.
  std::vector<std::string> lines;
};

/// Programs for processors of some kind, as bytes.
struct TargetCode {
  /// As writeProgram writes them.
  std::vector<std::string> programs;
  /// The code of their kernels; see CodeImage.
  std::string image;
};

/// Tools of a compiler that makes kernels: to look into them, and to make them
/// for others.
class KernelTools {
public:
  virtual ~KernelTools() = default;

  /// Describes the kernels of a slice.
  virtual llvm::Expected<ProgramDescription>
  describe(llvm::StringRef slice, const CompileOptions &options) = 0;

  /// Looks for schedules by which the kernels of a slice are faster, for so
  /// many seconds. `callSeconds` are what the calls of its program take that
  /// are no copies. What is found is for `getTargetName`.
  virtual llvm::Expected<TuningResult> tune(llvm::StringRef slice,
                                            const CompileOptions &options,
                                            llvm::ArrayRef<double> callSeconds,
                                            double budget, ThreadPool &threads,
                                            StopCheck shouldStop) = 0;

  /// Lists the legal schedules near to those of a slice's kernels, each as
  /// lines of a file.
  virtual llvm::Expected<std::vector<std::string>>
  listNeighbours(llvm::StringRef slice, const CompileOptions &options) = 0;

  /// Compiles slices for another process, on a processor of a kind that is
  /// named ("x86-64-v3", "x86-64-v4", "aarch64"). They share kernels. Results
  /// are written over no argument.
  virtual llvm::Expected<TargetCode>
  compileFor(llvm::StringRef target, llvm::ArrayRef<ExportedSlice> slices,
             const CompileOptions &options, StopCheck shouldStop) = 0;

  /// Returns a name that differs between builds of the compiler and between
  /// processors.
  virtual llvm::Expected<std::string> getTargetName() = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_KERNELTOOLS_H
