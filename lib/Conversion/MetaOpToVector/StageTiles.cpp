//===- StageTiles.cpp - Loops of transposed tiles -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of the tiles that are transposed in registers (UnrolledBody.cpp):
// one steps by rows, the other one by lanes, both by as many as vectors have
// lanes.
//
// Tiles are walked in blocks of rows, in which lanes are the outer loop: each
// cache line that a tile touches in part is touched again at once. Tiles at the
// borders have masks for rows and lanes; there are up to three bodies: whole
// tiles, those with rows left over, and those with lanes left over and perhaps
// rows.
//
//===----------------------------------------------------------------------===//

#include "AffineEmitter.h"
#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::metaop;

/// Rows that are walked before the next lanes.
static constexpr int64_t kBlockRows = 64;

/// Emits the tile loop over `range` and the vector loop.
void StageEmitter::emitTiles(unsigned depth, const LoopRange &range) {
  if (block || (range.extent && *range.extent <= kBlockRows)) {
    emitTileBlock(depth, range);
    return;
  }
  Value size = arith::ConstantIndexOp::create(b, loc, kBlockRows);
  emitFor(b, loc, range, size, [&](Value begin) {
    Value end = arith::AddIOp::create(b, loc, begin, size);
    end = arith::MinSIOp::create(b, loc, end, range.end);
    emitTileBlock(depth, {begin, end, std::nullopt});
  });
}

void StageEmitter::emitTileBlock(unsigned depth, const LoopRange &rows) {
  LoopRange rest = rows;
  LoopRange whole = splitOff(b, loc, rest, lanes);
  // Nothing is left over of any block if nothing is of the loop.
  if (!ShapedType::isDynamic(stage.getStaticExtent(getLoop(depth))))
    whole.end = rest.begin = arith::SelectOp::create(b, loc, body.emitIsWhole(),
                                                     rows.end, whole.end);
  LoopRange laneRest = getFullRange(depth + 1);
  LoopRange laneWhole = splitOff(b, loc, laneRest, lanes);
  emitByLanes(laneWhole, [&](Value lane) {
    emitByLanes(whole, [&](Value row) {
      emitTile(depth, row, nullptr, lane, nullptr);
    });
    emitByLanes(rest, [&](Value row) {
      emitTile(depth, row, rest.end, lane, nullptr);
    });
  });
  emitByLanes(laneRest, [&](Value lane) {
    emitByLanes(rows, [&](Value row) {
      emitTile(depth, row, rest.end, lane, laneRest.end);
    });
  });
}

/// Emits something inside of a loop of a tile.
void StageEmitter::emitByLanes(const LoopRange &range,
                               llvm::function_ref<void(Value)> emit) {
  emitFor(b, loc, range, arith::ConstantIndexOp::create(b, loc, lanes), emit);
}

/// What is left of a loop from `at` on; all lanes where it has no end.
UnrolledBody::Tail StageEmitter::emitTail(Value at, Value end) {
  if (!end)
    return {};
  Value left = arith::SubIOp::create(b, loc, end, at);
  return {left, emitTailMask(b, loc, left, lanes)};
}

/// Emits the tile at `row` and `lane`. Null ends say that it is whole.
void StageEmitter::emitTile(unsigned depth, Value row, Value rowEnd, Value lane,
                            Value laneEnd) {
  UnrolledBody::State outside = body.getState();
  body.maskRows(emitTail(row, rowEnd));
  body.maskLanes(emitTail(lane, laneEnd));
  body.openLoop(getLoop(depth), row);
  body.openLoop(getLoop(depth + 1), lane);
  body.openCopies();
  if (!rowEnd && !laneEnd)
    prefetchTile(depth + 1, lane);
  enter(depth + 1);
  emitNest(depth + 2);
  body.setState(std::move(outside));
}

/// Asks for what the tile at the next lanes reads by rows: these lie far apart,
/// and no processor sees a stream in them.
void StageEmitter::prefetchTile(unsigned depth, Value lane) {
  Value end = getFullRange(depth).end;
  Value last = emitIndexAdd(b, loc, end, -lanes);
  Value next =
      arith::MinSIOp::create(b, loc, emitIndexAdd(b, loc, lane, lanes), last);
  body.openLoop(getLoop(depth), next);
  body.prefetchTransposed();
  body.openLoop(getLoop(depth), lane);
}
