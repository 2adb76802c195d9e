//===- ContractionPlan.h - Tiles and panels of a contraction ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_CONTRACTIONPLAN_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_CONTRACTIONPLAN_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"

namespace mlir::metaop {

/// Plan by which a contraction is best computed: which factor is read by
/// vectors, how large the tile is, and what has to be packed for that.
struct ContractionPlan {
  /// The factor of the vectors; elements of the other one are broadcast.
  unsigned vectors = 1;
  int64_t lanesDim = -1;
  int64_t lanes = 1;
  /// Iterations of the lanes' dimension in a tile: some vectors.
  int64_t width = 1;
  /// Own dimensions of the other factor that are in the tile.
  SmallVector<TileDim, 2> rows;
  /// The row along which results are contiguous, if they are not so along the
  /// lanes; -1 else.
  int64_t transpose = -1;
  /// The vectors are copied into panels as wide as the tile, in the order in
  /// which they are read.
  bool packsVectors = false;
  /// The other factor is copied with what surrounds it (its padding), so that
  /// nothing about its places is checked, and without what is stepped over.
  bool packsBroadcast = false;
  /// Vectors are read where they lie, in panels that stay in the first cache
  /// until all rows have passed by.
  bool panelsStay = false;
  /// The steps, at most, of a block of the sum; what one has added up goes to
  /// memory.
  int64_t sumBlock = 1;
  /// Results that several phases interleave are computed phase by phase, each
  /// contiguous, and interleaved behind.
  bool splitsPhases = false;
  /// The other factor is copied, and results are computed, with the rows of the
  /// tile inside; results are put into their order behind.
  bool movesRows = false;
  /// Predicted processor cycles.
  double cycles = 0;

  /// Nothing has to be packed, or it has been.
  bool isPacked() const {
    return !packsVectors && !packsBroadcast && !splitsPhases && !movesRows;
  }
};

/// The loop that alone numbers an index, in steps of more than one, and the
/// step. What lies between is not read.
std::optional<std::pair<unsigned, int64_t>> findOnlyStep(const Stage &stage,
                                                         AffineExpr index);

/// The loops that number a dimension by `steps * stride + phase`.
struct ResultPhase {
  unsigned steps, phase;
  int64_t stride;
};

/// Returns the loops of an index of a contraction's result if its dimension
/// consists of phases, as those of the gradient of a convolution with strides
/// do.
std::optional<ResultPhase> findPhase(const Stage &stage, AffineExpr index);

/// Returns whether an iteration for which the check does not hold reads outside
/// of the tensor, where it is taken to be zero: then it adds nothing.
bool impliesCheck(const StageRead &read, AffineExpr check);

/// Returns true if conditions of the sum depend on the loop.
bool isTested(const StageWrite &write, unsigned loop);

/// Returns true if the expression depends on dimensions of the plan's rows.
bool dependsOnRows(const ContractionPlan &plan, AffineExpr expr);

/// Set if the check depends on dimensions of the plan's tile, all of whose
/// iterations are computed at once.
bool dependsOnTile(const ContractionPlan &plan, AffineExpr check);

/// Says of the factors of a contraction whether they may be packed.
struct Packing {
  bool isAllowed = false;
  /// Set for a factor that loops around the contraction leave as it is: it is
  /// packed before these.
  std::array<bool, 2> isBeforeLoops = {false, false};
};

/// Returns the plan of fewest cycles, with packing where that is allowed and
/// pays; none where extents are not known, or nothing but loops without a tile
/// will do.
std::optional<ContractionPlan> planContraction(const Stage &stage,
                                               const Contraction &contraction,
                                               const Processor &processor,
                                               const Packing &packing);

/// Returns true if a stage is a contraction that a plan fits, with packing
/// where that pays.
bool hasTile(const Stage &stage, const Processor &processor);

/// The schedule of a plan without packing.
ScheduleAttr scheduleContraction(const Stage &stage,
                                 const Contraction &contraction,
                                 const ContractionPlan &plan,
                                 const Processor &processor);

/// Both, where the stage is a contraction, as it is: packing is over.
std::optional<ScheduleAttr> chooseContraction(const Stage &stage,
                                              const Processor &processor);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_CONTRACTIONPLAN_H
