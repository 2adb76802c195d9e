//===- ThreadPlan.cpp - Dimensions on blocks and threads ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPlan.h"

using namespace mlir;
using namespace mlir::metaop;

/// Levels of the grid, the run of pieces that a block has, loops of the block,
/// threads, and loops of each thread.
ScheduleFields ThreadPlan::build() const {
  ScheduleFields fields;
  auto add = [&](LevelKind kind, int64_t dim, int64_t step) {
    fields.levels.push_back({kind, dim, step});
  };
  bool hasClusters =
      llvm::any_of(dims, [](const DimPlan &plan) { return plan.cluster > 1; });
  LevelKind grid = hasClusters ? LevelKind::Cluster : LevelKind::Block;
  for (int64_t dim : order)
    if (const DimPlan &plan = dims[dim]; plan.isGrid && plan.cluster == 1)
      add(grid, dim, plan.run * plan.getSpan());
  for (int64_t dim : order)
    if (const DimPlan &plan = dims[dim]; plan.cluster > 1)
      add(LevelKind::Cluster, dim, plan.cluster * plan.clusterPart);
  for (int64_t dim : order)
    if (const DimPlan &plan = dims[dim]; plan.cluster > 1)
      add(LevelKind::Block, dim, plan.clusterPart);
  for (int64_t dim : order)
    if (const DimPlan &plan = dims[dim]; plan.run > 1)
      add(LevelKind::Step, dim, plan.getSpan());
  for (int64_t dim : order) {
    const DimPlan &plan = dims[dim];
    if (plan.ownBlock > 0)
      add(LevelKind::Step, dim, plan.ownBlock);
    else if (!plan.isOwnLoop && !(plan.isGrid && plan.cluster == 1))
      add(LevelKind::Step, dim, plan.getSpan());
  }
  for (int64_t dim : order)
    if (const DimPlan &plan = dims[dim]; plan.threads > 1)
      add(LevelKind::Thread, dim, plan.lanes);
  for (int64_t dim : order)
    if (const DimPlan &plan = dims[dim]; plan.isOwnLoop)
      add(LevelKind::Step, dim, plan.getTile());
  for (auto [dim, plan] : llvm::enumerate(dims)) {
    if (plan.getTile() > 1)
      fields.tile.push_back({static_cast<int64_t>(dim), plan.getTile()});
    if (plan.lanes > 1)
      fields.lanes = {static_cast<int64_t>(dim), plan.lanes};
  }
  return fields;
}
