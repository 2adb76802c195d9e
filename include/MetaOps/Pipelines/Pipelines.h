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
// From there on for a CPU
//
//   loops      kernels over buffers: scf, vector, arith, math, memref
//   llvm       the LLVM dialect
//
// and for an NVIDIA GPU, each kernel in a gpu.module of its own
//
//   gpu        what one thread does: the same dialects, and gpu and nvvm
//   nvvm       the LLVM and NVVM dialects
//   ptx        PTX, in a gpu.binary
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PIPELINES_PIPELINES_H
#define METAOPS_PIPELINES_PIPELINES_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Target/Description/Processor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace mlir::metaop {

enum class PipelinePhase {
  Graph,
  Fused,
  Scheduled,
  Kernels,
  Loops,
  LLVM,
  Gpu,
  NVVM,
  PTX,
};

/// What programs run on.
enum class PipelineTarget { CPU, CUDA };

llvm::StringRef getPipelinePhaseName(PipelinePhase phase);

/// The phase of that name, or none.
std::optional<PipelinePhase> parsePipelinePhase(llvm::StringRef name);

/// The target of that name, cpu or cuda, or none.
std::optional<PipelineTarget> parsePipelineTarget(llvm::StringRef name);

/// The phases on the way to a target, in order.
llvm::ArrayRef<PipelinePhase> getPipelinePhases(PipelineTarget target);

/// Their names, for messages.
std::string getPipelinePhaseNames(PipelineTarget target);

/// Where compilation of a module starts: at `fused` if a function holds
/// kernels, else at `graph`. Schedules that stages have already are kept.
PipelinePhase findPipelineStart(ModuleOp module);

struct PipelineOptions {
  PipelineTarget target = PipelineTarget::CPU;
  /// The phase that the module is in; for a CPU, up to `kernels`.
  PipelinePhase from = PipelinePhase::Graph;
  /// Fusion rules: "extended", "paper" or "none".
  std::string rules = "extended";
  /// Whether values share memory, and are written over what dies.
  bool reuseMemory = true;
  /// What schedules for CPUs are for.
  Processor processor;
  /// What everything for GPUs is for, and the file of libdevice, if any.
  const Chip *chip = Chip::getDefault();
  std::string libdevice;
  /// Whether sums of floats that threads of a whole GPU add to are added as
  /// they come, so that their last bits may change from run to run.
  bool floatAtomics = false;
  /// A file of schedules that replace those of the heuristics, and its contents
  /// if they have been read already; see metaop-schedule.
  std::string scheduleFile;
  std::string schedules;
  /// Report the cost of the partition as remarks.
  bool report = false;
};

/// Appends the passes over a module with @main, up to and including those of
/// `to`, with a legality check after each phase. The phases behind `kernels`
/// keep the kernels only. Fails, saying why, on options that make no sense.
llvm::Error buildPipeline(OpPassManager &pm, PipelinePhase to,
                          const PipelineOptions &options);

/// Registers all passes of the project, and `--metaop-pipeline`, for tools.
void registerMetaOpsPasses();

/// Adds the dialects that a slice, or a program of a file, may hold, and no
/// other, to a registry.
void registerSliceDialects(DialectRegistry &registry);

} // namespace mlir::metaop

#endif // METAOPS_PIPELINES_PIPELINES_H
