//===- KernelDescription.cpp - Descriptions of kernels as text ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir::metaop;

llvm::StringRef mlir::metaop::getAccessKindName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Invariant:
    return "invariant";
  case AccessKind::UnitStride:
    return "unit stride";
  case AccessKind::Strided:
    return "strided";
  case AccessKind::Gathered:
    return "gathered";
  }
  llvm_unreachable("all kinds are handled");
}

static void printLoop(llvm::raw_ostream &os, const LoopDescription &loop,
                      unsigned depth) {
  os.indent(6 + 2 * depth) << "for d" << loop.loop << " < " << loop.extent;
  if (loop.step > loop.vectorWidth * loop.unroll)
    os << " in steps of " << loop.step;
  if (loop.isShared)
    os << ", shared with the stage before";
  if (loop.isParallel)
    os << ", parallel";
  if (!loop.owner.empty())
    os << ", a " << loop.owner << " each";
  if (loop.isReduced)
    os << ", reduced";
  if (loop.vectorWidth > 1)
    os << ", vectors of " << loop.vectorWidth;
  if (loop.unroll > 1)
    os << ", unrolled by " << loop.unroll;
  os << "\n";
}

static void printStage(llvm::raw_ostream &os, const StageDescription &stage) {
  os << "  stage " << stage.identity
     << ": S = " << (stage.space.empty() ? "1 point" : stage.space) << "\n"
     << (stage.origins.empty() ? "" : "    of kernel: ")
     << llvm::join(stage.origins, " ") << (stage.origins.empty() ? "" : "\n")
     << "    operators: " << llvm::join(stage.operators, " ") << "\n"
     << "    loops to S: " << stage.toSpace << "\n";
  for (const AccessDescription &access : stage.accesses) {
    os << "    " << (access.isWrite ? "write " : "read  ") << access.tensor
       << " at " << access.map;
    for (const std::string &index : access.indices)
      os << ", " << index;
    os << ": " << getAccessKindName(access.kind);
    if (!access.reduction.empty())
      os << ", reduced by " << access.reduction;
    if (access.isGuarded)
      os << ", guarded";
    if (access.isStreamed)
      os << ", past the caches";
    os << "\n";
  }
  os << "    loops:" << (stage.loops.empty() ? " none" : "") << "\n";
  for (auto [depth, loop] : llvm::enumerate(stage.loops))
    printLoop(os, loop, depth);
  if (!stage.role.empty()) {
    os << "    role: " << stage.role;
    if (!stage.contraction.empty())
      os << " of " << stage.contraction;
    os << "\n";
  }
  os << "    schedule: " << stage.schedule;
  if (stage.overrideLine)
    os << " (from line " << stage.overrideLine << " of the schedule file)";
  os << "\n";
}

static void printGrid(llvm::raw_ostream &os, const GridDescription &grid) {
  os << "  grid: " << grid.blocks << " blocks of " << grid.threads
     << " threads";
  if (grid.cluster > 1)
    os << " in clusters of " << grid.cluster;
  os << ", " << grid.sharedBytes << " bytes of shared memory, about "
     << grid.registers << " registers a thread; " << grid.residentBlocks
     << " blocks a multiprocessor of " << grid.chip
     << llvm::format(", %.0f%% of its threads\n", 100 * grid.occupancy);
  if (grid.bytesAgain > 0)
    os << "  again: " << grid.bytesAgain << " bytes read, by further stages\n";
  os << llvm::format(
            "  warps: %.0f instructions, %.0f passes of shared memory\n",
            grid.slots, grid.sharedPasses)
     << "  predicted:";
  for (auto [number, prediction] : llvm::enumerate(grid.predictions))
    os << (number == 0 ? " " : ", ")
       << llvm::format("%.3g us on ", prediction.seconds * 1e6)
       << prediction.card << " (" << prediction.bound << ")";
  os << "\n";
}

void mlir::metaop::print(llvm::raw_ostream &os,
                         const KernelDescription &kernel) {
  const KernelWork &work = kernel.work;
  for (const StageDescription &stage : kernel.stages)
    printStage(os, stage);
  os << "  bytes: " << work.bytesRead << " read, " << work.bytesWritten
     << " written; FLOPs: " << work.flops;
  if (work.getBytes())
    os << llvm::format(" (%.3g a byte)",
                       static_cast<double>(work.flops) / work.getBytes());
  os << "\n";
  if (kernel.grid)
    printGrid(os, *kernel.grid);
}
