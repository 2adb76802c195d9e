//===- UnrolledBody.cpp - A body in the copies of unrolled loops ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The copies of an unrolled loop are its variable and the next iterations (the
// next vectors, where the loop is that of the lanes). A loop that is kept and
// unrolled needs no code for its rest: copies behind its end do the last
// iteration again and do not store it.
//
// If some accesses are contiguous along one loop and others along another, no
// vector loop serves both. A square register tile does: as many rows as vectors
// have lanes, which are the copies. What is contiguous along the rows' loop is
// read as if the two loops had changed places, one vector for each lane of the
// tile, and then transposed; or transposed and then stored so.
//
//===----------------------------------------------------------------------===//

#include "UnrolledBody.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/CPU/PrefetchReads.h"
#include "MetaOps/Transforms/Schedule/Stage/StreamResults.h"
#include "Transpose.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::metaop;

UnrolledBody::UnrolledBody(OpBuilder &b, const Stage &stage,
                           ScheduleAttr schedule, const StageBindings &bindings)
    : b(b), loc(stage.op->getLoc()), stage(stage), schedule(schedule),
      bindings(bindings),
      emitter(b, stage, bindings, schedule.getVectorWidth()),
      lanes(schedule.getVectorWidth()), vectorLoop(schedule.getVectorDim()),
      unroll(schedule.getUnroll()), unrollLoop(schedule.getUnrollDim()),
      isTile(schedule.getTranspose() >= 0), isClamped(masksUnroll(schedule)) {
  state.loops.resize(stage.getNumLoops());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The loop along which the lanes of a copy lie, if it is open.
static int64_t getOpenLoop(int64_t loop, int64_t lanes, ArrayRef<Value> loops) {
  return lanes > 1 && loops[loop] ? loop : -1;
}

UnrolledBody::Copy::Copy(UnrolledBody &owner, unsigned number,
                         bool isTransposed)
    : Iteration(getOpenLoop(isTransposed ? owner.unrollLoop : owner.vectorLoop,
                            owner.lanes, owner.state.loops),
                (isTransposed ? owner.state.rows : owner.state.lanes).mask),
      owner(owner), number(number), isTransposed(isTransposed) {}

Value UnrolledBody::Copy::emitIndex(AffineExpr expr,
                                    ArrayRef<Value> symbols) const {
  return emitAffine(owner.b, owner.loc, expr,
                    owner.emitLoops(number, isTransposed), symbols);
}

std::pair<Iteration::Bound, Iteration::Bound>
UnrolledBody::Copy::getBounds(unsigned loop) const {
  Value variable = owner.state.loops[loop];
  int64_t extent = owner.stage.getStaticExtent(loop);
  if (!variable || ShapedType::isDynamic(extent))
    return {};
  bool isCopied = owner.state.isUnrolled && !isTransposed &&
                  static_cast<int64_t>(loop) == owner.unrollLoop &&
                  owner.unrollLoop != owner.vectorLoop;
  if (llvm::is_contained(owner.schedule.getUnrollDims(), loop))
    if (auto place = getConstantIntValue(variable))
      return {place, place};
  // Loops that vary are the same code however long they are.
  if (owner.stage.isVarying(loop))
    return {0, std::nullopt};
  if (!isCopied)
    return {0, extent - 1};
  // Copies begin at a multiple of their number; what lies behind the end is the
  // last iteration again.
  bool isWhole = !owner.isRestricted && extent % owner.unroll == 0;
  return {std::min<int64_t>(number, extent - 1),
          isWhole ? extent - owner.unroll + number : extent - 1};
}

/// Returns whether a row of the tile belongs to the loop's range.
Value UnrolledBody::Copy::emitExists() const {
  Value left = (isTransposed ? owner.state.lanes : owner.state.rows).left;
  if (!left || number == 0)
    return nullptr;
  Value at = arith::ConstantIndexOp::create(owner.b, owner.loc, number);
  return arith::CmpIOp::create(owner.b, owner.loc, arith::CmpIPredicate::slt,
                               at, left);
}

/// The variables of the open loops in a copy.
SmallVector<Value> UnrolledBody::emitLoops(unsigned copy, bool isTransposed) {
  SmallVector<Value> loops(state.loops);
  int64_t across = isTransposed ? vectorLoop : unrollLoop;
  if (!state.isUnrolled || copy == 0 || !loops[across])
    return loops;
  bool isVectors = !isTransposed && lanes > 1 && across == vectorLoop;
  loops[across] =
      emitIndexAdd(b, loc, loops[across], copy * (isVectors ? lanes : 1));
  if (isClamped)
    loops[across] = emitClamp(loops[across]);
  return loops;
}

Value UnrolledBody::emitIsWhole() {
  if (isRestricted)
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  int64_t extent = stage.getStaticExtent(unrollLoop);
  Value rest = arith::ConstantIndexOp::create(b, loc, extent % unroll);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, zero);
}

/// An iteration of the unrolled loop, or the last one in place of those behind
/// it.
Value UnrolledBody::emitClamp(Value variable) {
  int64_t extent = stage.getStaticExtent(unrollLoop);
  Value last = arith::ConstantIndexOp::create(b, loc, extent - 1);
  // The choice is no more than a minimum, but is gone where nothing is left
  // over.
  return arith::SelectOp::create(
      b, loc, emitIsWhole(), variable,
      arith::MinSIOp::create(b, loc, variable, last));
}

Value UnrolledBody::emitIsInside(unsigned copy) {
  if (!state.isUnrolled || !isClamped || copy == 0)
    return nullptr;
  int64_t extent = stage.getStaticExtent(unrollLoop);
  Value variable = emitIndexAdd(b, loc, state.loops[unrollLoop], copy);
  Value end = arith::ConstantIndexOp::create(b, loc, extent);
  Value isBefore =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, variable, end);
  return arith::OrIOp::create(b, loc, emitIsWhole(), isBefore);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

unsigned UnrolledBody::getNumCopies(Value value) const {
  return state.isUnrolled && stage.getLoopsOf(value).test(unrollLoop) ? unroll
                                                                      : 1;
}

int64_t UnrolledBody::getNumLanes(Value value) const {
  return isVectorOpen() && stage.getLoopsOf(value).test(vectorLoop) ? lanes : 1;
}

Value UnrolledBody::getValue(Value value, unsigned copy) const {
  const Copies &copies = state.values.find(value)->second;
  return copies.size() == 1 ? copies[0] : copies[copy];
}

void UnrolledBody::emit(Value value) {
  const StageRead *read = stage.findRead(value);
  Copies copies;
  if (read != stage.reads.end() && isTransposed(read->place))
    copies = readTransposed(value);
  else
    for (unsigned copy = 0; copy < getNumCopies(value); ++copy)
      copies.push_back(emitter.emitValue(value, getCopy(copy)));
  if (read != stage.reads.end() && schedule.getPrefetch() > 0)
    prefetch(*read);
  state.values[value] = std::move(copies);
}

/// Asks for the lines that whole vectors of a read take some steps later.
void UnrolledBody::prefetch(const StageRead &read) {
  if (!isVectorOpen() || state.lanes.mask ||
      !isPrefetched(stage, read, schedule))
    return;
  int64_t perLine =
      std::max<int64_t>(kLineBytes / getElementBytes(read.value.getType()), 1);
  unsigned copies = getNumCopies(read.value);
  bool areNeighbours = unrollLoop == vectorLoop;
  int64_t ahead = schedule.getPrefetch() * schedule.getLevels().back().step;
  for (unsigned copy = 0; copy < copies; ++copy)
    for (int64_t lane = 0; lane < lanes; lane += perLine) {
      // Vectors side by side may be of one line.
      if (areNeighbours && (copy * lanes + lane) % perLine != 0)
        continue;
      Value place = emitter.emitExpr(read.place.offset, getCopy(copy));
      emitPrefetch(b, loc, bindings.sources.lookup(read.source),
                   emitIndexAdd(b, loc, place, lane + ahead));
    }
}

llvm::MaybeAlign UnrolledBody::getStream(const StageWrite &write) const {
  if (!llvm::is_contained(schedule.getStream(), write.result))
    return {};
  return llvm::Align(*getStreamAlignment(stage, write, schedule));
}

/// The lanes of a copy that there are.
Value UnrolledBody::emitStoreMask(const Copy &copy) {
  Value exists = copy.emitExists();
  return emitAnd(b, loc, copy.emitMask(),
                 exists ? broadcastTo(b, loc, exists, lanes) : Value());
}

void UnrolledBody::store(const StageWrite &write) {
  if (isTransposed(write.place)) {
    storeTransposed(write);
    return;
  }
  for (unsigned number = 0; number < getNumCopies(); ++number)
    emitIf(b, loc, emitIsInside(number), [&] {
      Copy copy = getCopy(number);
      emitter.emitStore(write, getValue(write.value, number),
                        emitStoreMask(copy), copy, getStream(write));
    });
}

//===----------------------------------------------------------------------===//
// Transposed tiles
//===----------------------------------------------------------------------===//

/// Returns whether a place in an open tile is contiguous along the rows' loop
/// and not along the lanes'. Where it depends on numbers out of tensors, these
/// are there for rows and lanes as they are, and not for the two exchanged.
bool UnrolledBody::isTransposed(const StagePlace &place) const {
  return isTile && isVectorOpen() && !stage.isIndirect(place) &&
         stage.getStep(place.offset, unrollLoop) == 1 &&
         stage.dependsOn(place.offset, vectorLoop) &&
         stage.getStep(place.offset, vectorLoop) != 1;
}

UnrolledBody::Copies UnrolledBody::readTransposed(Value value) {
  Copies columns;
  for (int64_t lane = 0; lane < lanes; ++lane)
    columns.push_back(emitter.emitValue(value, getTransposed(lane)));
  return emitTranspose(b, loc, std::move(columns), lanes);
}

void UnrolledBody::storeTransposed(const StageWrite &write) {
  Copies rows;
  for (int64_t row = 0; row < lanes; ++row)
    rows.push_back(broadcastTo(b, loc, getValue(write.value, row), lanes));
  Copies columns = emitTranspose(b, loc, std::move(rows), lanes);
  for (auto [lane, column] : llvm::enumerate(columns)) {
    Copy copy = getTransposed(lane);
    emitter.emitStore(write, column, emitStoreMask(copy), copy,
                      getStream(write));
  }
}

void UnrolledBody::prefetchTransposed() {
  for (const StageRead &read : stage.reads) {
    AffineExpr offset = read.place.offset;
    if (stage.isIndirect(read.place) || read.place.isGuarded() ||
        stage.getStep(offset, unrollLoop) != 1 ||
        stage.getStep(offset, vectorLoop) == 1)
      continue;
    for (int64_t lane = 0; lane < lanes; ++lane)
      emitPrefetch(b, loc, bindings.sources.lookup(read.source),
                   emitter.emitExpr(offset, getTransposed(lane)));
  }
}
