//===- Tuner.h - A search for better schedules ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CPU_TUNER_H
#define METAOPS_LIB_RUNTIME_CPU_TUNER_H

#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/Compiler/Tuning.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "mlir/IR/BuiltinOps.h"

namespace metaops {

/// Tunes the kernels of a slice, in a module of its own, until `deadline` of
/// the steady clock. `seconds` is what each call of its program takes.
llvm::Expected<TuningResult>
tuneSlice(mlir::ModuleOp slice, const mlir::metaop::PipelineOptions &options,
          llvm::ArrayRef<double> seconds, int64_t deadline, ThreadPool &threads,
          StopCheck shouldStop);

/// For each stage of the kernels of a slice, as lines of a file, the schedules
/// that are near to its own and that the lowering does not refuse.
llvm::Expected<std::vector<std::string>>
listNeighbours(mlir::ModuleOp slice,
               const mlir::metaop::PipelineOptions &options);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CPU_TUNER_H
