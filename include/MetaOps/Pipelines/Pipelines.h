//===- Pipelines.h - Phases of compilation ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slice goes through named phases. Each pass also runs alone on a file; the
// pipelines here are the order in which the runtime and metaop-opt run them.
//
//   graph      meta-operators on tensors, as recorded
//   fused      metaop.kernel with its stages; views outside
//   scheduled  each stage has its schedule
//   kernels    @main calls kernel functions and has a memory plan
//   loops      kernels over buffers: scf, vector, arith, math, memref
//   llvm       the LLVM dialect
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PIPELINES_PIPELINES_H
#define METAOPS_PIPELINES_PIPELINES_H

#include "MetaOps/Transforms/Schedule/Processor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace mlir::metaop {

enum class PipelinePhase { Graph, Fused, Scheduled, Kernels, Loops, LLVM };

/// The phase of that name, or none.
std::optional<PipelinePhase> parsePipelinePhase(llvm::StringRef name);

/// The names of all phases, for messages.
llvm::StringRef getPipelinePhaseNames();

/// Where compilation of a module starts: at `fused` if a function holds
/// kernels, else at `graph`. Schedules that stages have already are kept.
PipelinePhase findPipelineStart(ModuleOp module);

struct PipelineOptions {
  /// The phase that the module is in; up to `kernels`.
  PipelinePhase from = PipelinePhase::Graph;
  /// Fusion rules: "extended", "paper" or "none".
  std::string rules = "extended";
  /// Whether values share memory, and are written over what dies.
  bool reuseMemory = true;
  /// What schedules are for.
  Processor processor;
  /// A file of schedules that replace those of the heuristics, and its contents
  /// if they have been read already; see metaop-schedule.
  std::string scheduleFile;
  std::string schedules;
  /// Report the cost of the partition as remarks.
  bool report = false;
};

/// Appends the passes over a module with @main, up to and including those of
/// `to`, with a legality check after each phase. The phases loops and llvm keep
/// the kernels only. Fails, saying why, on options that make no sense.
llvm::Error buildPipeline(OpPassManager &pm, PipelinePhase to,
                          const PipelineOptions &options);

/// Registers all passes of the project, and `--metaop-pipeline`, for tools.
void registerMetaOpsPasses();

/// Adds the dialects that a slice, or a program of a file, may hold, and no
/// other, to a registry.
void registerSliceDialects(DialectRegistry &registry);

} // namespace mlir::metaop

#endif // METAOPS_PIPELINES_PIPELINES_H
