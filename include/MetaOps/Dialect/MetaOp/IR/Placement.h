//===- Placement.h - Where a tensor lies in another -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_PLACEMENT_H
#define METAOPS_DIALECT_METAOP_IR_PLACEMENT_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::metaop {

/// An operand of a placement op as a window of its result.
struct Placement {
  unsigned operand;
  /// The window's first element, per dimension, where it is known.
  llvm::SmallVector<int64_t> starts;
  /// Numbers that are added to it at run time: 0-d i64 tensors, one per
  /// dimension, or none. Elements that would lie outside of the result are left
  /// out.
  llvm::SmallVector<Value> symbols;
};

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_PLACEMENT_H
