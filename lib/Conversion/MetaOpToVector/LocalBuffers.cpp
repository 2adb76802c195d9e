//===- LocalBuffers.cpp - Memory inside of a kernel -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalBuffers.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// The loops that a stage shares with all later ones that read its result.
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

/// A value that is local to an iteration of shared loops is memory for what one
/// iteration writes: all who write and read it do so at places inside of that.
static void moveInside(MutableArrayRef<ScheduledStage> stages, OpResult result,
                       StageWrite &write, ScheduledStage &writer,
                       unsigned numShared, ArrayRef<AffineExpr> shape) {
  write.place.offset =
      getLocalOffset(write.map, shape, writer.schedule.getDims(numShared));
  for (ScheduledStage &scheduled : stages) {
    FusedOp op = scheduled.stage.op;
    for (StageRead &read : scheduled.stage.reads)
      if (getOuterValue(op, read.source) == result)
        read.place.offset = getLocalOffset(
            read.map, shape, scheduled.schedule.getDims(numShared));
  }
}

LogicalResult metaop::bindLocalBuffers(OpBuilder &b, Location loc,
                                       MutableArrayRef<ScheduledStage> stages,
                                       llvm::DenseMap<Value, Value> &buffers) {
  int64_t left = kMaxLocalBytes;
  for (ScheduledStage &scheduled : stages)
    for (StageWrite &write : scheduled.stage.writes) {
      OpResult result = scheduled.stage.op->getResult(write.result);
      if (buffers.lookup(result))
        continue;
      // Neither yielded nor an argument: local to the kernel.
      unsigned numShared = getNumShared(stages, result);
      SmallVector<AffineExpr> shape =
          getLocalShape(write, scheduled.schedule.getDims(numShared));
      int64_t bytes = getElementBytes(result.getType());
      std::optional<int64_t> size = getNumElements(shape);
      if (!size || *size > left / bytes)
        return scheduled.stage.op.emitOpError(
                   "holds a value inside of the kernel that does not fit its "
                   "local memory of ")
               << kMaxLocalBytes << " bytes: " << result.getType();
      left -= *size * bytes;
      if (numShared > 0) {
        moveInside(stages, result, write, scheduled, numShared, shape);
        scheduled.localLoops.resize(scheduled.stage.writes.size());
        scheduled.localLoops[&write - scheduled.stage.writes.begin()] =
            numShared;
      }
      buffers[result] = emitLocalBuffer(
          b, loc, getElementTypeOrSelf(result.getType()), *size);
    }
  return success();
}
