//===- CpuProgram.h - A program for the CPU ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CPU_CPUPROGRAM_H
#define METAOPS_LIB_RUNTIME_CPU_CPUPROGRAM_H

#include "CallSteps.h"
#include "MetaOps/Dialect/MetaOp/MetaOpInterfaces.h"
#include "MetaOps/Runtime/JIT/KernelCache.h"
#include "MetaOps/Runtime/Program/Copy.h"
#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Runtime/Program/Routine.h"
#include "PackedResults.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace metaops {

/// Where a value lives while a program runs.
struct Slot {
  enum class Kind { Argument, Result, Arena };
  Kind kind;
  /// The number of the argument or result; in the arena, the first byte.
  int64_t index;
  /// From the first to the last.
  int64_t bytes;
  /// Bytes before it in an argument or a result that it is a part of.
  int64_t offset = 0;
  /// Bytes of a row, and from one row to the next, where rows are apart.
  int64_t row = 0, pitch = 0;
  /// The number of a result that may be kept from run to run. It is in the
  /// arena where it is not kept.
  int64_t packed = -1;
};

/// Calls of kernels and routines and copies in order, with all memory decided.
class CpuProgram : public Program {
public:
  /// Reads a module in the phase `kernels` and compiles what the cache lacks.
  /// Adds to `callOps` the op of each call.
  static llvm::Expected<std::shared_ptr<CpuProgram>>
  create(mlir::ModuleOp module, KernelCache &kernels,
         std::vector<mlir::Operation *> &callOps,
         StopCheck shouldStop = nullptr);

  /// The program as bytes, its kernels by name.
  std::string write() const;
  /// Reads these bytes and loads the kernels that `kernels` lacks. Null where
  /// something is missing or does not fit.
  static std::shared_ptr<CpuProgram> read(llvm::StringRef bytes,
                                          KernelCache &kernels);

  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory,
                                     BufferRef &scratch) override;
  void keepPacked(ProgramRun &run, Allocator &memory) override {
    if (packed.size() > 0)
      packed.choose(run, memory);
  }
  void dropPacked(bool isShort) override { packed.drop(isShort); }
  /// Does not stop any more when it has begun to write over arguments.
  llvm::Error execute(const ProgramRun &run, ThreadPool &threads,
                      StopCheck shouldStop,
                      std::vector<CallTime> *times) override;
  bool isLong(unsigned threads) const override;

  /// How many threads there is work for in a call.
  int64_t getMaxThreads(size_t call) const;
  /// What a call of copies moves.
  int64_t getCopiedBytes(size_t call) const;
  /// Operations of the loops of a call's kernel; 0 for others.
  int64_t getLoopOps(size_t call) const;
  /// Of intermediate values and of routines.
  int64_t getScratchBytes() const;
  void setInfo(ProgramInfo value) { info = std::move(value); }

private:
  struct Stored;
  struct Call {
    /// Null for copies and routines.
    std::shared_ptr<const KernelCall> kernel;
    /// Of no kind for kernels and copies.
    Routine routine;
    /// Of the inputs into the one output.
    std::vector<Copy> copies;
    /// What the call reads, then what it writes.
    llvm::SmallVector<Slot, 6> buffers;
    unsigned numInputs = 0;
    /// Steps of the parallel range that are worth a thread of their own.
    int64_t grain = 1;

    /// The predicted picoseconds of the whole range.
    int64_t getWork() const;
    /// The number of its result where that may be kept, else -1.
    int64_t getPacked() const {
      return numInputs < buffers.size() ? buffers.back().packed : -1;
    }
  };

  void addCall(std::shared_ptr<const KernelCall> kernel,
               llvm::ArrayRef<Slot> inputs, llvm::ArrayRef<Slot> results);
  void addRoutine(mlir::metaop::RoutineOpInterface op,
                  llvm::ArrayRef<Slot> inputs, llvm::ArrayRef<Slot> results);
  void addCopies(mlir::metaop::PlacementOpInterface op,
                 llvm::ArrayRef<Slot> inputs, Slot result);

  /// Decides which calls run side by side, once all calls are there.
  void planSteps();
  bool overwritesArgument(unsigned call) const;
  int64_t getRoutineBegin() const { return llvm::alignTo(arenaBytes, 64); }
  /// Notes which results may be kept, and which arguments are written.
  void noteResults();

  llvm::SmallVector<Call, 0> calls;
  std::vector<CallStep> steps;
  /// The first step that writes over an argument.
  size_t firstOverwriting = 0;
  /// The work of calls whose loop is not shared among threads, and of others.
  int64_t serialWork = 0, sharedWork = 0;
  llvm::SmallVector<Slot> results;
  PackedResults packed;
  llvm::SmallVector<unsigned> overwritten;
  unsigned numArguments = 0;
  int64_t arenaBytes = 0;
  /// What the routine that needs most has behind the arena.
  int64_t routineBytes = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CPU_CPUPROGRAM_H
