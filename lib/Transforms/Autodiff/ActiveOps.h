//===- ActiveOps.h - What lies between targets and outputs ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_ACTIVEOPS_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_ACTIVEOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace mlir::metaop {

bool isFloatTensor(Value value);

/// Returns those of the values that are tensors of floats.
SmallVector<Value> keepFloats(ValueRange values);

/// Values that a caller gives, and what messages call one of them.
struct GivenValues {
  ArrayRef<Value> values;
  StringRef name;
};

/// Fails unless outputs and inputs are tensors of floats, and there is one
/// direction of the type of each output, or of each input.
llvm::Error checkValues(GivenValues outputs, GivenValues inputs,
                        GivenValues directions, bool ofOutputs);

/// The differentiable operations of a block that lie between targets and
/// outputs.
struct ActiveOps {
  /// No derivative passes through operations for which `isStopped` holds, and
  /// nothing before them is looked at.
  ActiveOps(Block *block, ArrayRef<Value> outputs, ArrayRef<Value> targets,
            llvm::function_ref<bool(Operation *)> isStopped);

  /// Operands before users.
  SmallVector<Operation *> order;
  /// Values that depend on a target, targets included.
  llvm::DenseSet<Value> values;
};

/// The operation before the insertion point, or null.
Operation *getOpBefore(OpBuilder &builder);

/// Erases the unused operations between `before` and the insertion point, users
/// before operands.
void eraseUnused(OpBuilder &builder, Operation *before, ArrayRef<Value> kept);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_ACTIVEOPS_H
