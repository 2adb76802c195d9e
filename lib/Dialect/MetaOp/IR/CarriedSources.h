//===- CarriedSources.h - What trips make of what they carry ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sets of bits: of inputs of a loop, and behind them one for each value that it
// carries.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_DIALECT_METAOP_IR_CARRIEDSOURCES_H
#define METAOPS_LIB_DIALECT_METAOP_IR_CARRIEDSOURCES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace mlir::metaop {

/// Sets of what a loop makes of the values that it begins with, given those of
/// what a trip makes of what is carried: its next values, and rows behind them.
class CarriedSources {
public:
  using Bits = llvm::SmallBitVector;

  /// `inits` are the sets of the values that the loop begins with, `made` those
  /// of what a trip makes.
  CarriedSources(unsigned numInputs, SmallVector<Bits> inits,
                 SmallVector<Bits> made);

  /// Returns the sets of the results of so many trips: the last values, which
  /// are the first ones where there is none, and rows, which any trip may make.
  SmallVector<Bits> findExact(int64_t trips) const;
  /// Returns those of any number of trips, none included.
  SmallVector<Bits> findAny() const { return resolveAny(made, /*adds=*/true); }
  /// Returns the sets of values that are made of what is carried behind any
  /// number of trips, and, if `adds` is set, of what it is itself.
  SmallVector<Bits> resolveAny(ArrayRef<Bits> values, bool adds = false) const;
  /// Returns the number of trips, at least 1, from which on more trips change
  /// no result; 0 if there is none, or it is a large one.
  int64_t findBound() const;

private:
  /// Sets of what is carried behind some trips, and any of these began with.
  struct State {
    SmallVector<Bits> carries, begins;
  };

  /// Makes one more trip. Returns whether anything has changed.
  bool makeTrip(State &state) const;
  /// Makes so many trips from the beginning by squaring.
  State makeTrips(int64_t trips) const;
  SmallVector<Bits> getResults(const State &state) const;
  /// Returns a set with what carries are made of in the place of these.
  Bits resolve(const Bits &of, ArrayRef<Bits> carries) const;
  SmallVector<Bits> compose(ArrayRef<Bits> sets, ArrayRef<Bits> carries) const;
  ArrayRef<Bits> getNext() const {
    return ArrayRef(made).take_front(inits.size());
  }

  unsigned numInputs;
  SmallVector<Bits> inits, made;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_DIALECT_METAOP_IR_CARRIEDSOURCES_H
