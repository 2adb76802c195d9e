//===- StageEmitter.h - Loops and vectors of one stage ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_STAGEEMITTER_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_STAGEEMITTER_H

#include "MetaOps/Transforms/Schedule/Stage.h"
#include "Reduction.h"
#include "StageBindings.h"
#include "ValueEmitter.h"

namespace mlir::metaop {

/// The part of a loop that is emitted.
struct LoopRange {
  Value begin;
  Value end;
  /// The number of iterations, if it is a constant.
  std::optional<int64_t> extent;
};

/// The depth, inside of the loops that the caller opens, below which every loop
/// is reduced by the write, so that it has accumulators in registers; the
/// number of loops if there is none.
unsigned getAccumulatorDepth(const StageWrite &write, ScheduleAttr schedule,
                             unsigned openedLoops);

/// Whether some reduced loop stands outside of the accumulators, or elements
/// are reached several times: results are then combined with memory.
bool combinesInMemory(const StageWrite &write, ScheduleAttr schedule,
                      unsigned openedLoops);

/// Whether the last copies of the unrolled loop may lie behind its end: they
/// then compute the last iteration again and do not store it.
bool masksUnroll(ScheduleAttr schedule);

/// Emits the loops of a stage as its schedule says. Loops are opened either by
/// the emitter itself (`emitNest`) or, where stages share them, by the caller
/// (`enter`, then `openLoop` inside of the loop).
class StageEmitter {
public:
  StageEmitter(OpBuilder &b, const Stage &stage, ScheduleAttr schedule,
               StageBindings bindings);

  /// The loop runs over a part of its range.
  void restrictLoop(unsigned loop, Value begin, Value end);
  /// Emits what stands between the loops at depth - 1 and depth.
  void enter(unsigned depth);
  /// Says that the caller has opened the loop at `depth`: `iv` is its variable,
  /// which steps by `unroll` if that is the loop to unroll.
  void openLoop(unsigned depth, Value iv);
  /// Emits all loops from `depth` on.
  void emitNest(unsigned depth);
  /// Emits all loops from `depth` on, the outermost over a part of its range.
  void emitNest(unsigned depth, const LoopRange &part);

  /// The extent of the loop at `depth`.
  LoopRange getFullRange(unsigned depth);

private:
  using Copies = SmallVector<Value, 4>;

  //===--------------------------------------------------------------------===//
  // Loops (StageEmitter.cpp)
  //===--------------------------------------------------------------------===//
  void findEnds();
  LoopRange getRange(unsigned depth);
  void setLoop(unsigned depth, Value iv);
  void finish(unsigned depth);
  void emitLoop(unsigned depth, LoopRange range);
  void emitSegment(unsigned depth, LoopRange range, int64_t step, bool unrolled,
                   bool masked);
  void emitBlocks(unsigned depth, LoopRange range, int64_t step, bool unrolled,
                  unsigned levels);
  void emitAnew(unsigned depth, SmallVector<Value> before,
                llvm::function_ref<void()> emit);
  int64_t getNestedIterations(unsigned depth) const;
  void emitSteps(unsigned depth, LoopRange range, int64_t step, bool unrolled,
                 bool masked);
  void emitBody(unsigned depth, Value iv, Value end, bool unrolled,
                bool masked);
  LoopRange splitOff(LoopRange &range, int64_t step);
  Value emitIsWhole();
  Value emitClamp(Value iv);
  Value emitIsInside(unsigned copy);
  int64_t getLoop(unsigned depth) const {
    return schedule.getLevels()[depth].dim;
  }
  bool isVectorLoop(int64_t loop) const {
    return lanes > 1 && loop == vectorLoop;
  }

  //===--------------------------------------------------------------------===//
  // Tiles (StageTiles.cpp)
  //===--------------------------------------------------------------------===//
  void emitTiles(unsigned depth, LoopRange range);
  void emitTileBlock(unsigned depth, LoopRange rows);
  void emitTileLoop(LoopRange range, llvm::function_ref<void(Value)> emit);
  void emitTile(unsigned depth, Value row, Value rowEnd, Value lane,
                Value laneEnd);
  void prefetchTile(unsigned depth, Value lane);
  bool isTransposed(const StagePlace &place) const;
  void swapTile();
  void emitTileRead(const StageRead &read);
  void storeTile(const StageWrite &write);
  Value emitIsCopyLeft(unsigned copy);
  Value emitCopyMask(unsigned copy);

  //===--------------------------------------------------------------------===//
  // Accumulators (StageEmitter.cpp)
  //===--------------------------------------------------------------------===//
  SmallVector<Value> getActive(unsigned depth);
  void setActive(unsigned depth, ValueRange values);
  SmallVector<Value> getIdentities(unsigned depth);
  SmallVector<Value> combineActive(unsigned depth, ValueRange before,
                                   ValueRange after);
  void accumulate(unsigned write);
  void store(unsigned write);
  void emitInitialisation(const StageWrite &write, Value buffer);

  //===--------------------------------------------------------------------===//
  // Values (StageValues.cpp)
  //===--------------------------------------------------------------------===//
  void emitRead(const StageRead &read);
  Value emitReadCopy(const StageRead &read, unsigned copy);
  Value emitFill(const StageRead &read);
  Value emitGuardedScalar(const StageRead &read, Value buffer, Value guard,
                          unsigned copy);
  Value emitGuardedVector(const StageRead &read, Value buffer, Value guard,
                          Value mask, unsigned copy);
  void emitOperation(Operation *op);
  Value emitElementwise(Operation *op, unsigned copy);
  Value emitGenerator(Operation *op, unsigned copy);
  Value getValue(Value value, unsigned copy) const;
  unsigned getNumCopies(Value value) const;

  /// Loop variables in one copy; the vector loop's is that of lane 0, or all
  /// lanes as a vector of index.
  SmallVector<Value> getLoopValues(unsigned copy, bool asVector);
  Value emitExpr(AffineExpr expr, unsigned copy, bool asVector = false);
  bool dependsOnVector(AffineExpr expr) const {
    return isVectorOpen() && stage.dependsOn(expr, vectorLoop);
  }
  bool isVectorOpen() const {
    return lanes > 1 && loopVariables[vectorLoop] != nullptr;
  }
  /// Adds the checks to a scalar guard and to a mask of lanes; null is "all".
  void addChecks(ArrayRef<AffineExpr> checks, unsigned copy, Value &guard,
                 Value &mask);
  /// A mask of lanes that is the conjunction of both; null if both are.
  Value mergeMask(Value guard, Value mask);

  /// Loads and stores at a place, for all lanes if the vector loop is open and
  /// `asVector`. Masks may be null.
  Value emitLoad(const StagePlace &place, Value buffer, Type element,
                 unsigned copy, bool asVector, Value mask, Value fill);
  void emitStore(const StagePlace &place, Value buffer, Type element,
                 unsigned copy, bool asVector, Value mask, Value value,
                 llvm::MaybeAlign stream = {});
  /// The alignment of the vectors that go past the caches, if any do.
  llvm::MaybeAlign getStream(const StageWrite &write) const;
  Value toComputeType(Value value, Type element);
  Value toMemoryType(Value value, Type element);
  Value emitLaneOffsets(AffineExpr offset, unsigned copy, Value &base);

  //===--------------------------------------------------------------------===//
  // Short steps (StageRuns.cpp)
  //===--------------------------------------------------------------------===//
  /// Loads lanes a short step apart, as memory holds them.
  Value emitRunLoad(const StagePlace &place, Value buffer, VectorType type,
                    int64_t step, unsigned copy, Value mask, Value passThrough);
  /// Whether the copies of the unrolled loop, taken in turn, are neighbours.
  bool isInterleaved(const StageWrite &write) const;
  Copies emitInterleaved(ArrayRef<Value> phases);
  void storeInterleaved(const StageWrite &write, ArrayRef<Value> phases);

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  ScheduleAttr schedule;
  StageBindings bindings;
  int64_t lanes, vectorLoop, unroll, unrollLoop;
  /// The rows of tiles, which are copies as those of an unrolled loop; or -1.
  int64_t tileLoop;

  /// Depth at which each read and operation is emitted: inside of all loops
  /// that it depends on and of no other.
  llvm::DenseMap<Value, unsigned> depthOf;
  /// Depth at which a write's accumulators start: all deeper loops are reduced.
  SmallVector<unsigned> startOf;
  SmallVector<unsigned> positionOf;
  /// Conditions of the writes that end a reduced loop early, by loop; null for
  /// loops that run to their extent.
  SmallVector<AffineExpr> ends;

  SmallVector<Value> loopVariables;
  /// Loops that run over a part of their range.
  llvm::DenseMap<unsigned, LoopRange> restricted;
  /// The part of the loop at `blockDepth` that is emitted, if it is not all of
  /// it.
  std::optional<LoopRange> block;
  unsigned blockDepth = 0;
  bool isUnrolled = false;
  /// Copies of the unrolled loop may lie behind its end.
  bool isClamped;
  /// Lanes that belong to the vector loop's range; null where all do.
  Value tailMask;
  /// Copies that belong to the range of a tile's rows; null where all do. The
  /// other two say the same of the tile when it is transposed.
  Value copiesLeft, transposedMask, transposedLeft;
  llvm::DenseMap<Value, Copies> values;
  /// Accumulators of each write; empty where it has none.
  SmallVector<Copies> accumulators;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_STAGEEMITTER_H
