//===- KernelBackend.h - Code of kernels for one target ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target schedules and lowers kernels; a backend writes code of what that
// gives, and loads it. `KernelCache` knows, for all of them, which kernels are
// equal, which share code, what is compiled already and what is on disk.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_KERNELBACKEND_H
#define METAOPS_RUNTIME_KERNELS_KERNELBACKEND_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Kernels/ContextPool.h"
#include "MetaOps/Runtime/Program/Kernel.h"
#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "MetaOps/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

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

/// Writes code of modules whose functions a target has made code of, one after
/// another, on one thread.
class CodeEmitter {
public:
  virtual ~CodeEmitter() = default;
  virtual llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  emit(mlir::ModuleOp module, StopCheck shouldStop) = 0;
};

/// Emits code for a target, and loads it.
class KernelBackend {
public:
  /// `more` are dialects that its emitters need beside the target's.
  explicit KernelBackend(std::shared_ptr<const mlir::metaop::Target> target,
                         mlir::DialectRegistry more = mlir::DialectRegistry());
  virtual ~KernelBackend() = default;

  /// Returns the target of schedules and code.
  const mlir::metaop::Target &getTarget() const { return *target; }
  /// Returns the same with what a session's flags say of it.
  virtual const mlir::metaop::Target &
  getTarget(const CompileOptions &options) const {
    return *target;
  }
  /// Names all that decides what schedules a kernel gets, and what code is made
  /// of it.
  virtual std::string getDescription() const { return target->str(); }
  /// Returns who computes what is no kernel: the host, where nobody has said.
  const RoutineRegistry &getRoutines() const { return *routines; }
  void setRoutines(std::shared_ptr<const RoutineRegistry> given) {
    routines = std::move(given);
  }
  /// Returns true if it is to be told of kernels by `noteCall`.
  virtual bool notesCalls() const { return false; }
  /// Told of each kernel that a program which is being compiled calls, found or
  /// not: hashes of what its code is made of (CodeFeatures.h).
  virtual void noteCall(llvm::ArrayRef<uint64_t>) const {}
  /// A worker for another thread; called on that.
  virtual std::unique_ptr<KernelWorker> createWorker() const;
  /// Makes what a worker writes code by; called on its thread.
  virtual llvm::Expected<std::unique_ptr<CodeEmitter>>
  createEmitter() const = 0;
  /// Makes code callable by the name of its symbol. A backend for a processor
  /// that is not here keeps the code, and gives a kernel that has no function.
  virtual llvm::Expected<Kernel>
  load(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> code) = 0;

protected:
  /// Contexts with the dialects of functions over buffers, and of code.
  ContextPool &getContexts() const { return *contexts; }

private:
  std::shared_ptr<const mlir::metaop::Target> target;
  std::shared_ptr<const RoutineRegistry> routines = createHostRoutines();
  std::unique_ptr<ContextPool> contexts;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_KERNELBACKEND_H
