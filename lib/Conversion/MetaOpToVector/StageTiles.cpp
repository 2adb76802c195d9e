//===- StageTiles.cpp - Loops of transposed tiles -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of the tiles that are transposed in registers (UnrolledBody.cpp):
// one goes over rows, the other one over lanes, both by as many as vectors have
// lanes, in the order in which the schedule has them.
//
// Tiles at the borders have masks for rows and lanes; there are up to three
// bodies: whole tiles, those with a rest of the inner loop, and those with a
// rest of the outer one and perhaps of the inner.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::metaop;

/// The same along prefixes, whose loop is the inner one of both.
void StageEmitter::emitCarriedTiles(unsigned depth) {
  LoopRange rest = getFullRange(depth);
  auto emit = [&](Value lane, Value laneEnd) {
    UnrolledBody::State outside = body.getState();
    // There is a chain for each lane.
    body.openLoop(getLoop(depth), lane);
    prefixes.emitLoop(getFullRange(depth + 1), lanes, [&](Value at, Value end) {
      emitTile(depth, {lane, laneEnd}, {at, end});
    });
    body.setState(std::move(outside));
  };
  LoopRange whole = splitOffTiles(depth, rest);
  emitByLanes(whole, [&](Value lane) { emit(lane, {}); });
  emitByLanes(rest, [&](Value lane) { emit(lane, rest.end); });
}

/// Emits the two innermost loops, which are those of tiles.
void StageEmitter::emitTiles(unsigned depth) {
  if (stage.carry) {
    emitCarriedTiles(depth);
    return;
  }
  LoopRange outerRest = getFullRange(depth), inner = getFullRange(depth + 1);
  LoopRange innerRest = inner;
  LoopRange outerWhole = splitOffTiles(depth, outerRest);
  LoopRange innerWhole = splitOffTiles(depth + 1, innerRest);
  emitByLanes(outerWhole, [&](Value at) {
    emitByLanes(innerWhole,
                [&](Value within) { emitTile(depth, {at, {}}, {within, {}}); });
    emitByLanes(innerRest, [&](Value within) {
      emitTile(depth, {at, {}}, {within, innerRest.end});
    });
  });
  emitByLanes(outerRest, [&](Value at) {
    emitByLanes(inner, [&](Value within) {
      emitTile(depth, {at, outerRest.end}, {within, innerRest.end});
    });
  });
}

/// Takes the whole tiles of the loop at `depth` off its range.
LoopRange StageEmitter::splitOffTiles(unsigned depth, LoopRange &range) {
  Value end = range.end;
  LoopRange whole = splitOff(b, loc, range, lanes);
  int64_t loop = getLoop(depth);
  // Nothing is left over of any strip if nothing is of the rows.
  if (loop == schedule.getTranspose() &&
      !ShapedType::isDynamic(stage.getStaticExtent(loop)))
    whole.end = range.begin =
        arith::SelectOp::create(b, loc, body.emitIsWhole(), end, whole.end);
  return whole;
}

/// Emits something inside of a loop of a tile.
void StageEmitter::emitByLanes(const LoopRange &range,
                               llvm::function_ref<void(Value)> emit) {
  emitFor(b, loc, range, arith::ConstantIndexOp::create(b, loc, lanes), emit);
}

/// Returns the rest of a loop from `at` on; all lanes where it has no end.
UnrolledBody::Tail StageEmitter::emitTail(Value at, Value end) {
  if (!end)
    return {};
  Value left = arith::SubIOp::create(b, loc, end, at);
  return {left, emitTailMask(b, loc, left, lanes)};
}

void StageEmitter::emitTile(unsigned depth, TileSide outer, TileSide inner) {
  UnrolledBody::State outside = body.getState();
  bool isLaneInner = getLoop(depth + 1) == schedule.getVectorDim();
  TileSide &row = isLaneInner ? outer : inner;
  TileSide &lane = isLaneInner ? inner : outer;
  body.maskRows(emitTail(row.at, row.end));
  body.maskLanes(emitTail(lane.at, lane.end));
  body.openLoop(getLoop(depth), outer.at);
  body.openLoop(getLoop(depth + 1), inner.at);
  body.openCopies();
  if (!row.end && !lane.end)
    prefetchTile();
  enter(depth + 1);
  emitNest(depth + 2);
  body.setState(std::move(outside));
}

/// Asks for what the tile at the next lanes reads by rows: these lie far apart,
/// and no processor sees a stream in them.
void StageEmitter::prefetchTile() {
  int64_t loop = schedule.getVectorDim();
  unsigned depth = schedule.getNumLevels() - 1;
  if (getLoop(depth) != loop)
    --depth;
  Value lane = body.getState().loops[loop];
  Value last = emitIndexAdd(b, loc, getFullRange(depth).end, -lanes);
  Value next =
      arith::MinSIOp::create(b, loc, emitIndexAdd(b, loc, lane, lanes), last);
  body.openLoop(loop, next);
  body.prefetchTransposed();
  body.openLoop(loop, lane);
}
