//===- CarriedSources.cpp - What trips make of what they carry ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip is a map of sets: what it makes of inputs, and the union of those of
// the carries that it reads. So trips are a power of that map, of which few are
// different as a rule: a loop that adds to what it carries changes nothing
// behind its first trip, one that shifts n values on behind n, and one that
// exchanges two goes on for ever.
//
//===----------------------------------------------------------------------===//

#include "CarriedSources.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::metaop;

using Bits = llvm::SmallBitVector;

/// Trips that are made one by one before others are made by squaring.
static constexpr int64_t maxSingleTrips = 64;

CarriedSources::CarriedSources(unsigned numInputs, SmallVector<Bits> firsts,
                               SmallVector<Bits> ofTrip)
    : numInputs(numInputs), inits(std::move(firsts)), made(std::move(ofTrip)) {
  for (Bits &init : inits)
    init.resize(numInputs);
  for (Bits &bits : made)
    bits.resize(numInputs + inits.size());
}

Bits CarriedSources::resolve(const Bits &of, ArrayRef<Bits> carries) const {
  Bits resolved = of;
  resolved.resize(numInputs);
  for (int bit = of.find_next(static_cast<int>(numInputs) - 1); bit >= 0;
       bit = of.find_next(bit))
    resolved |= carries[bit - numInputs];
  return resolved;
}

SmallVector<Bits> CarriedSources::compose(ArrayRef<Bits> sets,
                                          ArrayRef<Bits> carries) const {
  return llvm::map_to_vector(
      sets, [&](const Bits &of) { return resolve(of, carries); });
}

bool CarriedSources::makeTrip(State &state) const {
  bool isChanged = false;
  for (auto [begin, carry] : llvm::zip_equal(state.begins, state.carries)) {
    isChanged |= carry.test(begin);
    begin |= carry;
  }
  SmallVector<Bits> next = compose(getNext(), state.carries);
  isChanged |= next != state.carries;
  state.carries = std::move(next);
  return isChanged;
}

CarriedSources::State CarriedSources::makeTrips(int64_t trips) const {
  // Maps: those of `own` trips, and the union of those of fewer ones.
  State power;
  for (unsigned number = 0; number < inits.size(); ++number) {
    Bits itself(numInputs + inits.size());
    itself.set(numInputs + number);
    power.begins.push_back(std::move(itself));
  }
  power.carries.assign(getNext().begin(), getNext().end());
  State all{inits, SmallVector<Bits>(inits.size(), Bits(numInputs))};
  for (; trips > 0; trips /= 2) {
    if (trips % 2 != 0) {
      for (auto [begin, more] :
           llvm::zip_equal(all.begins, compose(power.begins, all.carries)))
        begin |= more;
      all.carries = compose(power.carries, all.carries);
    }
    SmallVector<Bits> later = compose(power.begins, power.carries);
    for (auto [begin, more] : llvm::zip_equal(power.begins, later))
      begin |= more;
    power.carries = compose(power.carries, power.carries);
  }
  return all;
}

SmallVector<Bits> CarriedSources::getResults(const State &state) const {
  SmallVector<Bits> results = state.carries;
  for (const Bits &row : ArrayRef(made).drop_front(inits.size()))
    results.push_back(resolve(row, state.begins));
  return results;
}

SmallVector<Bits> CarriedSources::findExact(int64_t trips) const {
  State state{inits, SmallVector<Bits>(inits.size(), Bits(numInputs))};
  if (trips == 0)
    state.begins = inits;
  bool isChanged = true;
  for (int64_t trip = 0; trip < trips && isChanged; ++trip) {
    if (trip == maxSingleTrips)
      return getResults(makeTrips(trips));
    isChanged = makeTrip(state);
  }
  return getResults(state);
}

SmallVector<Bits> CarriedSources::resolveAny(ArrayRef<Bits> values,
                                             bool adds) const {
  SmallVector<Bits> carries = inits;
  // To and fro, as one carry takes the value of its neighbour in many loops.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    auto add = [&](unsigned number) {
      Bits more = resolve(made[number], carries);
      isChanged |= more.test(carries[number]);
      carries[number] |= more;
    };
    for (unsigned number = 0; number < carries.size(); ++number)
      add(number);
    for (unsigned number = carries.size(); number-- > 0;)
      add(number);
  }
  SmallVector<Bits> resolved = compose(values, carries);
  if (adds)
    llvm::copy(carries, resolved.begin());
  return resolved;
}

int64_t CarriedSources::findBound() const {
  State state{inits, SmallVector<Bits>(inits.size(), Bits(numInputs))};
  makeTrip(state);
  SmallVector<Bits> results = getResults(state);
  int64_t bound = 1;
  for (int64_t trips = 2; trips <= maxSingleTrips; ++trips) {
    bool isChanged = makeTrip(state);
    SmallVector<Bits> next = getResults(state);
    if (next != results)
      bound = trips;
    if (!isChanged)
      return bound;
    results = std::move(next);
  }
  return 0;
}
