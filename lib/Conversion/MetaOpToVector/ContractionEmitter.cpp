//===- ContractionEmitter.cpp - Loops of a contraction --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction is computed tile by tile: the sums of a tile of results stay in
// registers while the reduced loops below it run, each iteration adding an
// outer product of a few elements of one factor and a few vectors of the other.
// (This is the inner kernel of a matrix product in the manner of GotoBLAS,
// Goto and van de Geijn, 2008; with several reduced dimensions it is a
// batch-reduce GEMM, Georganas et al., 2020.)
//
// Levels are emitted in order. A level that has a further one of its dimension
// inside narrows the dimension's span to one step. The last level of a kept
// dimension steps by tiles; what does not fill one is done behind it, by a body
// of its own size (`body`), by one in which copies behind the end are computed
// at the last iteration and not stored (`mask`), or by the smallest of a few
// such bodies that holds it (`sizes`).
//
// If blocks of reduced loops stand outside of the tile, the first stores its
// sums and later ones add theirs to memory. That also bounds how many numbers
// are added one after another.
//
// A condition of the sum (an iteration that does not belong to the space) is
// tested once, at the first depth where it is known.
//
//===----------------------------------------------------------------------===//

#include "ContractionEmitter.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

ContractionEmitter::ContractionEmitter(OpBuilder &b, const Stage &stage,
                                       ScheduleAttr schedule,
                                       StageBindings bindings)
    : b(b), loc(stage.op->getLoc()), stage(stage), schedule(schedule),
      bindings(std::move(bindings)),
      body(b, stage, this->bindings, schedule.getVectorWidth()),
      reduction(*stage.writes.front().kind,
                getElementTypeOrSelf(stage.writes.front().value)),
      lanes(schedule.getVectorWidth()), lanesDim(schedule.getVectorDim()),
      start(getTileDepth(stage, schedule)),
      finishDepth(schedule.getNumLevels() + 1) {
  unsigned numDims = stage.getNumLoops();
  lastLevel.resize(numDims);
  for (auto [depth, level] : llvm::enumerate(schedule.getLevels()))
    lastLevel[level.dim] = depth;
  spans.resize(numDims);
  position.resize(numDims);
  left.resize(numDims);
  whole.resize(numDims);
  sizes.assign(numDims, 1);
}

//===----------------------------------------------------------------------===//
// Loops around the tile
//===----------------------------------------------------------------------===//

int64_t ContractionEmitter::getParallelRange(const Stage &stage,
                                             ScheduleAttr schedule) {
  int64_t range = 1;
  for (const LoopLevel &level :
       schedule.getLevels().take_front(schedule.getParallel()))
    range *= llvm::divideCeil(stage.getStaticExtent(level.dim), level.step);
  return range;
}

void ContractionEmitter::emit(Value number) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [dim, span] : llvm::enumerate(spans)) {
    span.begin = zero;
    span.end = emitAffine(b, loc, stage.extents[dim], {}, bindings.symbols);
  }
  openParallel(number);
  emitLevel(schedule.getParallel());
}

/// Unfolds the number of an iteration of the collapsed range, innermost first.
void ContractionEmitter::openParallel(Value number) {
  for (unsigned depth = schedule.getParallel(); depth-- > 0;) {
    const LoopLevel &level = getLevel(depth);
    Value iv = number;
    if (depth > 0) {
      Value count = arith::ConstantIndexOp::create(
          b, loc,
          llvm::divideCeil(stage.getStaticExtent(level.dim), level.step));
      iv = arith::RemUIOp::create(b, loc, number, count);
      number = arith::DivUIOp::create(b, loc, number, count);
    }
    if (level.step != 1)
      iv = arith::MulIOp::create(
          b, loc, iv, arith::ConstantIndexOp::create(b, loc, level.step));
    narrow(depth, iv);
  }
}

/// Returns whether another stage stands inside of the level, and asks for its
/// spans.
bool ContractionEmitter::isShared(unsigned depth) const {
  return (finishDepth <= schedule.getNumLevels() && depth < finishDepth) ||
         llvm::any_of(packings, [&](const auto &packing) {
           return depth < packing.first;
         });
}

/// The span of a level's dimension becomes one step, from `iv` on, for the
/// levels of that dimension inside, and for stages there.
void ContractionEmitter::narrow(unsigned depth, Value iv) {
  const LoopLevel &level = getLevel(depth);
  position[level.dim] = iv;
  if (isLastLevel(depth) && !isShared(depth))
    return;
  Value step = arith::ConstantIndexOp::create(b, loc, level.step);
  Value next = arith::AddIOp::create(b, loc, iv, step);
  Value end = spans[level.dim].end;
  if (mayLeaveRest(level))
    next = arith::MinSIOp::create(b, loc, next, end);
  spans[level.dim] = {iv, next};
}

/// Returns whether the steps of a level may not fill its dimension. Where the
/// extent varies, the loops are those of any.
bool ContractionEmitter::mayLeaveRest(const LoopLevel &level) const {
  return stage.isVarying(level.dim) ||
         stage.getStaticExtent(level.dim) % level.step != 0;
}

void ContractionEmitter::emitFor(Span span, int64_t step,
                                 llvm::function_ref<void(Value)> emit) {
  metaop::emitFor(b, loc, {span.begin, span.end, std::nullopt},
                  arith::ConstantIndexOp::create(b, loc, step), emit);
}

void ContractionEmitter::packInside(unsigned depth, PackFn fn) {
  packings.emplace_back(depth, std::move(fn));
}

void ContractionEmitter::finishInside(unsigned depth, OpenFn openFn,
                                      FinishFn finishFn) {
  finishDepth = depth;
  open = std::move(openFn);
  finish = std::move(finishFn);
}

void ContractionEmitter::emitLevel(unsigned depth) {
  for (const auto &[inside, pack] : packings)
    if (inside == depth) {
      Origin panel = pack(spans);
      bindings.symbols[panel.symbol] = panel.place;
    }
  if (depth != finishDepth) {
    emitLoops(depth);
    return;
  }
  if (std::optional<Origin> sums = open(spans))
    bindings.symbols[sums->symbol] = sums->place;
  emitLoops(depth);
  emitIf(b, loc, isLast, [&] { finish(spans); });
}

void ContractionEmitter::emitLoops(unsigned depth) {
  if (depth == start) {
    emitTile();
    return;
  }
  const LoopLevel &level = getLevel(depth);
  if (isLastLevel(depth) && !isReduced(level.dim)) {
    emitTileLoop(depth);
    return;
  }
  Span span = spans[level.dim];
  Value wasFirst = isFirst, wasLast = isLast;
  emitFor(span, level.step, [&](Value iv) {
    if (isReduced(level.dim))
      testBlock(depth, iv);
    narrow(depth, iv);
    emitLevel(depth + 1);
  });
  spans[level.dim] = span;
  isFirst = wasFirst;
  isLast = wasLast;
}

/// Returns whether a block of the sum is the first one, and the last one if the
/// epilogue stands inside.
void ContractionEmitter::testBlock(unsigned depth, Value iv) {
  const LoopLevel &level = getLevel(depth);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  isFirst = emitAnd(
      b, loc, isFirst,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, iv, zero));
  if (finishDepth > schedule.getNumLevels() || depth >= finishDepth)
    return;
  Value next = emitIndexAdd(b, loc, iv, level.step);
  isLast = emitAnd(b, loc, isLast,
                   arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                         next, spans[level.dim].end));
}

/// Emits what is inside of the last level of a kept dimension, for a tile of
/// `size` at `iv`.
void ContractionEmitter::emitInside(unsigned depth, int64_t size, Value iv,
                                    Value end, Value numLeft,
                                    int64_t numWhole) {
  int64_t dim = getLevel(depth).dim;
  Span span = spans[dim];
  position[dim] = iv;
  sizes[dim] = size;
  left[dim] = numLeft;
  whole[dim] = numWhole;
  if (isShared(depth))
    spans[dim] = {iv, end};
  emitLevel(depth + 1);
  spans[dim] = span;
  sizes[dim] = 1;
  left[dim] = nullptr;
}

/// Emits the last level of a kept dimension: whole tiles, and what is left
/// over.
void ContractionEmitter::emitTileLoop(unsigned depth) {
  const LoopLevel &level = getLevel(depth);
  Span span = spans[level.dim];
  auto emitWhole = [&](Value iv) {
    Value end =
        isShared(depth) ? emitIndexAdd(b, loc, iv, level.step) : Value();
    emitInside(depth, level.step / getUnit(level), iv, end, nullptr);
  };
  if (!mayLeaveRest(level)) {
    emitFor(span, level.step, emitWhole);
    return;
  }
  Span tiles = span;
  if (stage.getStaticExtent(level.dim) < level.step &&
      !stage.isVarying(level.dim)) {
    tiles.end = span.begin;
  } else {
    Value step = arith::ConstantIndexOp::create(b, loc, level.step);
    Value length = arith::SubIOp::create(b, loc, span.end, span.begin);
    Value over = arith::RemUIOp::create(b, loc, length, step);
    tiles.end = arith::SubIOp::create(b, loc, span.end, over);
    emitFor(tiles, level.step, emitWhole);
  }
  // Blocks outside are multiples of the tile: what is left over is the rest of
  // the whole extent, or nothing.
  emitTail(depth, {tiles.end, span.end});
}

/// Emits what is left over of the steps of a level.
void ContractionEmitter::emitTail(unsigned depth, Span rest) {
  const LoopLevel &level = getLevel(depth);
  int64_t unit = getUnit(level), size = level.step / unit;
  if (level.tail == LevelTail::Sizes) {
    Value over = arith::SubIOp::create(b, loc, rest.end, rest.begin);
    int64_t before = 0;
    // A vector that is not whole is one.
    for (int64_t part : getTailSizes(unit == 1 ? size - 1 : size)) {
      bool isExact = unit == 1 && part == before + 1;
      emitIf(b, loc, emitIsWithin(over, before * unit, part * unit), [&] {
        emitInside(depth, part, rest.begin, rest.end, isExact ? Value() : over,
                   /*numWhole=*/before);
      });
      before = part;
    }
    return;
  }
  bool hasBody = level.tail == LevelTail::Body;
  if (hasBody)
    size =
        llvm::divideCeil(stage.getStaticExtent(level.dim) % level.step, unit);
  if (size == 0)
    return;
  emitFor(rest, level.step, [&](Value iv) {
    Value numLeft;
    if (!hasBody || unit > 1)
      numLeft = arith::SubIOp::create(b, loc, rest.end, iv);
    emitInside(depth, size, iv, rest.end, numLeft,
               /*numWhole=*/hasBody ? size - 1 : 0);
  });
}

/// Returns whether `number` is more than `low`, and at most `high`.
Value ContractionEmitter::emitIsWithin(Value number, int64_t low,
                                       int64_t high) {
  auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, number,
                                 arith::ConstantIndexOp::create(b, loc, bound));
  };
  return arith::AndIOp::create(b, loc, compare(arith::CmpIPredicate::sgt, low),
                               compare(arith::CmpIPredicate::sle, high));
}

//===----------------------------------------------------------------------===//
// Loops inside of the tile
//===----------------------------------------------------------------------===//

void ContractionEmitter::emitTile() {
  accumulators.assign(getNumCopies(), reduction.emitIdentity(b, loc, lanes));
  emitReduced(start);
  storeTile();
}

/// The conditions of the sum that are known at this depth and not before.
Value ContractionEmitter::emitConditions(unsigned depth) {
  SmallVector<AffineExpr> checks(stage.writes.front().place.conditions);
  llvm::erase_if(checks, [&](AffineExpr check) {
    unsigned known = start;
    for (unsigned dim = 0; dim < stage.getNumLoops(); ++dim)
      if (check.isFunctionOfDim(dim))
        known = std::max(known, lastLevel[dim] + 1);
    return known != depth;
  });
  Condition holds;
  body.addChecks(checks, LoopIteration(b, loc, position), holds);
  return holds.scalar;
}

void ContractionEmitter::emitReduced(unsigned depth) {
  Value holds = emitConditions(depth);
  if (!holds) {
    emitReducedLoop(depth);
    return;
  }
  SmallVector<Value> before = accumulators;
  auto ifOp = scf::IfOp::create(b, loc, ValueRange(before).getTypes(), holds,
                                /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emitReducedLoop(depth);
    scf::YieldOp::create(b, loc, accumulators);
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(b, loc, before);
  }
  accumulators.assign(ifOp.result_begin(), ifOp.result_end());
}

void ContractionEmitter::emitReducedLoop(unsigned depth) {
  if (depth == schedule.getNumLevels()) {
    accumulate();
    return;
  }
  const LoopLevel &level = getLevel(depth);
  Span span = spans[level.dim];
  if (llvm::is_contained(schedule.getUnrollDims(), level.dim)) {
    for (int64_t i = 0; i < stage.getStaticExtent(level.dim); ++i) {
      position[level.dim] = arith::ConstantIndexOp::create(b, loc, i);
      emitReduced(depth + 1);
    }
    return;
  }
  Value step = arith::ConstantIndexOp::create(b, loc, level.step);
  auto loop =
      scf::ForOp::create(b, loc, span.begin, span.end, step, accumulators);
  // LLVM would unroll short loops and keep what their iterations read in common
  // in registers, of which the sums leave none.
  disableUnrolling(loop);
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(loop.getBody());
    accumulators.assign(loop.getRegionIterArgs().begin(),
                        loop.getRegionIterArgs().end());
    narrow(depth, loop.getInductionVar());
    emitReduced(depth + 1);
    scf::YieldOp::create(b, loc, accumulators);
  }
  spans[level.dim] = span;
  accumulators.assign(loop.result_begin(), loop.result_end());
}
