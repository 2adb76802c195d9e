//===- ResultSources.h - What each result is made of ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation with regions takes all that these read, though each of its
// results may be made of a part of that only, and of another result. Those of a
// scan are made of what its trips make them of, which depends on how many there
// are; those of other loops of what any number of trips makes of them.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_RESULTSOURCES_H
#define METAOPS_DIALECT_METAOP_IR_RESULTSOURCES_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::metaop {

/// Sources of the results of an operation: derivatives depend on them, though
/// these may be zero everywhere, as those of `sign` are.
struct ResultSources {
  /// By result, a bit for each of the operands and, behind them, captures.
  SmallVector<llvm::SmallBitVector> inputs;
  /// By result, a bit for each of the other results that the regions make it
  /// of; empty where there are none. Rows of a scan are apart from carries.
  SmallVector<llvm::SmallBitVector> siblings;
};

/// Which trips the scans of an operation are taken to make: as many as they do,
/// or so many that more of them change nothing. None stays none.
enum class TripsTaken { Own, Many };

/// Returns what the results of an operation are made of.
ResultSources findResultSources(Operation *op,
                                TripsTaken trips = TripsTaken::Own);

/// Returns, of the scans of an operation that make trips whose number is known,
/// inner ones first, the number from which on more trips change nothing of what
/// results are made of, where scans inside make many; 0 where each number may.
/// Empty where all numbers are the same.
SmallVector<int64_t> findTripBounds(Operation *op);

/// Returns, by scan, the number of trips as far as what results are made of
/// depends on it, 0 for many; empty if all make many.
SmallVector<int64_t> classifyTrips(Operation *op, ArrayRef<int64_t> bounds);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_RESULTSOURCES_H
