//===- SumsBehindScan.h - Sums over the trips of a scan ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_SUMSBEHINDSCAN_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_SUMSBEHINDSCAN_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {

/// Sums over all trips of values of a loop's body, computed behind the loop
/// from rows: of what the sums are made of, the values of all trips.
class SumsBehindScan {
public:
  /// All rows that the loop makes for the sums are to fit in `bytes`.
  SumsBehindScan(Block *body, unsigned numCarries, int64_t trips, int64_t bytes)
      : body(body), numCarries(numCarries), trips(trips), bytesLeft(bytes) {}

  /// Returns whether a value of the loop is a row that it is given.
  bool isOwnRow(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getArgNumber() >= numCarries;
  }

  /// Returns whether the sum of a value is better computed behind the loop. If
  /// so, the rows that it is made of are added to those that it needs.
  bool add(Value value);
  /// Returns the values of the body whose rows are needed.
  ArrayRef<Value> getRows() const { return rows.getArrayRef(); }
  /// Emits the sum of a value that was added. `getStacked` gives the rows.
  Value emitSum(OpBuilder &builder, Value value,
                llvm::function_ref<Value(Value)> getStacked);

private:
  bool collectSum(Value value, llvm::SetVector<Value> &found,
                  unsigned &numValues);
  bool collect(Value value, llvm::SetVector<Value> &found);
  int64_t countNewBytes(const llvm::SetVector<Value> &found) const;
  bool isRepeated(Value value, unsigned depth = 0);
  Value emitStacked(OpBuilder &builder, Value value,
                    llvm::function_ref<Value(Value)> getStacked);
  int64_t getTrips(llvm::function_ref<Value(Value)> getStacked) const;
  bool isInside(Value value) const { return value.getParentBlock() == body; }

  Block *body;
  unsigned numCarries;
  int64_t trips, bytesLeft;
  llvm::SetVector<Value> rows;
  /// Values whose sum is made of the sum of what they are made of.
  llvm::DenseSet<Value> linear;
  llvm::DenseMap<Value, Value> stacked;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_SUMSBEHINDSCAN_H
