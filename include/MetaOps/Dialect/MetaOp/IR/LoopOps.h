//===- LoopOps.h - Loops over rows ------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_LOOPOPS_H
#define METAOPS_DIALECT_METAOP_IR_LOOPOPS_H

#include "MetaOps/Dialect/MetaOp/IR/OpDeclarations.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <optional>

namespace mlir::metaop {

/// The number of trips of a scan.
struct ScanTrips {
  ScanTrips(int64_t trips) : known(trips) {}
  /// As many as a number from memory says, at most `most`. All of these, if
  /// the number is null.
  ScanTrips(Value count, std::optional<int64_t> most)
      : known(most), count(count) {}

  /// The extent of rows.
  std::optional<int64_t> known;
  Value count;
};

/// The type of one row of a tensor: without the leading dimension, which there
/// has to be.
RankedTensorType getRowType(RankedTensorType type);
/// The type of so many rows.
RankedTensorType getStackedType(RankedTensorType row, int64_t count);

} // namespace mlir::metaop

#define GET_OP_CLASSES
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h.inc"

#endif // METAOPS_DIALECT_METAOP_IR_LOOPOPS_H
