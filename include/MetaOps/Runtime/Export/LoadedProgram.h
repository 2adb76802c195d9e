//===- LoadedProgram.h - Running program files ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EXPORT_LOADEDPROGRAM_H
#define METAOPS_RUNTIME_EXPORT_LOADEDPROGRAM_H

#include "MetaOps/Runtime/Export/ProgramFile.h"
#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

namespace metaops {

class FunctionCode;
class RoutineRegistry;
struct ProgramInstance;

/// A program that was compiled for this process; see KernelTools::compileFor.
struct SuppliedCode {
  std::string target, program, image;
};

struct LoadOptions {
  /// The name of the function that is to run; empty: the file's first.
  std::string function;
  /// Threads of a run, the caller's included; 0: as many as processors
  /// may be used.
  unsigned threads = 0;
  /// Compare all checksums, those of weights included.
  bool verify = false;
  /// Load what the program needs to run. If not, nothing of the file is mapped
  /// executable, and no code for this processor need be there.
  bool code = true;
  /// Code that runs in place of the file's, which is not looked at.
  std::optional<SuppliedCode> supplied;
  /// Whose routines programs call; null: the host's.
  std::shared_ptr<const RoutineRegistry> routines;
};

/// Why a program file cannot be loaded or run.
class ProgramError : public llvm::ErrorInfo<ProgramError> {
public:
  enum class Kind {
    /// The file: damaged, not there, for other processors.
    File,
    /// A caller's mistake.
    Argument,
    /// Other data may run.
    Run,
    /// Other data may run: a matrix is singular, or not positive definite.
    Matrix,
    OutOfMemory,
    Closed
  };
  static char ID;

  ProgramError(Kind kind, std::string message)
      : kind(kind), message(std::move(message)) {}

  Kind getKind() const { return kind; }
  const std::string &getMessage() const { return message; }
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  Kind kind;
  std::string message;
};

/// Memory of a tensor that somebody else has, in row-major order.
struct ConstMemory {
  const void *data = nullptr;
  size_t bytes = 0;
};
struct MutableMemory {
  void *data = nullptr;
  size_t bytes = 0;
};

/// A function of a program file, ready to run. All functions may be called from
/// several threads at once. Runs beside each other have scratch memory each and
/// share the threads: while these work for one run, another one uses its
/// caller's thread alone. All errors are ProgramErrors.
class LoadedProgram {
public:
  /// The file must not be changed as long as the program, or a weight of it, is
  /// in use. A file with machine code is trusted like any other program.
  static llvm::Expected<std::unique_ptr<LoadedProgram>>
  open(llvm::StringRef path, const LoadOptions &options = {});
  /// The same for a file in memory, which is copied.
  static llvm::Expected<std::unique_ptr<LoadedProgram>>
  read(llvm::StringRef bytes, const LoadOptions &options = {});
  /// The same for another function of this one's file, by its name. They share
  /// the weights, and have threads and memory of their own.
  llvm::Expected<std::unique_ptr<LoadedProgram>>
  openFunction(const LoadOptions &options) const;
  /// The program of a function of several sizes for sizes of its extents, in
  /// their order. It has fixed shapes, and shares code, threads and memory with
  /// this one; each may be closed before the other.
  llvm::Expected<std::unique_ptr<LoadedProgram>>
  openSizes(llvm::ArrayRef<int64_t> sizes) const;
  /// Like every destructor, not beside other calls.
  ~LoadedProgram();

  /// Returns the signature of the whole file.
  const ProgramSignature &getSignature() const { return file->getSignature(); }
  /// Returns that of the function: of fixed shapes where the program is that of
  /// one size.
  const FunctionSignature &getFunction() const { return *signature; }
  llvm::ArrayRef<TensorSpec> getInputs() const { return getFunction().inputs; }
  llvm::ArrayRef<TensorSpec> getOutputs() const {
    return getFunction().outputs;
  }
  /// Returns those of the whole file.
  llvm::ArrayRef<TensorSpec> getWeights() const {
    return getSignature().weights;
  }
  /// The name of the target whose code runs; empty where no code was loaded.
  llvm::StringRef getTarget() const { return target; }
  /// Memory that each run takes beside its results.
  int64_t getScratchBytes() const;
  /// Memory of what runs have made of weights alone, and later ones use.
  int64_t getPackedBytes() const;
  /// The memory of a weight; not to be written. It outlives the program.
  BufferRef getWeight(unsigned number) const { return file->getWeight(number); }
  bool hasIR() const { return file->hasIR(function); }
  llvm::Expected<std::string> readIR() const;

  /// Runs the program on inputs in their order, and writes the outputs. Memory
  /// holds as many bytes as its tensor (of bool, zeros and ones), is aligned as
  /// its elements are, and nobody writes it meanwhile. An output may overlap
  /// inputs, but no other output. Memory of inputs is used in place, that of
  /// outputs where it is aligned to 64 bytes and no input.
  llvm::Error run(llvm::ArrayRef<ConstMemory> inputs,
                  llvm::ArrayRef<MutableMemory> outputs);
  /// The same with outputs in memory of the program's allocator, each one its
  /// own. It may outlive the program.
  llvm::Expected<llvm::SmallVector<BufferRef>>
  run(llvm::ArrayRef<ConstMemory> inputs);

  /// Waits for runs to end. A program has one thread at least, and no more than
  /// ThreadPool::kMaxThreads. All sizes of a function have these threads.
  llvm::Error setThreads(unsigned threads);
  unsigned getThreads() const { return shared->threads.getThreads(); }

  /// Has new runs fail, waits for those that have begun, and gives back the
  /// code and scratch memory. All else stays. Closing again does nothing.
  void close();
  /// The same for all sizes of its function that are open.
  void closeAllSizes();

private:
  /// The threads and memory that programs of a function for several sizes
  /// share.
  struct Shared {
    explicit Shared(unsigned threads) : threads(threads) {}

    ThreadPool threads;
    Allocator memory;
    /// Held by runs, and alone by what waits for them.
    std::shared_mutex running;
    /// Set where all sizes are closed.
    std::atomic<bool> areClosed{false};
  };

  LoadedProgram(std::shared_ptr<const ProgramFile> file, unsigned function,
                std::shared_ptr<Shared> shared);

  static llvm::Expected<std::unique_ptr<LoadedProgram>>
  load(llvm::Expected<ProgramFile> file, const LoadOptions &options);
  static llvm::Expected<std::unique_ptr<LoadedProgram>>
  load(std::shared_ptr<const ProgramFile> file, const LoadOptions &options);
  llvm::Error openProgram(unsigned number);
  bool cannotRun() const { return isClosed || shared->areClosed; }
  llvm::Error checkRun(llvm::ArrayRef<ConstMemory> inputs) const;
  llvm::SmallVector<BufferRef>
  gatherArguments(llvm::ArrayRef<ConstMemory> inputs) const;
  llvm::SmallVector<BufferRef>
  takeResults(llvm::ArrayRef<BufferRef> arguments,
              llvm::ArrayRef<MutableMemory> outputs);
  llvm::Expected<llvm::SmallVector<BufferRef>>
  runOn(llvm::ArrayRef<ConstMemory> inputs,
        llvm::ArrayRef<MutableMemory> outputs);
  void copyResults(llvm::SmallVector<BufferRef> results,
                   llvm::ArrayRef<MutableMemory> outputs);

  std::shared_ptr<const ProgramFile> file;
  /// Its place among the file's.
  unsigned function;
  std::string target;
  std::shared_ptr<Shared> shared;
  /// Null without code, and once closed.
  std::shared_ptr<FunctionCode> code;
  std::shared_ptr<const FunctionSignature> signature;
  /// Null where the function has several sizes and this is none of them, and
  /// once closed.
  std::shared_ptr<ProgramInstance> instance;
  std::atomic<bool> isClosed{false};
};

} // namespace metaops

#endif // METAOPS_RUNTIME_EXPORT_LOADEDPROGRAM_H
