//===- LocalBuffers.cpp - Memory inside of a kernel -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocalBuffers.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/CPU/LocalValues.h"
#include "MetaOps/Transforms/Schedule/Stage/SharedLoops.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Moves the places of a value that is local to an iteration of shared loops,
/// of all who write and read it, into the memory for what one iteration writes.
static void moveInside(MutableArrayRef<ScheduledStage> stages,
                       const LocalValue &value) {
  ScheduledStage &writer = stages[value.stage];
  StageWrite &write = writer.stage.writes[value.write];
  write.place.offset = getLocalOffset(write.map, value.shape,
                                      writer.schedule.getDims(value.numShared));
  for (ScheduledStage &scheduled : stages) {
    FusedOp op = scheduled.stage.op;
    for (StageRead &read : scheduled.stage.reads)
      if (getOuterValue(op, read.source) == value.result)
        read.place.offset = getLocalOffset(
            read.map, value.shape, scheduled.schedule.getDims(value.numShared));
  }
  writer.localLoops.resize(writer.stage.writes.size());
  writer.localLoops[value.write] = value.numShared;
}

void metaop::bindLocalBuffers(OpBuilder &b, Location loc,
                              MutableArrayRef<ScheduledStage> stages,
                              llvm::DenseMap<Value, Value> &buffers) {
  auto hasBuffer = [&](OpResult result) {
    return static_cast<bool>(buffers.lookup(result));
  };
  for (const LocalValue &value : findLocalValues(stages, hasBuffer)) {
    assert(value.size && "local values have known extents: P17");
    if (value.numShared > 0)
      moveInside(stages, value);
    buffers[value.result] = emitLocalBuffer(
        b, loc, getElementTypeOrSelf(value.result.getType()), *value.size);
  }
}
