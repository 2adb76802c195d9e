//===- KernelDescription.h - What a kernel will do, as data -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data, so that what reports it needs no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REPORT_KERNELDESCRIPTION_H
#define METAOPS_TRANSFORMS_SCHEDULE_REPORT_KERNELDESCRIPTION_H

#include "MetaOps/Target/Description/CostModel.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::metaop {

/// Kind of access by which neighbouring iterations of the innermost (or vector)
/// loop find their elements.
enum class AccessKind { Invariant, UnitStride, Strided, Gathered };

llvm::StringRef getAccessKindName(AccessKind kind);

/// One read or write of a stage.
struct AccessDescription {
  /// The type of the tensor.
  std::string tensor;
  /// Loops to indices of the tensor.
  std::string map;
  /// Symbols of the map that are numbers out of tensors, and where these are
  /// from: `s0 = tensor<4xi64> at (d0) -> (d0)`.
  std::vector<std::string> indices;
  AccessKind kind = AccessKind::Invariant;
  /// Some iterations are out of the tensor or are excluded by a condition.
  bool isGuarded = false;
  bool isWrite = false;
  /// It is stored past the caches.
  bool isStreamed = false;
  /// The combiner of a reduction; empty otherwise.
  std::string reduction;
};

/// One loop of a stage's nest.
struct LoopDescription {
  /// The number of its dimension, and the name that maps use: d0, d1...
  int64_t loop = 0;
  /// A number, or an expression of numbers that are known when it runs.
  std::string extent;
  bool isReduced = false;
  bool isParallel = false;
  /// On a GPU, who has an iteration: `cluster`, `block`, `warp` or `thread`;
  /// empty of a loop.
  std::string owner;
  /// It is that of the stage before.
  bool isShared = false;
  /// Elements of one iteration.
  int64_t step = 1;
  /// 1 where the loop is not the vector loop.
  int64_t vectorWidth = 1;
  int64_t unroll = 1;
};

struct StageDescription {
  /// Its name in a file of schedules; see ScheduleFile.h.
  std::string identity;
  /// The identities of the kernels that fusion made, of which the stage is a
  /// part or the whole, where they are known; see ScheduleFile.h.
  std::vector<std::string> origins;
  /// Extents of S, as 8x16x32.
  std::string space;
  /// Loops to indices of S: says which dimensions were collapsed.
  std::string toSpace;
  /// Outermost first.
  std::vector<LoopDescription> loops;
  std::vector<AccessDescription> accesses;
  std::vector<std::string> operators;
  /// `#metaop.schedule<...>`
  std::string schedule;
  /// Its role in the kernel of a contraction: `packing`, `contraction` or
  /// `epilogue`; empty in others.
  std::string role;
  /// Of a contraction, its loops by what they are: `m d0, n d2, k d1`.
  std::string contraction;
  /// Line of the file of schedules that it is from; 0 for the heuristics.
  unsigned overrideLine = 0;
};

/// Time that one call should take on a GPU, and what it is spent on.
struct CardPrediction {
  std::string card;
  double seconds = 0;
  std::string bound;
};

/// The threads of a kernel for a GPU, and what they take of it: an estimate,
/// before code is made.
struct GridDescription {
  std::string chip;
  int64_t blocks = 1;
  /// Blocks of a cluster.
  int64_t cluster = 1;
  /// Of a block.
  int64_t threads = 1;
  int64_t sharedBytes = 0;
  /// Of a thread.
  int64_t registers = 0;
  /// Blocks that a multiprocessor holds at a time, and the part of the threads
  /// it could hold that these have.
  int64_t residentBlocks = 0;
  double occupancy = 0;
  /// Bytes that stages read of inputs that one before has read.
  int64_t bytesAgain = 0;
  /// Instructions of warps, and passes through the banks of shared memory: of
  /// all blocks, about.
  double slots = 0;
  double sharedPasses = 0;
  /// For each card that has the chip.
  std::vector<CardPrediction> predictions;
};

/// Figures of a call of a kernel.
struct KernelMeasures {
  KernelWork work;
  /// Of kernels for GPUs.
  std::optional<GridDescription> grid;
};

struct KernelDescription : KernelMeasures {
  std::string name;
  std::vector<StageDescription> stages;
};

/// Prints for people, several lines.
void print(llvm::raw_ostream &os, const KernelDescription &kernel);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REPORT_KERNELDESCRIPTION_H
