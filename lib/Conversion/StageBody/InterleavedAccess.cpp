//===- InterleavedAccess.cpp - Lanes a few elements apart -----------------===//
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
// If s vectors are written in steps of s, each one element behind the one
// before, they fill their run: interleaved, they are s whole vectors.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/InterleavedAccess.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

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

/// The mask of the run's elements that are in a vector: what lies between lanes
/// is left out.
static Value emitSpread(OpBuilder &b, Location loc, const Run &run,
                        int64_t vector, Value mask, Value none, int64_t lanes) {
  SmallVector<int64_t> lanesOf;
  for (int64_t j = 0; j < lanes; ++j) {
    int64_t lane = run.getLaneOf(run.getFirst(vector) + j);
    lanesOf.push_back(lane < 0 ? lanes : lane);
  }
  return vector::ShuffleOp::create(b, loc, mask, none, lanesOf);
}

/// Half of a vector, or nothing of none.
static Value emitHalf(OpBuilder &b, Location loc, Value vector, bool isUpper) {
  if (!vector)
    return {};
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements() / 2;
  return vector::ExtractStridedSliceOp::create(
      b, loc, vector, ArrayRef<int64_t>{isUpper ? lanes : 0},
      ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
}

/// Returns whether LLVM 22 may never end compiling a shuffle that reverses such
/// a vector: for processors with VBMI, legalization rewrites one of 64 bytes of
/// which some lanes are not stored, again and again.
static bool isReversedForEver(VectorType type, int64_t step) {
  return step < 0 && type.getElementTypeBitWidth() == 8 &&
         type.getNumElements() > 32;
}

Value metaop::emitInterleavedLoad(OpBuilder &b, Location loc, VectorType type,
                                  Value buffer, const LaneAddress &at,
                                  Value mask, Value passThrough) {
  int64_t lanes = type.getNumElements();
  if (isReversedForEver(type, at.step)) {
    auto half = VectorType::get(lanes / 2, type.getElementType());
    auto load = [&](bool isUpper) {
      LaneAddress part = at;
      part.base =
          emitIndexAdd(b, loc, at.base, isUpper ? at.step * (lanes / 2) : 0);
      return emitInterleavedLoad(b, loc, half, buffer, part,
                                 emitHalf(b, loc, mask, isUpper),
                                 emitHalf(b, loc, passThrough, isUpper));
    };
    Value lower = load(/*isUpper=*/false), upper = load(/*isUpper=*/true);
    SmallVector<int64_t> order(lanes);
    std::iota(order.begin(), order.end(), 0);
    return vector::ShuffleOp::create(b, loc, lower, upper, order);
  }
  Run run(at.step, lanes);
  Value base = at.base;
  if (at.step < 0)
    base = emitIndexAdd(b, loc, base, at.step * (lanes - 1));
  Value none = mask ? emitConstantMask(b, loc, false, lanes) : Value();
  Value result;
  for (int64_t i = 0; i < run.getNumVectors(); ++i) {
    LaneAddress part{emitIndexAdd(b, loc, base, run.getFirst(i)), 1, {}};
    Value spread =
        mask ? emitSpread(b, loc, run, i, mask, none, lanes) : Value();
    Value loaded =
        emitVectorLoad(b, loc, type, buffer, part, spread, passThrough);
    // Lanes of later vectors are chosen later.
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      auto [vector, place] = run.getPlaceOf(lane);
      if (result)
        order.push_back(vector == i ? lanes + place : lane);
      else
        order.push_back(vector == i ? place : 0);
    }
    result = vector::ShuffleOp::create(b, loc, result ? result : loaded, loaded,
                                       order);
  }
  return result;
}

/// Element e of the result is lane e / s of vector e mod s, for s vectors.
SmallVector<Value, 4> metaop::emitInterleaved(OpBuilder &b, Location loc,
                                              ArrayRef<Value> phases) {
  int64_t step = phases.size();
  int64_t lanes = cast<VectorType>(phases.front().getType()).getNumElements();
  SmallVector<Value, 4> results;
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
