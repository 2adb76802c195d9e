//===- LoopOrder.h - Which loop stands where --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_LOOPORDER_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_LOOPORDER_H

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Report/DescribeStage.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Chooses the schedule of a stage.
class LoopOrder {
public:
  LoopOrder(const Stage &stage, const Processor &processor, bool isAlone,
            ArrayRef<int64_t> outer)
      : stage(stage), numLoops(stage.getNumLoops()),
        vectorBits(processor.vectorBits), registers(processor.registers),
        isAlone(isAlone), outer(outer), code(stage.getCodeSize()) {}

  ScheduleAttr choose();

private:
  /// Enough iterations for any number of threads to be kept busy.
  static constexpr int64_t kEnoughParallelism = 128;
  /// The bodies of a vector loop, whole vectors and the rest, and those of
  /// tiles, which may lack rows or lanes.
  static constexpr int64_t kLoopBodies = 2, kTileBodies = 3;

  int64_t getExtent(unsigned loop) const {
    int64_t extent = stage.getPlannedExtent(loop);
    return ShapedType::isDynamic(extent) ? kAssumedExtent : extent;
  }
  /// The iterations of the vector loop in a strip, or all if there are none.
  int64_t getColumns(unsigned vectorLoop) const {
    return strip > 0 ? strip : getExtent(vectorLoop);
  }
  /// The step of an access along a loop in elements, if it is a constant.
  std::optional<int64_t> getStep(const StagePlace &place, unsigned loop) const {
    return stage.getStep(place.offset, loop);
  }
  /// Returns whether so many copies of the body are a kernel of bounded size.
  bool fits(int64_t copies) const { return copies * code <= kMaxKernelCode; }

  // The order (LoopOrder.cpp)
  double getMeanStep(const StagePlace &place, unsigned loop) const;
  std::optional<int64_t> getPlannedStep(AffineMap map, Type type,
                                        unsigned loop) const;
  double getTotalStep(unsigned loop) const;
  void sortByContinuity(SmallVectorImpl<int64_t> &loops) const;
  void insertStrips(SmallVectorImpl<int64_t> &kept, int64_t vectorLoop) const;
  int64_t chooseGrain(int64_t vectorLoop, int64_t step) const;

  // Vectors, and tiles of them (VectorLoop.cpp). A loop with its lanes is -1
  // and 1 where there is none.
  int64_t getLaneBytes() const;
  bool reducesFew() const;
  int64_t getLanes(unsigned loop) const;
  double getAccessCost(const StagePlace &place, unsigned loop, int64_t lanes,
                       bool isWrite) const;
  std::optional<double> getVectorCost(unsigned loop, int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseVector() const;
  std::optional<double> getTileCost(unsigned loop, unsigned rows,
                                    int64_t lanes) const;
  int64_t chooseTile(int64_t &vectorLoop, int64_t &lanes) const;
  ScheduleAttr makeCarriedTileSchedule(int64_t vectorLoop, int64_t lanes) const;
  ScheduleAttr makeTileSchedule(int64_t vectorLoop, int64_t lanes,
                                int64_t tileLoop) const;

  // Iterations side by side (UnrolledLoop.cpp)
  double getSharedCost(unsigned loop, int64_t vectorLoop, bool moving) const;
  int64_t getUnrollFactor(unsigned loop) const;
  LevelTail getUnrollTail(int64_t loop) const;
  bool isWalkedByRows(int64_t vectorLoop) const;
  bool addsRows(int64_t vectorLoop, int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseAddedRows(int64_t vectorLoop) const;
  std::optional<unsigned> choosePhases(unsigned vectorLoop,
                                       int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseChains(int64_t vectorLoop,
                                           int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseVectors(int64_t vectorLoop,
                                            int64_t lanes) const;
  std::pair<int64_t, int64_t> chooseUnroll(int64_t vectorLoop,
                                           int64_t lanes) const;
  bool isWindow(unsigned loop) const;
  SmallVector<int64_t> chooseWindow(ArrayRef<int64_t> reduced,
                                    int64_t copies) const;

  const Stage &stage;
  unsigned numLoops;
  unsigned vectorBits;
  int64_t registers;
  /// True if no other stage is in the kernel, so that a dimension may have two
  /// loops.
  bool isAlone;
  /// Loops that stand outside, in this order, as other stages share them.
  ArrayRef<int64_t> outer;
  /// The step of a further level of the vector loop, over its strips, which
  /// stands outside; 0 if there is none.
  int64_t strip = 0;
  /// Instructions of one copy of the body.
  int64_t code;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_LOOPORDER_H
