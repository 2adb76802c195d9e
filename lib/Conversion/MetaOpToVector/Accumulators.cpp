//===- Accumulators.cpp - The results of reductions -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A write that is reduced has accumulators from the depth on below which all
// loops are reduced; they travel through the loops as scf.for arguments. Behind
// them, they are stored (if no reduced loop stands outside) or combined with
// memory, which then was set to the identity beforehand.
//
// Lanes along a reduced loop are parts of one element, and are combined when it
// is stored; so are the copies of a reduced loop that is unrolled. Copies that
// are neighbours in memory, a few elements from lane to lane, are interleaved
// and stored together.
//
//===----------------------------------------------------------------------===//

#include "Accumulators.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/InterleavedAccess.h"
#include "MetaOps/Transforms/Schedule/Stage/ShortSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

Accumulators::Accumulators(OpBuilder &b, const Stage &stage,
                           ScheduleAttr schedule, const StageBindings &bindings,
                           unsigned openedLoops, UnrolledBody &body)
    : b(b), loc(stage.op->getLoc()), stage(stage), schedule(schedule),
      bindings(bindings), openedLoops(openedLoops), body(body),
      emitter(body.getEmitter()), lanes(schedule.getVectorWidth()),
      unrollLoop(schedule.getUnrollDim()) {
  for (const StageWrite &write : stage.writes)
    startOf.push_back(getAccumulatorDepth(write, schedule, openedLoops));
  registers.resize(stage.writes.size());
}

Reduction Accumulators::getReduction(const StageWrite &write) const {
  return {*write.kind, getElementTypeOrSelf(write.value)};
}

/// Returns whether a write has an element for each lane.
bool Accumulators::isVector(const StageWrite &write) const {
  return body.isVectorOpen() && write.loops.test(schedule.getVectorDim());
}

//===----------------------------------------------------------------------===//
// In registers
//===----------------------------------------------------------------------===//

void Accumulators::initialiseMemory(const StageWrite &write,
                                    ArrayRef<PartOfLoop> parts) {
  if (combinesInMemory(write, schedule, openedLoops))
    fillInsideLoops(b, stage, write, bindings, body.getState().loops, parts);
}

void Accumulators::open(unsigned depth) {
  ArrayRef<LoopLevel> inside = schedule.getLevels().drop_front(depth);
  bool unrollsInside = schedule.getUnroll() > 1 &&
                       llvm::any_of(inside, [&](const LoopLevel &level) {
                         return static_cast<int64_t>(level.dim) == unrollLoop;
                       });
  size_t copies = unrollsInside ? schedule.getUnroll() : body.getNumCopies();
  for (auto [i, write] : llvm::enumerate(stage.writes))
    if (write.kind && startOf[i] == depth)
      registers[i].assign(copies,
                          getReduction(write).emitIdentity(b, loc, lanes));
}

SmallVector<Value> Accumulators::getActive(unsigned depth) const {
  SmallVector<Value> active;
  for (auto [copies, start] : llvm::zip_equal(registers, startOf))
    if (start <= depth)
      active.append(copies.begin(), copies.end());
  return active;
}

void Accumulators::setActive(unsigned depth, ValueRange active) {
  for (auto [copies, start] : llvm::zip_equal(registers, startOf))
    if (start <= depth)
      for (Value &copy : copies) {
        copy = active.front();
        active = active.drop_front();
      }
}

void Accumulators::emitAnew(unsigned depth, ValueRange before,
                            llvm::function_ref<void()> emit) {
  auto forActive = [&](auto change) {
    for (auto [i, write] : llvm::enumerate(stage.writes))
      if (startOf[i] <= depth && !registers[i].empty())
        change(getReduction(write), registers[i]);
  };
  forActive([&](Reduction reduction, UnrolledBody::Copies &copies) {
    copies.assign(copies.size(), reduction.emitIdentity(b, loc, lanes));
  });
  emit();
  forActive([&](Reduction reduction, UnrolledBody::Copies &copies) {
    for (Value &copy : copies) {
      copy = reduction.emitCombine(b, loc, before.front(), copy);
      before = before.drop_front();
    }
  });
}

bool Accumulators::accumulateError(unsigned depth) const {
  for (auto [write, start] : llvm::zip_equal(stage.writes, startOf))
    if (write.kind && start <= depth && getReduction(write).accumulatesError())
      return true;
  return false;
}

bool Accumulators::startOutside(unsigned depth) const {
  for (auto [write, start] : llvm::zip_equal(stage.writes, startOf))
    if (write.kind && start < depth)
      return true;
  return false;
}

void Accumulators::accumulate(unsigned index) {
  const StageWrite &write = stage.writes[index];
  Reduction reduction = getReduction(write);
  for (unsigned c = 0; c < body.getNumCopies(); ++c) {
    UnrolledBody::Copy at = body.getCopy(c);
    Condition takesPart;
    emitter.addChecks(write.place.rangeChecks, at, takesPart);
    emitter.addChecks(write.place.conditions, at, takesPart);
    takesPart.lanes = emitAnd(b, loc, takesPart.lanes, at.emitMask());
    Value value = reduction.emitWiden(b, loc, at.getValue(write.value));
    value = broadcastTo(b, loc, value, lanes);
    Value guard = lanes > 1 ? emitter.emitMask(takesPart) : takesPart.scalar;
    // Choosing between sums, not values, is one masked instruction.
    Value &sum = registers[index][c];
    Value combined = reduction.emitCombine(b, loc, sum, value);
    sum =
        guard
            ? arith::SelectOp::create(b, loc, guard, combined, sum).getResult()
            : combined;
  }
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

void Accumulators::store(unsigned depth) {
  for (auto [i, write] : llvm::enumerate(stage.writes))
    if (write.kind && startOf[i] == depth) {
      storeWrite(i);
      registers[i].clear();
    }
}

void Accumulators::storeWrite(unsigned index) {
  const StageWrite &write = stage.writes[index];
  Reduction reduction = getReduction(write);
  UnrolledBody::Copies &sums = registers[index];
  unsigned numCopies = body.getNumCopies();
  // Copies along a reduced loop hold parts of one element.
  if (unrollLoop >= 0 && !write.loops.test(unrollLoop)) {
    for (unsigned c = 1; c < sums.size(); ++c)
      sums[0] = reduction.emitCombine(b, loc, sums[0], sums[c]);
    numCopies = 1;
  }
  if (isInterleaved(write)) {
    for (Value &value : sums)
      value = reduction.emitNarrow(b, loc, value);
    storeInterleaved(write, sums);
    return;
  }
  for (unsigned c = 0; c < numCopies; ++c)
    storeCopy(write, c, sums[c]);
}

void Accumulators::storeCopy(const StageWrite &write, unsigned number,
                             Value value) {
  Reduction reduction = getReduction(write);
  UnrolledBody::Copy at = body.getCopy(number);
  Condition inRange;
  if (lanes > 1 && !isVector(write))
    value = reduction.emitAcrossLanes(b, loc, value);
  emitter.addChecks(write.place.rangeChecks, at, inRange);
  Value mask;
  if (isVector(write)) {
    inRange.lanes = emitAnd(b, loc, inRange.lanes, at.emitMask());
    mask = emitter.emitMask(inRange);
    inRange.scalar = nullptr;
  }
  Value exists = emitAnd(b, loc, body.emitIsInside(number), inRange.scalar);
  emitIf(b, loc, exists, [&] {
    if (combinesInMemory(write, schedule, openedLoops)) {
      Value old = emitter.emitLoad(write, mask, at);
      value = reduction.emitCombine(b, loc, reduction.emitWiden(b, loc, old),
                                    value);
    }
    emitter.emitStore(write, reduction.emitNarrow(b, loc, value), mask, at);
  });
}

/// Returns whether the copies of the unrolled loop, taken in turn, are
/// neighbours.
bool Accumulators::isInterleaved(const StageWrite &write) const {
  if (!isVector(write) || !body.getState().isUnrolled ||
      schedule.getTranspose() >= 0 ||
      combinesInMemory(write, schedule, openedLoops))
    return false;
  auto phases = getPhaseLoop(stage, write, schedule.getVectorDim(), lanes);
  return phases && *phases == unrollLoop &&
         stage.getStaticExtent(unrollLoop) == schedule.getUnroll();
}

void Accumulators::storeInterleaved(const StageWrite &write,
                                    ArrayRef<Value> phases) {
  Type element = getElementTypeOrSelf(write.value);
  SmallVector<Value> values, masks;
  for (auto [number, phase] : llvm::enumerate(phases)) {
    UnrolledBody::Copy at = body.getCopy(number);
    Condition inRange;
    values.push_back(
        toMemoryType(b, loc, broadcastTo(b, loc, phase, lanes), element));
    emitter.addChecks(write.place.rangeChecks, at, inRange);
    inRange.lanes = emitAnd(b, loc, inRange.lanes, at.emitMask());
    masks.push_back(emitter.emitMask(inRange));
  }
  bool isMasked = llvm::any_of(masks, [](Value mask) { return bool(mask); });
  for (Value &mask : masks)
    if (isMasked && !mask)
      mask = emitConstantMask(b, loc, true, lanes);
  Value base = emitter.emitExpr(write.place.offset, body.getCopy(0));
  UnrolledBody::Copies stored = emitInterleaved(b, loc, values), storedMasks;
  if (isMasked)
    storedMasks = emitInterleaved(b, loc, masks);
  for (auto [i, value] : llvm::enumerate(stored)) {
    LaneAddress address{emitIndexAdd(b, loc, base, i * lanes), 1, {}};
    emitVectorStore(b, loc, value, bindings.results[write.result], address,
                    isMasked ? storedMasks[i] : Value());
  }
}
