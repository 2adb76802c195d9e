//===- Contributions.h - What makes up a gradient ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_CONTRIBUTIONS_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_CONTRIBUTIONS_H

#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace mlir::metaop {

/// A cotangent of a value, or of the window of it that a slice reads.
struct Contribution {
  Value cotangent;
  /// Null where it is of the whole value.
  SliceOp window;
  Location loc;
};

/// Returns whether the slice is a box of neighbouring elements.
bool isWindow(SliceOp slice);

/// The sum of what uses of `value` contribute, one at least. Where there are
/// several windows, `getNumber` tells where they begin.
Value addUp(OpBuilder &builder, Value value,
            ArrayRef<Contribution> contributions,
            llvm::function_ref<std::optional<int64_t>(Value)> getNumber);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_CONTRIBUTIONS_H
