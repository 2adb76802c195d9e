//===- ContractionEmitter.h - Loops of a contraction ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_CONTRACTIONEMITTER_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_CONTRACTIONEMITTER_H

#include "MetaOps/Conversion/StageBody/BodyEmitter.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"

#include <functional>
#include <map>

namespace mlir::metaop {

/// Emits the loops of a contraction whose schedule has blocks and tiles of
/// several dimensions.
class ContractionEmitter {
public:
  /// The iterations of a dimension in a step of its loops.
  struct Span {
    Value begin, end;
  };

  ContractionEmitter(OpBuilder &b, const Stage &stage, ScheduleAttr schedule,
                     StageBindings bindings);

  /// Iterations of the parallel loops, collapsed into one range.
  static int64_t getParallelRange(const Stage &stage, ScheduleAttr schedule);
  /// Beginning of a block in its tensor: a symbol of the bindings, beyond those
  /// of the stage, and its value from there on.
  struct Origin {
    unsigned symbol;
    Value place;
  };
  /// Calls `pack` inside of so many loops, with the spans of all dimensions; it
  /// gives the origin of what it has packed.
  using PackFn = std::function<Origin(ArrayRef<Span> spans)>;
  void packInside(unsigned depth, PackFn pack);
  /// Calls `open` at the beginning of each iteration of so many loops, which
  /// gives the origin of the sums there, or none where they lie in a result,
  /// and `finish` at the end of each in which the sums are complete.
  using OpenFn = std::function<std::optional<Origin>(ArrayRef<Span> spans)>;
  using FinishFn = std::function<void(ArrayRef<Span> spans)>;
  void finishInside(unsigned depth, OpenFn open, FinishFn finish);
  /// Emits iteration `position` of that range.
  void emit(Value position);

private:
  /// One of the elements, or vectors along the lanes, of a tile: its number
  /// along each dimension of the stage.
  using Copy = SmallVector<int64_t, 4>;
  class CopyIteration;

  //===--------------------------------------------------------------------===//
  // Loops (ContractionEmitter.cpp)
  //===--------------------------------------------------------------------===//
  const LoopLevel &getLevel(unsigned depth) const {
    return schedule.getLevels()[depth];
  }
  bool isLastLevel(unsigned depth) const {
    return lastLevel[getLevel(depth).dim] == depth;
  }
  bool isReduced(int64_t dim) const {
    return !stage.writes.front().loops.test(dim);
  }
  void openParallel(Value position);
  void emitLevel(unsigned depth);
  void emitLoops(unsigned depth);
  void emitFor(Span span, int64_t step, llvm::function_ref<void(Value)> emit);
  bool isShared(unsigned depth) const;
  void testBlock(unsigned depth, Value iv);
  void narrow(unsigned depth, Value iv);
  bool mayLeaveRest(const LoopLevel &level) const;
  Value emitIsWithin(Value number, int64_t low, int64_t high);
  /// The iterations of a level's dimension that are one of its tile.
  int64_t getUnit(const LoopLevel &level) const {
    return level.dim == lanesDim ? lanes : 1;
  }
  void emitInside(unsigned depth, int64_t size, Value iv, Value end,
                  Value numLeft, int64_t numWhole = 0);
  void emitTileLoop(unsigned depth);
  void emitTail(unsigned depth, Span rest);
  void emitTile();
  void emitReduced(unsigned depth);
  void emitReducedLoop(unsigned depth);
  Value emitConditions(unsigned depth);

  //===--------------------------------------------------------------------===//
  // The tile (ContractionTile.cpp)
  //===--------------------------------------------------------------------===//
  unsigned getNumCopies() const;
  Copy getCopy(unsigned number) const;
  unsigned getNumber(const Copy &copy) const;
  Value emitExpr(AffineExpr expr, const Copy &copy);
  Value getValid(const Copy &copy);
  Value getLaneMask(const Copy &copy);
  Value getValue(Value value, Copy copy);
  void prefetch();
  void accumulate();
  void storeTile();
  void storeCopies(bool adds);
  void storeTransposed(bool adds);
  void storeColumns(ArrayRef<unsigned> rows, int64_t vector, bool adds);
  Value getRowMask(ArrayRef<unsigned> rows);
  Value emitIsLaneValid(int64_t lane, const Copy &copy);
  void storeRun(Value column, unsigned position, ArrayRef<unsigned> rows,
                int64_t lane, bool adds);
  LaneAddress emitAddress(Value offset, int64_t step);
  void emitStore(Value value, const LaneAddress &at, Value mask, bool adds);

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  ScheduleAttr schedule;
  StageBindings bindings;
  BodyEmitter body;
  Reduction reduction;
  int64_t lanes, lanesDim;
  unsigned start;
  /// The last loop of each dimension.
  SmallVector<unsigned> lastLevel;

  /// The depths at which other stages stand; that of no epilogue is behind all.
  unsigned finishDepth;
  SmallVector<std::pair<unsigned, PackFn>, 2> packings;
  OpenFn open;
  FinishFn finish;

  /// Of each dimension: the iterations of the step that is open, the iteration
  /// (once its last loop is open), its copies, and, where the tail of a loop
  /// masks, the iterations that are left, and the copies that surely are.
  SmallVector<Span> spans;
  SmallVector<Value> position;
  SmallVector<int64_t> sizes;
  SmallVector<Value> left;
  SmallVector<int64_t> whole;
  /// Blocks of reduced loops that stand outside of the tile are at their first
  /// iteration, and those outside of the epilogue at their last; null if there
  /// are none.
  Value isFirst, isLast;
  SmallVector<Value> accumulators;
  /// Values of one innermost iteration, by value and copy.
  std::map<std::pair<void *, unsigned>, Value> values;
  llvm::DenseMap<AffineExpr, Value> bases;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_CONTRACTIONEMITTER_H
