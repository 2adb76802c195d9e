//===- StageTiles.cpp - Transposes in registers ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where some accesses are contiguous along one loop and others along another,
// no vector loop serves both. A square register tile does: as many rows
// (iterations of the tile loop) as vectors have lanes. Its rows are copies as
// those of an unrolled loop. What is contiguous along the rows' loop is read as
// if the two loops had changed places, one vector for each lane of the tile,
// and then transposed; or transposed and then stored so.
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
#include "Transpose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Rows that are walked before the next lanes.
static constexpr int64_t kBlockRows = 64;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void StageEmitter::emitTileLoop(LoopRange range,
                                llvm::function_ref<void(Value)> emit) {
  Value step = arith::ConstantIndexOp::create(b, loc, lanes);
  auto forOp = scf::ForOp::create(b, loc, range.begin, range.end, step);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(forOp.getBody());
  emit(forOp.getInductionVar());
}

/// Emits the tile loop over `range` and the vector loop.
void StageEmitter::emitTiles(unsigned depth, LoopRange range) {
  if (block || (range.extent && *range.extent <= kBlockRows)) {
    emitTileBlock(depth, range);
    return;
  }
  Value size = arith::ConstantIndexOp::create(b, loc, kBlockRows);
  auto blocks = scf::ForOp::create(b, loc, range.begin, range.end, size);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(blocks.getBody());
  LoopRange rows;
  rows.begin = blocks.getInductionVar();
  rows.end = arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, rows.begin, size), range.end);
  emitTileBlock(depth, rows);
}

void StageEmitter::emitTileBlock(unsigned depth, LoopRange rows) {
  LoopRange rest = rows;
  LoopRange whole = splitOff(rest, lanes);
  // Nothing is left over of any block if nothing is of the loop.
  if (!ShapedType::isDynamic(stage.getStaticExtent(tileLoop)))
    whole.end = rest.begin =
        arith::SelectOp::create(b, loc, emitIsWhole(), rows.end, whole.end);
  LoopRange laneRest = getFullRange(depth + 1);
  LoopRange laneWhole = splitOff(laneRest, lanes);
  emitTileLoop(laneWhole, [&](Value lane) {
    emitTileLoop(whole, [&](Value row) {
      emitTile(depth, row, nullptr, lane, nullptr);
    });
    emitTileLoop(rest, [&](Value row) {
      emitTile(depth, row, rest.end, lane, nullptr);
    });
  });
  emitTileLoop(laneRest, [&](Value lane) {
    emitTileLoop(rows, [&](Value row) {
      emitTile(depth, row, rest.end, lane, laneRest.end);
    });
  });
}

/// Asks for what the tile at the next lanes reads by rows: these lie far apart,
/// and no processor sees a stream in them.
void StageEmitter::prefetchTile(unsigned depth, Value lane) {
  Value end = getFullRange(depth).end;
  Value last = emitIndexAdd(b, loc, end, -lanes);
  Value next =
      arith::MinSIOp::create(b, loc, emitIndexAdd(b, loc, lane, lanes), last);
  swapTile();
  setLoop(depth, next);
  for (const StageRead &read : stage.reads)
    if (!stage.isIndirect(read.place) &&
        stage.getStep(read.place.offset, vectorLoop) == 1 &&
        stage.getStep(read.place.offset, unrollLoop) != 1 &&
        !read.place.isGuarded())
      for (int64_t copy = 0; copy < lanes; ++copy)
        memref::PrefetchOp::create(b, loc, bindings.sources.lookup(read.source),
                                   emitExpr(read.place.offset, copy),
                                   /*isWrite=*/false,
                                   /*localityHint=*/3, /*isDataCache=*/true);
  swapTile();
  setLoop(depth, lane);
}

/// Emits the tile at `row` and `lane`. Null ends say that it is whole.
void StageEmitter::emitTile(unsigned depth, Value row, Value rowEnd, Value lane,
                            Value laneEnd) {
  llvm::DenseMap<Value, Copies> outerValues = values;
  auto emitLeft = [&](Value at, Value end, Value &left, Value &mask) {
    if (!end)
      return;
    left = arith::SubIOp::create(b, loc, end, at);
    mask = vector::CreateMaskOp::create(
        b, loc, VectorType::get(lanes, b.getI1Type()), ValueRange{left});
  };
  emitLeft(row, rowEnd, copiesLeft, transposedMask);
  emitLeft(lane, laneEnd, transposedLeft, tailMask);
  setLoop(depth, row);
  setLoop(depth + 1, lane);
  isUnrolled = true;
  if (!rowEnd && !laneEnd)
    prefetchTile(depth + 1, lane);
  enter(depth + 1);
  emitNest(depth + 2);
  isUnrolled = false;
  loopVariables[tileLoop] = loopVariables[vectorLoop] = nullptr;
  copiesLeft = transposedLeft = transposedMask = tailMask = nullptr;
  values = std::move(outerValues);
}

/// Whether a row of the tile belongs to the loop's range; null if it must.
Value StageEmitter::emitIsCopyLeft(unsigned copy) {
  if (!copiesLeft || copy == 0)
    return nullptr;
  Value number = arith::ConstantIndexOp::create(b, loc, copy);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number,
                               copiesLeft);
}

Value StageEmitter::emitCopyMask(unsigned copy) {
  Value isLeft = emitIsCopyLeft(copy);
  return isLeft ? broadcastTo(b, loc, isLeft, lanes) : Value();
}

//===----------------------------------------------------------------------===//
// Reads and stores
//===----------------------------------------------------------------------===//

/// Whether a place in an open tile is contiguous along the rows' loop and not
/// along the lanes'. Where it depends on numbers out of tensors, these are
/// there for rows and lanes as they are, and not for the two exchanged.
bool StageEmitter::isTransposed(const StagePlace &place) const {
  return tileLoop >= 0 && isVectorOpen() && !stage.isIndirect(place) &&
         stage.getStep(place.offset, tileLoop) == 1 &&
         dependsOnVector(place.offset) &&
         stage.getStep(place.offset, vectorLoop) != 1;
}

/// Makes rows lanes and lanes rows; twice is nothing.
void StageEmitter::swapTile() {
  std::swap(unrollLoop, vectorLoop);
  std::swap(tailMask, transposedMask);
  std::swap(copiesLeft, transposedLeft);
}

void StageEmitter::emitTileRead(const StageRead &read) {
  Copies columns;
  swapTile();
  for (int64_t copy = 0; copy < lanes; ++copy)
    columns.push_back(emitReadCopy(read, copy));
  swapTile();
  values[read.value] = emitTranspose(b, loc, std::move(columns), lanes);
}

void StageEmitter::storeTile(const StageWrite &write) {
  Copies rows;
  for (int64_t copy = 0; copy < lanes; ++copy)
    rows.push_back(broadcastTo(b, loc, getValue(write.value, copy), lanes));
  Copies columns = emitTranspose(b, loc, std::move(rows), lanes);
  swapTile();
  for (auto [copy, column] : llvm::enumerate(columns))
    emitStore(write.place, bindings.results[write.result],
              getElementTypeOrSelf(write.value), copy, /*asVector=*/true,
              emitAnd(b, loc, tailMask, emitCopyMask(copy)), column,
              getStream(write));
  swapTile();
}
