//===- LoopRange.h - A part of a loop ------------------------- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_LOOPRANGE_H
#define METAOPS_CONVERSION_STAGEBODY_LOOPRANGE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace mlir::metaop {

/// The part of a loop that is emitted.
struct LoopRange {
  Value begin;
  Value end;
  /// The number of iterations, if it is a constant.
  std::optional<int64_t> extent;
  /// True if what compiles the loop may unroll it: not where an iteration has
  /// all that should be done side by side.
  bool mayUnroll = true;
};

/// Takes the longest prefix of `range` that is a multiple of `step`.
LoopRange splitOff(OpBuilder &b, Location loc, LoopRange &range, int64_t step);

/// Has what compiles the loop leave it as it is.
void disableUnrolling(scf::ForOp loop);

/// Emits something inside of a loop over `range`.
void emitFor(OpBuilder &b, Location loc, const LoopRange &range, Value step,
             llvm::function_ref<void(Value)> emit);

/// Emits a loop that carries values, which `emit` is given and gives anew;
/// returns what they are behind it.
SmallVector<Value>
emitFor(OpBuilder &b, Location loc, const LoopRange &range, Value step,
        ValueRange carried,
        llvm::function_ref<SmallVector<Value>(Value, ValueRange)> emit);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_LOOPRANGE_H
