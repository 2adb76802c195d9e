//===- Trial.h - A program that is run to be measured -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_TUNING_TRIAL_H
#define METAOPS_LIB_RUNTIME_KERNELS_TUNING_TRIAL_H

#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace metaops {

/// Made-up data for the arguments of a program: floats between 1/2 and 3/2,
/// the same in every process, and zeros for all that may be an index.
llvm::SmallVector<BufferRef> makeArguments(mlir::TypeRange types,
                                           Allocator &memory);

/// Nothing where two buffers hold the same tensor up to rounding, else what
/// differs. Floats of a tensor may differ by a part of the largest of them, as
/// sums do whose order is another.
std::string compareResults(mlir::RankedTensorType type, const void *expected,
                           const void *given);

/// A program with the memory of one run, which may be repeated.
class Trial {
public:
  /// The code of its kernels is the backend's.
  static llvm::Expected<std::unique_ptr<Trial>>
  create(mlir::ModuleOp module, std::shared_ptr<KernelBackend> backend,
         llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
         ThreadPool &threads, StopCheck shouldStop);

  /// Runs it for the first times, before anything is measured.
  llvm::Error warmUp();
  /// Nanoseconds of one run, the mean of some that follow one another, which
  /// together take long enough for the clock. Where kernels run elsewhere, as
  /// on a GPU, these are theirs, by the clock of who runs them.
  llvm::Expected<double> measure();

  /// The results of the last run.
  const ProgramRun &getRun() const { return run; }

private:
  Trial(ThreadPool &threads) : threads(threads) {}
  llvm::Error execute(std::vector<CallTime> *times = nullptr) {
    return program->execute(run, threads, nullptr, times);
  }
  llvm::Expected<double> measureLaunches();

  ThreadPool &threads;
  /// The code is gone with it.
  std::unique_ptr<KernelCache> kernels;
  bool isLaunched = false;
  std::shared_ptr<CompiledProgram> program;
  BufferRef scratch;
  ProgramRun run;
  int64_t repetitions = 1;
};

/// Result of measuring two programs in turns.
struct Comparison {
  /// Medians, in nanoseconds.
  double first = 0, second = 0;
  bool isSecondBetter = false;
};

/// Runs both in turns, several times. Whether the second is clearly better is
/// said by its median, which is to be lower by 5 %, and by its being the faster
/// one in all rounds but one: a machine that was disturbed for some of them
/// decides nothing. Stops early where that cannot be any more.
llvm::Expected<Comparison> compare(Trial &first, Trial &second);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_TUNING_TRIAL_H
