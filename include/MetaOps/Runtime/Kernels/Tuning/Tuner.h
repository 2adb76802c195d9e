//===- Tuner.h - A search for better schedules ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_TUNING_TUNER_H
#define METAOPS_RUNTIME_KERNELS_TUNING_TUNER_H

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Compiler/Tuning.h"
#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace metaops {

/// The target that kernels are compiled and tuned for.
struct TuningTarget {
  mlir::metaop::PipelineOptions options;
  /// Says what schedules can be lowered.
  const KernelBackend &backend;
  /// Gives each candidate a backend, with which its code may go.
  std::function<llvm::Expected<std::shared_ptr<KernelBackend>>()> createBackend;
};

/// Tunes the kernels of a slice, in a module of its own, until `deadline` of
/// the steady clock. `seconds` is what each call of its program takes.
llvm::Expected<TuningResult> tuneSlice(mlir::ModuleOp slice,
                                       const TuningTarget &target,
                                       llvm::ArrayRef<double> seconds,
                                       int64_t deadline, ThreadPool &threads,
                                       StopCheck shouldStop);

/// For each kernel of a slice the schedules that are near to its own and that
/// the lowering does not refuse, each as lines of a file.
llvm::Expected<std::vector<std::string>>
listNeighbours(mlir::ModuleOp slice, const TuningTarget &target);

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_TUNING_TUNER_H
