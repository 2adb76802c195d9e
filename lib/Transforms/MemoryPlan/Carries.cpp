//===- Carries.cpp - Where loops have what they carry ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carry of a loop has one of three kinds of memory:
//
// * One place, if the body makes the next value over this trip's
//   (OnePlace.cpp). The initial value is copied there, unless it can be made
//   there, for lack of other readers. Where each trip computes all of the
//   value, only then is one place better than two.
// * A row, if a scan makes that of the next value anyway.
// * Two places in turn.
//
//===----------------------------------------------------------------------===//

#include "LiveRanges.h"

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

bool LiveRanges::mayBeRow(Value value) const {
  int64_t bytes = countBytes(value.getType());
  if (bytes % partAlignment != 0)
    return false;
  Operation *maker = value.getDefiningOp();
  if (bytes % kBufferAlignment == 0 || !maker)
    return true;
  return !maker
              ->walk([&](func::CallOp call) {
                bool isByFile =
                    llvm::any_of(call->getResults(), [&](OpResult result) {
                      return isScheduledByFile(result, symbols);
                    });
                return isByFile ? WalkResult::interrupt()
                                : WalkResult::advance();
              })
              .wasInterrupted();
}

bool LiveRanges::isMadeInRow(OpOperand &yielded) const {
  auto loop = cast<ScanOp>(yielded.getOwner()->getParentOp());
  Value root = getRoot(yielded.get());
  unsigned number = yielded.getOperandNumber() - loop.getNumCarries();
  return isOwn(yielded) && mayBeRow(root) &&
         llvm::none_of(loop.getYieldedRows().take_front(number),
                       [&](Value other) { return getRoot(other) == root; });
}

/// Returns the rows of which what a scan yields for a carry is one; null where
/// it is none.
Value LiveRanges::findRows(ScanOp loop, Value next) const {
  auto rows = loop.getYield()->getOpOperands().drop_front(loop.getNumCarries());
  for (auto [row, stacked] : llvm::zip_equal(rows, loop.getStackedRows()))
    if (isWhole(next) && getRoot(row.get()) == getRoot(next) &&
        isMadeInRow(row))
      return stacked;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void LiveRanges::choosePlaces(Operation *loop) {
  for (auto [argument, initial, yielded] : llvm::zip_equal(
           getCarried(loop), getInitials(loop), getNextValues(loop))) {
    if (auto place = findOnePlace(argument, yielded, initial)) {
      for (Value value : place->values) {
        placeOf[value] = argument;
        // Both blocks of a branch have its result where it is carried.
        sources.erase(value);
      }
      inOnePlace[argument] = place->values.takeVector();
      continue;
    }
    sources[argument].push_back(getRoot(initial));
    auto scan = dyn_cast<ScanOp>(loop);
    if (Value stacked = scan ? findRows(scan, yielded.get()) : Value()) {
      carriedRows[argument] = stacked;
      sources[argument].push_back(stacked);
    }
  }
}
