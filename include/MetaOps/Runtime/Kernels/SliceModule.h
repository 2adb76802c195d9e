//===- SliceModule.h - A slice in the compiler ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_SLICEMODULE_H
#define METAOPS_RUNTIME_KERNELS_SLICEMODULE_H

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SetVector.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// A parsed slice in a context that nobody else uses meanwhile, with what was
/// said about it.
class SliceModule {
public:
  /// From bytecode, or text. Fails saying what is wrong with it.
  static llvm::Expected<std::unique_ptr<SliceModule>>
  parse(llvm::StringRef bytecode, ContextPool &contexts);
  ~SliceModule();

  mlir::ModuleOp getModule() { return *module; }
  const std::vector<std::string> &getRemarks() const { return remarks; }

  /// Skips passes from when `check` says so on; whatever comes of the module is
  /// of no use then.
  void stopWhen(StopCheck check);
  /// Runs the pipeline up to a phase.
  llvm::Error runTo(llvm::StringRef phase, const CompileOptions &options,
                    const KernelBackend &backend, bool report = false);
  /// Returns an error about `what`, with the errors that were reported.
  llvm::Error fail(const llvm::Twine &what);

private:
  explicit SliceModule(ContextPool &contexts);

  PooledContext context;
  std::string messages;
  std::vector<std::string> remarks;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool isStopped = false;
};

/// The options of a pipeline, all but what a file of schedules says.
mlir::metaop::PipelineOptions toPipelineOptions(const CompileOptions &options,
                                                const KernelBackend &backend);

/// Adds the positions in the slice that a location names; see Program.h.
void collectNodes(mlir::Location location, llvm::SetVector<unsigned> &nodes);

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_SLICEMODULE_H
