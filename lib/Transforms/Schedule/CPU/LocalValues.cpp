//===- LocalValues.cpp - Values that stay inside of a kernel --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/CPU/LocalValues.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns how many loops a stage shares with all later ones that read its
/// result.
static unsigned getNumShared(ArrayRef<ScheduledStage> stages, OpResult result) {
  unsigned numShared = stages.size() > 1 ? UINT_MAX : 0, least = UINT_MAX;
  bool isBehind = false;
  for (const ScheduledStage &scheduled : stages) {
    if (isBehind)
      least = std::min<unsigned>(least, scheduled.schedule.getShared());
    isBehind |= scheduled.stage.op == result.getOwner();
    FusedOp op = scheduled.stage.op;
    if (llvm::is_contained(op.getInputs(), result))
      numShared = std::min(numShared, least);
  }
  return numShared == UINT_MAX ? 0 : numShared;
}

SmallVector<LocalValue>
metaop::findLocalValues(ArrayRef<ScheduledStage> stages,
                        llvm::function_ref<bool(OpResult)> hasBuffer) {
  SmallVector<LocalValue> values;
  for (auto [i, each] : llvm::enumerate(stages))
    for (auto [j, write] : llvm::enumerate(each.stage.writes)) {
      OpResult result = each.stage.op->getResult(write.result);
      if (hasBuffer(result))
        continue;
      unsigned numShared = getNumShared(stages, result);
      SmallVector<AffineExpr> shape =
          getLocalShape(write, each.schedule.getDims(numShared));
      std::optional<int64_t> size = getNumElements(shape);
      values.push_back({result, static_cast<unsigned>(i),
                        static_cast<unsigned>(j), numShared, std::move(shape),
                        size});
    }
  return values;
}
