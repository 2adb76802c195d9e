//===- StageRuns.cpp - Lanes a few elements apart -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interleaved loads and stores. Lanes s elements apart lie in a run of s *
// (lanes - 1) + 1 elements. It is read by s vectors, of which shuffles choose.
// The last vector begins s - 1 elements early, so that it ends with the last
// lane's element: nothing outside of the run is touched. Where lanes are
// masked, so are the vectors, and the elements between the lanes with them:
// these may lie behind the buffer's end. A run that is walked backwards is read
// forwards and reversed.
//
// A write of step s whose phases 0 to s - 1 are the copies of the unrolled loop
// fills its run: the copies are interleaved and stored by s whole vectors.
//
//===----------------------------------------------------------------------===//

#include "AffineEmitter.h"
#include "MetaOps/Transforms/Schedule/ShortSteps.h"
#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// The elements of a run and the vectors that cover it.
class Run {
public:
  Run(int64_t step, int64_t lanes)
      : stride(std::abs(step)), isReversed(step < 0), lanes(lanes) {}

  int64_t getNumVectors() const { return stride; }
  /// The run's element that a vector begins with.
  int64_t getFirst(int64_t vector) const {
    return vector * lanes - (vector == stride - 1 ? stride - 1 : 0);
  }
  /// The lane that an element belongs to; -1 if it lies between lanes.
  int64_t getLaneOf(int64_t element) const {
    if (element % stride != 0)
      return -1;
    int64_t lane = element / stride;
    return isReversed ? lanes - 1 - lane : lane;
  }
  /// The vector that has a lane's element, and the place in it.
  std::pair<int64_t, int64_t> getPlaceOf(int64_t lane) const {
    int64_t element = (isReversed ? lanes - 1 - lane : lane) * stride;
    int64_t vector = element / lanes;
    return {vector, element - getFirst(vector)};
  }

private:
  int64_t stride;
  bool isReversed;
  int64_t lanes;
};

} // namespace

static Value emitLanesConstant(OpBuilder &b, Location loc, bool value,
                               int64_t lanes) {
  auto type = VectorType::get(lanes, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

Value StageEmitter::emitRunLoad(const StagePlace &place, Value buffer,
                                VectorType type, int64_t step, unsigned copy,
                                Value mask, Value passThrough) {
  Run run(step, lanes);
  Value base = emitExpr(place.offset, copy);
  if (step < 0)
    base = emitIndexAdd(b, loc, base, step * (lanes - 1));
  Value none = mask ? emitLanesConstant(b, loc, false, lanes) : Value();
  Value result;
  for (int64_t i = 0; i < run.getNumVectors(); ++i) {
    Value offset = emitIndexAdd(b, loc, base, run.getFirst(i));
    Value loaded;
    if (mask) {
      SmallVector<int64_t> lanesOf;
      for (int64_t j = 0; j < lanes; ++j) {
        int64_t lane = run.getLaneOf(run.getFirst(i) + j);
        lanesOf.push_back(lane < 0 ? lanes : lane);
      }
      Value spread = vector::ShuffleOp::create(b, loc, mask, none, lanesOf);
      loaded = vector::MaskedLoadOp::create(
          b, loc, type, buffer, ValueRange{offset}, spread, passThrough);
    } else {
      loaded = vector::LoadOp::create(b, loc, type, buffer, ValueRange{offset});
    }
    // Lanes of later vectors are chosen later.
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      auto [vector, at] = run.getPlaceOf(lane);
      if (result)
        order.push_back(vector == i ? lanes + at : lane);
      else
        order.push_back(vector == i ? at : 0);
    }
    result = vector::ShuffleOp::create(b, loc, result ? result : loaded, loaded,
                                       order);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Interleaved stores
//===----------------------------------------------------------------------===//

bool StageEmitter::isInterleaved(const StageWrite &write) const {
  if (!isUnrolled || !isVectorOpen() || tileLoop >= 0 ||
      combinesInMemory(write, schedule, bindings.openedLoops))
    return false;
  auto phases = getPhaseLoop(stage, write, vectorLoop, lanes);
  return phases && *phases == unrollLoop &&
         stage.getStaticExtent(unrollLoop) == unroll;
}

/// Element e of the result is lane e / s of vector e mod s, for s vectors.
StageEmitter::Copies StageEmitter::emitInterleaved(ArrayRef<Value> phases) {
  int64_t step = phases.size();
  Copies results;
  for (int64_t i = 0; i < step; ++i) {
    Value result = phases[0];
    for (int64_t phase = 1; phase < step; ++phase) {
      SmallVector<int64_t> order;
      for (int64_t j = 0; j < lanes; ++j) {
        int64_t element = i * lanes + j;
        if (element % step == phase)
          order.push_back(lanes + element / step);
        else
          order.push_back(phase == 1 ? element / step : j);
      }
      result = vector::ShuffleOp::create(b, loc, result, phases[phase], order);
    }
    results.push_back(result);
  }
  return results;
}

void StageEmitter::storeInterleaved(const StageWrite &write,
                                    ArrayRef<Value> phases) {
  Type element = getElementTypeOrSelf(write.value);
  SmallVector<Value> values, masks;
  bool isMasked = false;
  for (auto [copy, phase] : llvm::enumerate(phases)) {
    values.push_back(toMemoryType(broadcastTo(b, loc, phase, lanes), element));
    Value guard, mask;
    addChecks(write.place.rangeChecks, copy, guard, mask);
    masks.push_back(mergeMask(guard, emitAnd(b, loc, mask, tailMask)));
    isMasked |= masks.back() != nullptr;
  }
  for (Value &mask : masks)
    if (isMasked && !mask)
      mask = emitLanesConstant(b, loc, true, lanes);
  Value base = emitExpr(write.place.offset, /*copy=*/0);
  Copies stored = emitInterleaved(values);
  Copies storedMasks = isMasked ? emitInterleaved(masks) : Copies();
  for (auto [i, value] : llvm::enumerate(stored)) {
    Value offset = emitIndexAdd(b, loc, base, i * lanes);
    Value buffer = bindings.results[write.result];
    if (isMasked)
      vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{offset},
                                    storedMasks[i], value);
    else
      vector::StoreOp::create(b, loc, value, buffer, ValueRange{offset});
  }
}
