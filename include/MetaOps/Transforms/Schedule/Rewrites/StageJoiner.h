//===- StageJoiner.h - Stages that share outer loops ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which stages may share loops is the same for all targets; whether they
// should, and in which schedules, is a target's.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REWRITES_STAGEJOINER_H
#define METAOPS_TRANSFORMS_SCHEDULE_REWRITES_STAGEJOINER_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>

namespace mlir::metaop {

/// Joining saves at least this part of the smaller side's traffic, as a
/// divisor: less is not worth loops that have to agree.
inline constexpr int64_t kMinSavedPart = 8;

/// A stage, and the loops that are the slots of its group.
struct JoinedStage {
  FusedOp op;
  Stage model;
  SmallVector<int64_t> slots;

  /// The stage's loops that are these slots of its group.
  SmallVector<int64_t> getLoops(ArrayRef<unsigned> order) const {
    return llvm::map_to_vector(order,
                               [&](unsigned slot) { return slots[slot]; });
  }
};

struct JoinSlot {
  int64_t extent = 1;
  /// The extent that decides, which is another where the extent varies.
  int64_t planned = 1;
  /// Iterations of stages that lose by sharing the loop.
  int64_t blockedWork = 0;
};

/// Stages that are to be one kernel. Slots are loops that each of them can have
/// outside, in parallel.
struct JoinGroup {
  SmallVector<KernelOp> kernels;
  SmallVector<std::shared_ptr<JoinedStage>> stages;
  SmallVector<JoinSlot> slots;
  /// Iterations of all stages.
  int64_t work = 0;
  /// Instructions of one copy of their bodies.
  int64_t code = 0;

  int64_t getRange() const;
  /// Operands and results of all kernels, once each.
  llvm::SetVector<Value> getTraffic() const;
  const JoinedStage &find(FusedOp op) const;
  const JoinedStage &getLargest() const;
  /// Returns whether a user wants a kernel of the group to be joined with
  /// another one.
  bool isForced() const;
};

/// A value that one stage writes and another reads.
struct JoinDependence {
  const JoinedStage *writer, *reader;
  const StageWrite *write;
  const StageRead *read;
};

/// Decision about a group.
struct JoinPlan {
  /// Of each stage.
  SmallVector<ScheduleAttr> schedules;
  /// Results of stages that only the group reads and that need no memory.
  llvm::SmallDenseSet<Value> local;
};

/// Iterations of all loops of a stage, as they are planned for.
int64_t countIterations(const Stage &stage);

/// The bytes that the two have in common, of those of all their operands and
/// results.
struct JoinTraffic {
  JoinTraffic(const JoinGroup &a, const JoinGroup &b);

  int64_t saved = 0;
  int64_t smaller = 0;
  /// Of both together.
  int64_t total = 0;
};

/// Rules of a target for stages that share loops.
class JoinTarget {
public:
  virtual ~JoinTarget() = default;

  /// The loops that a stage can have outside, the outermost first; none if it
  /// is to stay alone. `blocked` becomes one that it would lose much by
  /// sharing.
  virtual SmallVector<int64_t> getLoops(const Stage &stage,
                                        int64_t &blocked) const = 0;
  /// Returns whether there are schedules of the group, however slow.
  virtual bool canJoin(const JoinGroup &joined,
                       ArrayRef<JoinDependence> dependences) const {
    return true;
  }
  virtual bool isWorthIt(const JoinGroup &a, const JoinGroup &b,
                         const JoinGroup &joined,
                         ArrayRef<JoinDependence> dependences) const = 0;
  /// `leaves` says whether others than the group read a stage's result.
  virtual JoinPlan plan(const JoinGroup &group,
                        ArrayRef<JoinDependence> dependences,
                        llvm::function_ref<bool(Value)> leaves) const = 0;
  /// The schedule of a stage when it is known who reads its results.
  virtual ScheduleAttr finish(FusedOp op, const Stage &stage) const {
    return op.getScheduleAttr();
  }
};

/// Joins the kernels of a block. Fails, with a diagnostic, where a model cannot
/// be made, or what a user forces cannot be done.
LogicalResult joinStages(Block &block, const JoinTarget &target, bool report);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REWRITES_STAGEJOINER_H
