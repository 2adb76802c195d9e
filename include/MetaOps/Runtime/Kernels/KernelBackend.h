//===- KernelBackend.h - Code of kernels for one target ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything up to fusion is the same for all targets; how kernels are
// scheduled, lowered, compiled and loaded is their backend's affair. Which
// kernels are equal, which share code, what is compiled already and what is on
// disk is `KernelCache`'s, for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_KERNELBACKEND_H
#define METAOPS_RUNTIME_KERNELS_KERNELBACKEND_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Program/Kernel.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <limits>
#include <memory>
#include <string>

namespace metaops {

/// A kernel over buffers whose numbers are bound: what code is made of.
struct BoundKernel {
  /// Tells all that the code depends on, but for the target.
  std::string key;
  /// The symbol that the code defines; made from the key.
  std::string entry;
  /// A module that holds the kernel, as bytecode.
  std::string bytecode;
};

/// The code of a kernel, or why there is none.
struct CompiledCode {
  std::unique_ptr<llvm::MemoryBuffer> code;
  std::string error;
};

/// Compiles kernels, one after another, on one thread. What is made of a kernel
/// does not depend on the others.
class KernelWorker {
public:
  virtual ~KernelWorker() = default;
  virtual CompiledCode compile(const BoundKernel &kernel,
                               StopCheck shouldStop) = 0;
};

/// A kind of processor that kernels are compiled for.
class KernelBackend {
public:
  virtual ~KernelBackend() = default;

  /// Names all that decides what schedules a kernel gets, and what code is made
  /// of it.
  virtual std::string getDescription() const = 0;
  /// Has a pipeline make schedules for the target.
  virtual void setTarget(mlir::metaop::PipelineOptions &options) const = 0;
  /// What a scheduled kernel does; fails, with a diagnostic, as `Stage::build`.
  virtual mlir::FailureOr<mlir::metaop::KernelDescription>
  describe(mlir::metaop::KernelOp kernel) const = 0;
  /// The schedules that differ from those of a kernel's stages in one decision.
  virtual llvm::SmallVector<mlir::metaop::KernelSchedules>
  listNeighbours(llvm::ArrayRef<mlir::metaop::Stage> stages) const = 0;

  /// Appends what turns functions that hold one scheduled kernel each into
  /// functions over buffers, with all their numbers.
  virtual void addLowering(mlir::OpPassManager &passes) const = 0;
  /// The most numbers that a kernel may have as arguments, beside so many
  /// buffers.
  virtual size_t getMaxNumbers(size_t) const {
    return std::numeric_limits<size_t>::max();
  }
  /// Returns true if it is to be told of kernels by `noteCall`.
  virtual bool notesCalls() const { return false; }
  /// Told of each kernel that a program which is being compiled calls, found or
  /// not: hashes of what its code is made of (CodeFeatures.h).
  virtual void noteCall(llvm::ArrayRef<uint64_t>) const {}
  /// A worker for another thread; called on that.
  virtual std::unique_ptr<KernelWorker> createWorker() const = 0;
  /// Makes code callable by the name of its symbol. A backend for a processor
  /// that is not here keeps the code, and gives a kernel that has no function.
  virtual llvm::Expected<Kernel>
  load(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_KERNELBACKEND_H
