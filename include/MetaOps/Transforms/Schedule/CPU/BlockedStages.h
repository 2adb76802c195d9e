//===- BlockedStages.h - Contractions and what is around them ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_BLOCKEDSTAGES_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_BLOCKEDSTAGES_H

#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"
#include "MetaOps/Transforms/Schedule/Stage/Epilogues.h"

namespace mlir::metaop {

/// The stages of a kernel that is a contraction with blocks or a tile: some
/// before it that pack its factors, some behind it that compute from its sums.
/// They share its outer levels.
struct BlockedStages {
  SmallVector<ScheduledStage *, 2> packings;
  ScheduledStage *contraction = nullptr;
  SmallVector<ScheduledStage *, 1> epilogues;

  /// Finds them by their roles; none where the kernel is another one, or the
  /// contraction has loops as any stage has them.
  static std::optional<BlockedStages>
  find(MutableArrayRef<ScheduledStage> stages);

  /// Return the contraction's levels outside of a packing, and of the
  /// epilogues. The last packing shares as many as the contraction says; one
  /// before it as many of these as it depends on.
  ArrayRef<LoopLevel> getPackingLevels(const ScheduledStage &packing) const;
  ArrayRef<LoopLevel> getEpilogueLevels() const;

  /// Build what is packed at a time, and the sums between two runs of the
  /// epilogues. They fail, with a diagnostic, where the schedules do not share
  /// the same blocks, or share too much.
  FailureOr<SharedBlock> buildPanel(const ScheduledStage &packing) const;
  FailureOr<EpilogueChain> buildChain() const;

  /// Returns the epilogues inside of the blocks that they share with the
  /// contraction: a loop tree of its own.
  SmallVector<ScheduledStage, 1> getInside(const EpilogueChain &chain) const;

  /// Fails, with a diagnostic, where a stage breaks a rule.
  LogicalResult verify() const;
};

/// Gives the stages of a kernel their roles where a user has written schedules
/// alone: the first contraction in blocks or tiles is the contraction, what
/// stands before it packs, and what is behind it are epilogues.
LogicalResult giveRoles(KernelOp kernel);

/// Returns the loops inside of the first levels.
ScheduleAttr dropOuterLevels(ScheduleAttr schedule, size_t numOuter,
                             int64_t shared);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_BLOCKEDSTAGES_H
