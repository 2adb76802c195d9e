//===- StageRoles.cpp - Roles of stages beside a contraction --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::sumsProducts(FusedOp stage) {
  OperandRange yielded = stage.getYield().getOperands();
  auto reduce = yielded.size() == 1
                    ? yielded.front().getDefiningOp<ReindexReduceOpInterface>()
                    : ReindexReduceOpInterface();
  return reduce && reduce.getReduceKind() == Combiner::Add &&
         isa_and_nonnull<MulOp>(reduce.getSource().getDefiningOp());
}

LogicalResult metaop::verifyRole(FusedOp stage) {
  std::optional<StageRole> role = stage.getRole();
  if (!role)
    return success();
  if (!stage.getScheduleAttr())
    return stage.emitOpError("(S4) has the role `")
           << stringifyStageRole(*role)
           << "`, but no schedule, whose loops the role is about";
  if (role == StageRole::Contraction && !sumsProducts(stage))
    return stage.emitOpError("(S4) has the role `contraction`, but expects "
                             "one result that is a sum of products");
  return success();
}

LogicalResult metaop::verifyRoles(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  FusedOp contraction = findContraction(body);
  bool isBehind = false;
  for (auto stage : body.getOps<FusedOp>()) {
    std::optional<StageRole> role = stage.getRole();
    if (stage == contraction) {
      isBehind = true;
      continue;
    }
    StringRef given = role ? stringifyStageRole(*role) : "";
    if (!contraction && role)
      return stage.emitOpError("(S5) has the role `")
             << given << "`, but its kernel has no contraction";
    StageRole expected = isBehind ? StageRole::Epilogue : StageRole::Packing;
    if (contraction && role != expected)
      return stage.emitOpError("(S5) stands ")
             << (isBehind ? "behind" : "before")
             << " the contraction of its kernel and expects the role `"
             << stringifyStageRole(expected) << "`, given "
             << (role ? "`" + given.str() + "`" : "none");
  }
  return success();
}

FusedOp metaop::findContraction(Block &kernel) {
  for (auto stage : kernel.getOps<FusedOp>())
    if (stage.hasRole(StageRole::Contraction))
      return stage;
  return nullptr;
}
