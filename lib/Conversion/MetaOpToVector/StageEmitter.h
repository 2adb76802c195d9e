//===- StageEmitter.h - Loops of one stage -------------------- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of a stage, as its schedule says. What is computed in them is the
// body's affair (`UnrolledBody`), what they carry that of the reductions
// (`Accumulators`) and of the prefixes (`Prefixes`).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_STAGEEMITTER_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_STAGEEMITTER_H

#include "Accumulators.h"
#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Conversion/StageBody/Prefixes.h"
#include "MetaOps/Conversion/StageBody/StageBindings.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "UnrolledBody.h"

namespace mlir::metaop {

/// Leading loops of a stage that stand around it.
struct OuterLoops {
  /// Those that the kernel's own range runs over.
  unsigned parallel = 0;
  /// All that the caller opens, those included.
  unsigned opened = 0;
  /// See ScheduledStage.
  ArrayRef<unsigned> localLoops;
};

/// Emits the loops of a stage as its schedule says. Loops are opened either by
/// the emitter itself (`emitNest`) or, where stages share them, by the caller
/// (`enter`, then `openLoop` inside of the loop).
class StageEmitter {
public:
  StageEmitter(OpBuilder &b, const Stage &stage, ScheduleAttr schedule,
               StageBindings bindings, OuterLoops outer);

  /// The loop runs over a part of its range.
  void restrictLoop(unsigned loop, Value begin, Value end);
  /// Emits what stands between the loops at depth - 1 and depth.
  void enter(unsigned depth);
  /// Says that the caller has opened the loop at `depth`: `iv` is its variable,
  /// which steps by a strip if a further loop of the dimension stands inside,
  /// and else by `unroll` if that is the loop to unroll.
  void openLoop(unsigned depth, Value iv);
  /// Emits all loops from `depth` on.
  void emitNest(unsigned depth);

  /// The range of the loop at `depth`: all of its dimension, or the open strip.
  LoopRange getFullRange(unsigned depth);

private:
  //===--------------------------------------------------------------------===//
  // Loops (StageEmitter.cpp)
  //===--------------------------------------------------------------------===//
  /// How the iterations of a loop are emitted that follow each other.
  struct Segment {
    LoopRange range;
    int64_t step = 1;
    bool isUnrolled = false;
    /// The lanes behind the range's end are masked.
    bool isMasked = false;
  };

  void findDepths();
  void findEnds();
  bool isEnd(AffineExpr check, unsigned depth) const;
  LoopRange getRange(unsigned depth);
  void openStrip(unsigned depth, Value iv);
  SmallVector<PartOfLoop> getOpenParts() const;
  unsigned getLocalLoops(size_t write) const {
    return write < outer.localLoops.size() ? outer.localLoops[write] : 0;
  }
  void emitLoop(unsigned depth, LoopRange range);
  void emitUnrolled(unsigned depth);
  void emitCarried(unsigned depth);
  void emitStrips(unsigned depth, const LoopRange &range);
  void emitSegment(unsigned depth, const Segment &segment);
  void emitBlocks(unsigned depth, const Segment &segment, unsigned levels);
  void emitSteps(unsigned depth, const Segment &segment);
  int64_t getIterations(unsigned depth) const;
  int64_t getNestedIterations(unsigned depth) const;
  int64_t getLoop(unsigned depth) const {
    return schedule.getLevels()[depth].dim;
  }
  bool isVectorLoop(int64_t loop) const {
    return lanes > 1 && loop == schedule.getVectorDim();
  }

  //===--------------------------------------------------------------------===//
  // Tiles (StageTiles.cpp)
  //===--------------------------------------------------------------------===//
  bool isTileLoop(unsigned depth) const {
    return schedule.getTranspose() >= 0 && depth + 2 == schedule.getNumLevels();
  }
  void emitTiles(unsigned depth);
  void emitCarriedTiles(unsigned depth);
  LoopRange splitOffTiles(unsigned depth, LoopRange &range);
  void emitByLanes(const LoopRange &range,
                   llvm::function_ref<void(Value)> emit);
  /// An iteration of a loop of a tile; the end is null where it is whole.
  struct TileSide {
    Value at;
    Value end;
  };
  void emitTile(unsigned depth, TileSide outer, TileSide inner);
  UnrolledBody::Tail emitTail(Value at, Value end);
  void prefetchTile();

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  ScheduleAttr schedule;
  StageBindings bindings;
  OuterLoops outer;
  int64_t lanes;
  UnrolledBody body;
  Accumulators accumulators;
  Prefixes prefixes;

  /// Depth at which each read and operation is emitted: inside of all loops
  /// that it depends on and of no other.
  llvm::DenseMap<Value, unsigned> depthOf;
  /// Conditions of the writes that end a reduced loop early, by loop; null for
  /// loops that run to their extent.
  SmallVector<AffineExpr> ends;
  /// Loops that run over a part of their range, such as an open strip.
  llvm::DenseMap<unsigned, LoopRange> restricted;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_STAGEEMITTER_H
