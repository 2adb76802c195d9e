//===- StreamResults.cpp - Results stored past the caches -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A store to a line that is in no cache reads the line first, although all of
// it may be overwritten. Non-temporal stores fill a line in a buffer of the
// processor and send it to memory: an element-wise kernel that reads one tensor
// and writes another then moves two bytes for one instead of three.
//
// A result that is stored so is in no cache afterwards. That loses nothing
// where the result is larger than the caches: when it is read from its
// beginning, the end, written last, is what would be there. From twice the size
// on, no order of reading finds anything; below, results are left to the caches
// if another kernel of the program reads them.
//
// Lines have to be filled at once, and instructions for it demand alignment.
// Buffers begin at lines, so a vector is aligned if it begins at a multiple of
// its lanes: the loop along it starts at such multiples, in strips as well, and
// all other loops must step by them. A result that begins elsewhere, as a part
// of another value, is left to the caches when that is known
// (KeepInCaches.cpp).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Processor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

std::optional<int64_t> metaop::getStreamAlignment(const Stage &stage,
                                                  const StageWrite &write,
                                                  ScheduleAttr schedule) {
  int64_t lanes = schedule.getVectorWidth();
  if (write.kind || lanes == 1)
    return std::nullopt;
  AffineExpr offset = write.place.offset;
  int64_t along = schedule.getVectorDim();
  bool isTile = schedule.getTranspose() >= 0;
  if (isTile && stage.getStep(offset, along) != 1)
    along = schedule.getTranspose();

  // Halves of a line must follow each other at once, a tile's rows do not.
  int64_t bytes = lanes * getElementBytes(write.value.getType());
  if (bytes < kLineBytes && (bytes * 2 < kLineBytes || isTile ||
                             schedule.getLevels().back().dim != along))
    return std::nullopt;

  SmallVector<AffineExpr> zeros(stage.getNumLoops(),
                                getAffineConstantExpr(0, stage.getContext()));
  auto start = dyn_cast<AffineConstantExpr>(offset.replaceDims(zeros));
  if (!start || start.getValue() % lanes != 0)
    return std::nullopt;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    auto step = stage.getStep(offset, loop);
    if (!step || (loop == along ? *step != 1 : *step % lanes != 0))
      return std::nullopt;
  }
  return std::min(bytes, kLineBytes);
}

bool metaop::leavesKernel(FusedOp op, unsigned result) {
  return isa<KernelOp>(op->getParentOp()) &&
         llvm::any_of(op->getResult(result).getUsers(),
                      [](Operation *user) { return isa<YieldOp>(user); });
}

LogicalResult
metaop::verifyStream(FusedOp op, const Stage &stage, ScheduleAttr schedule,
                     llvm::function_ref<InFlightDiagnostic()> emitError) {
  for (int64_t result : schedule.getStream()) {
    if (result >= op->getNumResults())
      return emitError() << "the schedule streams result " << result
                         << ", but the stage has " << op->getNumResults();
    if (!leavesKernel(op, result))
      return emitError() << "the schedule streams result " << result
                         << ", which stays inside of the kernel";
    // The beginning of the first row is not known yet.
    if (op.getRowsOfResult(result))
      return emitError() << "the schedule streams result " << result
                         << ", which lies in rows of another value";
    for (const StageWrite &write : stage.writes)
      if (write.result == result && !getStreamAlignment(stage, write, schedule))
        return emitError() << "the schedule streams result " << result
                           << ", which it does not store by aligned vectors "
                              "that fill cache lines";
  }
  return success();
}

/// Returns whether a kernel reads the result after it is complete.
static bool isReadLater(FusedOp op, unsigned result) {
  auto kernel = cast<KernelOp>(op->getParentOp());
  for (auto [yielded, output] :
       llvm::zip_equal(kernel.getYield().getOperands(), kernel->getResults()))
    if (yielded == op->getResult(result) &&
        llvm::any_of(output.getUsers(), [](Operation *user) {
          return !user->hasTrait<OpTrait::IsTerminator>();
        }))
      return true;
  return false;
}

static bool isWorthStreaming(FusedOp op, unsigned result, int64_t cacheBytes) {
  auto type = cast<RankedTensorType>(op->getResult(result).getType());
  if (!type.hasStaticShape() || !leavesKernel(op, result))
    return false;
  // A stage that follows in the kernel finds what it reads in the first cache.
  if (!op->getResult(result).hasOneUse())
    return false;
  int64_t bytes = countBytes(type);
  return bytes >= 2 * cacheBytes ||
         (bytes >= cacheBytes && !isReadLater(op, result));
}

ScheduleAttr metaop::chooseStream(FusedOp op, const Stage &stage,
                                  ScheduleAttr schedule, int64_t cacheBytes) {
  SmallVector<int64_t> streamed;
  if (cacheBytes > 0)
    for (const StageWrite &write : stage.writes)
      if (isWorthStreaming(op, write.result, cacheBytes) &&
          getStreamAlignment(stage, write, schedule))
        streamed.push_back(write.result);
  llvm::sort(streamed);
  return schedule.withStream(streamed);
}
