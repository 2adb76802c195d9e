//===- LocalValues.h - Values that stay inside of a kernel ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_CPU_LOCALVALUES_H
#define METAOPS_TRANSFORMS_SCHEDULE_CPU_LOCALVALUES_H

#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"

namespace mlir::metaop {

/// A result of a stage that only later stages of its kernel read. Its memory is
/// for what one iteration of the loops makes that all of them share with the
/// writer.
struct LocalValue {
  OpResult result;
  /// The stage that writes it, and which of the stage's writes does.
  unsigned stage, write;
  /// The loops that are shared.
  unsigned numShared;
  /// The shape that one iteration of them writes, and its number of elements,
  /// if known.
  SmallVector<AffineExpr> shape;
  std::optional<int64_t> size;
};

/// Returns those of a loop tree, but for results that have a buffer.
SmallVector<LocalValue>
findLocalValues(ArrayRef<ScheduledStage> stages,
                llvm::function_ref<bool(OpResult)> hasBuffer);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_CPU_LOCALVALUES_H
