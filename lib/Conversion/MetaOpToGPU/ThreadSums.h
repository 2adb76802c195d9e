//===- ThreadSums.h - What threads have of reductions -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_THREADSUMS_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_THREADSUMS_H

#include "BlockReduction.h"
#include "ThreadTile.h"

namespace mlir::metaop {

/// The accumulators, in registers, of a stage's reductions.
class ThreadSums {
public:
  ThreadSums(GpuFunction &function, ThreadTile &tile, unsigned opened);

  /// Opens those that start at a depth.
  void open(unsigned depth);
  /// Combines the tile's values of a write with its accumulators.
  void accumulate(unsigned write);
  /// Ends those that start at a depth: all threads that have parts of a result
  /// have the whole, as elements, in the order of the copies that it keeps.
  using TakeFn = llvm::function_ref<void(unsigned write, ThreadTile::Copies)>;
  void close(unsigned depth, bool isRepeated, TakeFn take);

  /// Returns whether the end of a dimension matters to what is combined.
  bool isGuarded(const StageWrite &write) const;

  /// Returns the values that a loop at a depth carries.
  SmallVector<Value> getActive(unsigned depth) const;
  void setActive(unsigned depth, ValueRange values);
  /// Emits accumulation from the identity and adds the outcome to `before`.
  void emitAnew(unsigned depth, ValueRange before,
                llvm::function_ref<void()> emit);
  /// The error of what the loop at a depth carries grows with its length.
  bool accumulateError(unsigned depth) const;
  /// Some start outside of the loop outside of a depth.
  bool startOutside(unsigned depth) const;

private:
  Reduction getReduction(const StageWrite &write) const;
  bool isCombined(const StageWrite &write) const {
    return write.kind && write.isProjection;
  }
  Value emitIdentity(const StageWrite &write) const;
  Value emitTerm(const StageWrite &write, const TilePlace &place);
  Value emitTakesPart(const StageWrite &write, const TilePlace &place);
  Value emitTree(const Reduction &reduction, MutableArrayRef<Value> values);
  Value emitAcrossLanes(const Reduction &reduction, Value vector);

  GpuFunction &function;
  OpBuilder &b;
  Location loc;
  ThreadTile &tile;
  const ThreadLevels &levels;
  const Stage &stage;
  /// The depth at which a write's accumulators start.
  SmallVector<unsigned> startOf;
  /// Accumulators of each write; empty where they are not open.
  SmallVector<ThreadTile::Copies> registers;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_THREADSUMS_H
