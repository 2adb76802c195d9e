//===- RowGroups.h - Rows of several trips at once --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over rows becomes one over groups of rows, and what makes the trips of
// a group inside of it. Rows that fill no group are left for the trips behind
// the loop: they are the last ones, or the first ones of a loop in reverse.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_ROWGROUPS_H
#define METAOPS_DIALECT_METAOP_IR_ROWGROUPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::metaop {

/// Reads from a row on, as a tensor of other leading extents: none for one row,
/// or so many.
Value readRows(OpBuilder &builder, Location loc, Value rows, int64_t first,
               std::optional<int64_t> count);

/// The rows of so many trips, in groups.
class RowGroups {
public:
  RowGroups(int64_t trips, int64_t length, bool isReverse)
      : trips(trips), length(length), isReverse(isReverse) {}

  int64_t getNumGroups() const { return trips / length; }
  /// Returns how many rows are left over.
  int64_t getNumLeft() const { return trips % length; }
  /// Returns the number of the first row of those that are left over.
  int64_t getFirstLeft() const { return isReverse ? 0 : countGrouped(); }

  /// Emits the groups of rows, with a leading dimension of them.
  Value group(OpBuilder &builder, Location loc, Value rows) const;
  /// Emits the rows that are left over; there are some.
  Value takeLeft(OpBuilder &builder, Location loc, Value rows) const;
  /// Emits all rows, given the groups and what is left over: null if nothing
  /// is.
  Value join(OpBuilder &builder, Location loc, Value groups, Value left) const;

private:
  int64_t countGrouped() const { return trips - getNumLeft(); }

  int64_t trips, length;
  bool isReverse;
};

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_ROWGROUPS_H
