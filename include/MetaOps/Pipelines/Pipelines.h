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
//
// The phases from there on are the target's (Target.h).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PIPELINES_PIPELINES_H
#define METAOPS_PIPELINES_PIPELINES_H

#include "MetaOps/Target/Target.h"
#include "MetaOps/Target/TargetRegistry.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::metaop {

/// The names of the phases that are the same for all targets.
inline constexpr StringLiteral kGraphPhase = "graph";
inline constexpr StringLiteral kFusedPhase = "fused";
inline constexpr StringLiteral kScheduledPhase = "scheduled";
inline constexpr StringLiteral kKernelsPhase = "kernels";

/// The phases on the way to a target, in order.
SmallVector<StringRef> getPipelinePhases(const Target &target);

/// Returns the phase at which compilation of a module starts: `fused` if a
/// function holds kernels, else `graph`. Schedules that stages have already are
/// kept.
StringRef findPipelineStart(ModuleOp module);

struct PipelineOptions {
  /// The target of the code. Lives as long as the passes.
  const Target *target = nullptr;
  /// The phase that the module is in. The text lives as long as the target.
  StringRef from = kGraphPhase;
  /// Fusion rules: "extended", "paper" or "none".
  std::string rules = "extended";
  /// True if values share memory, and are written over what dies.
  bool reuseMemory = true;
  /// A file of schedules that replace those of the heuristics, and its contents
  /// if they have been read already; see metaop-schedule.
  std::string scheduleFile;
  std::string schedules;
  /// Report the cost of the partition as remarks.
  bool report = false;
  /// Tells what scratch memory routines take; null where programs do not run.
  RoutineScratch routineScratch;
  /// Tells what libraries take of products; null where none is called.
  LibraryWork workOfLibraries;
  /// Set where the target is to say if schedules are legal.
  bool verifySchedules = true;
};

/// Appends the passes over a module with @main, up to and including those of
/// the phase `to`, with a legality check after each phase. The phases behind
/// `kernels` keep the kernels only. Fails, saying why, on options that make no
/// sense.
llvm::Error buildPipeline(OpPassManager &pm, StringRef to,
                          const PipelineOptions &options);

/// Registers all passes of the project, and `--metaop-pipeline` for the targets
/// given, for tools.
void registerMetaOpsPasses(std::shared_ptr<const TargetRegistry> targets);

/// Adds the dialects that a slice, or a program of a file, may hold, and no
/// other, to a registry.
void registerSliceDialects(DialectRegistry &registry);

} // namespace mlir::metaop

#endif // METAOPS_PIPELINES_PIPELINES_H
