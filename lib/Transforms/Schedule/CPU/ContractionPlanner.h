//===- ContractionPlanner.h - Search for contraction plans ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans are put together in ContractionPlan.cpp, their rows in
// ContractionRows.cpp, and priced in ContractionCost.cpp; what conditions leave
// of them is in ContractionConditions.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_CONTRACTIONPLANNER_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_CONTRACTIONPLANNER_H

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/CPU/ContractionPlan.h"

namespace mlir::metaop {

/// The part of the cycles of a plan below which another one is taken that is
/// not as near in memory.
inline constexpr double kClearlyLess = 0.9;

/// Returns the cycles of a dimension in tiles of so many rows, of which the
/// last is computed whole.
double getRowCycles(int64_t extent, int64_t size, int64_t numVectors);

/// Chooses the plan of a contraction.
class ContractionPlanner {
public:
  ContractionPlanner(const Stage &stage, const Contraction &contraction,
                     const Processor &processor, const Packing &packing)
      : stage(stage), contraction(contraction), processor(processor),
        packing(packing), write(stage.writes.front()),
        place(write.place.offset), checks(write.place.rangeChecks) {}

  std::optional<ContractionPlan> plan();

private:
  int64_t getExtent(unsigned dim) const { return stage.getClassExtent(dim); }
  int64_t count(const llvm::SmallBitVector &dims) const {
    int64_t points = 1;
    for (unsigned dim : dims.set_bits())
      points = multiplyCounts(points, getExtent(dim));
    return points;
  }
  int64_t countElements(const StageRead &read) const;
  int64_t countResults() const;
  bool isStepVarying(const StageRead &read, unsigned dim) const;
  std::optional<ContractionPlan> chooseLanes(bool mayMove) const;
  AffineExpr getPhasesPlace() const;
  bool isChecked(unsigned dim) const;
  double getUsedPart(const ContractionPlan &plan) const;
  double getLinesFactor(const ContractionPlan &plan) const;
  std::optional<ContractionPlan> plan(unsigned vectors, unsigned lanesDim,
                                      int64_t maxTested, bool movesRows) const;
  bool chooseBox(ContractionPlan &plan) const;
  bool canMoveRows() const;
  bool chooseRows(ContractionPlan &plan, int64_t maxRows,
                  int64_t maxTested) const;
  int64_t chooseSize(unsigned dim, int64_t most) const;
  std::optional<TileDim> chooseFurther(ArrayRef<unsigned> dims, int64_t most,
                                       int64_t rows) const;
  double getTileCycles(const ContractionPlan &plan) const;
  double getBytes(const Contraction::Factor &factor) const;
  double getPackCycles(const Contraction::Factor &factor, bool isTransposed,
                       int64_t points) const;
  bool needsPanels(const Contraction::Factor &factor, unsigned lanesDim) const;
  int64_t getNumVectors(unsigned lanesDim) const;
  bool isPanel(const Contraction::Factor &factor, int64_t step) const;
  double getFarCycles(const Contraction::Factor &factor, bool isCopied) const;
  int64_t getStayingSteps(const ContractionPlan &plan) const;
  bool chooseVectors(ContractionPlan &plan) const;
  bool canPad(const Contraction::Factor &factor) const;
  double getSkipCycles(const Contraction::Factor &factor,
                       const ContractionPlan &plan) const;
  double getStayingCycles(const Contraction::Factor &factor) const;
  double getStoreCycles(const ContractionPlan &plan) const;
  double getInterleaveCycles() const;
  double getMoveCycles() const;

  const Stage &stage;
  const Contraction &contraction;
  const Processor &processor;
  const Packing packing;
  const StageWrite &write;
  /// The offset of a result: where it is in the end, or among its phase; and
  /// what its tensor has to hold for that.
  AffineExpr place;
  SmallVector<AffineExpr> checks;
  /// By the conditions that are tested outside of tiles.
  mutable SmallVector<std::pair<SmallVector<AffineExpr>, double>> usedParts;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_CONTRACTIONPLANNER_H
