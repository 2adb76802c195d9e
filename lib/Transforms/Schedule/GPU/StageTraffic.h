//===- StageTraffic.h - What a stage moves ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks and threads are chosen by how a stage's accesses lie in memory: along
// which loop neighbouring threads find neighbouring elements, and how many of
// these may be one access.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGETRAFFIC_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGETRAFFIC_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The loops of a stage as threads see them.
class StageTraffic {
public:
  explicit StageTraffic(const Stage &stage);

  /// The loop along which most is contiguous, results rather than operands; -1
  /// of a stage without loops.
  int64_t getContiguous() const { return contiguous; }
  /// Loops that results of iterations are not combined over, and the others.
  /// What is combined by atomics keeps all loops.
  const llvm::SmallBitVector &getKept() const { return kept; }
  /// The extent to plan for.
  int64_t getExtent(int64_t loop) const;
  /// Iterations of some loops.
  int64_t countPoints(const llvm::SmallBitVector &loops) const;
  int64_t countKept() const { return countPoints(kept); }
  int64_t countReduced() const;
  /// Returns whether few iterations are reduced, and not along the contiguous
  /// loop: each thread has those of its results alone.
  bool isWindow() const;
  /// The elements along a loop that all accesses can have as one vector of at
  /// most 16 bytes.
  int64_t getVectorWidth(int64_t loop) const;
  /// Reads that most of the iterations do.
  unsigned countLargeReads() const;
  /// The bytes of all accesses, each once for each of its iterations.
  int64_t countBytes() const;
  /// The most bytes of an element that is accessed.
  int64_t getElementBytes() const;
  /// Reads, by number, of as many elements as there are iterations, contiguous
  /// along another loop than `loop`; that loop. None where there is no such.
  struct Transposed {
    int64_t loop = -1;
    SmallVector<unsigned, 1> reads;
  };
  std::optional<Transposed> findTransposed(int64_t loop) const;

private:
  struct Access {
    const StagePlace *place;
    llvm::SmallBitVector loops;
    int64_t bytes;
    bool isWrite;
    /// The number of a read.
    unsigned number;
  };

  /// The step of an access from one iteration of the loop to the next.
  std::optional<int64_t> getStep(const Access &access, int64_t loop) const;
  bool isGuardedAlong(const Access &access, int64_t loop) const;
  int64_t countBytes(const Access &access) const;
  void findContiguous();

  const Stage &stage;
  SmallVector<Access> accesses;
  llvm::SmallBitVector kept;
  int64_t contiguous = -1;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_STAGETRAFFIC_H
