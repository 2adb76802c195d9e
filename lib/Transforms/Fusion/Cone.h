//===- Cone.h - What a value of a kernel is computed from -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_FUSION_CONE_H
#define METAOPS_LIB_TRANSFORMS_FUSION_CONE_H

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {

/// Cone of a value of a stage: all that it is computed from.
struct Cone {
  /// In program order.
  SmallVector<Operation *> ops;
  /// Arguments of the stage.
  llvm::SetVector<Value> leaves;

  /// Finds the cone of a value: element-wise ops that have a price, broadcasts
  /// of something much smaller, and constants. Nothing if there is anything
  /// else, or too much.
  static std::optional<Cone> find(Value value, const VaryingExtents &varying);

  /// Returns the element-wise ops but those on broadcast values alone, which
  /// code does once for many elements.
  SmallVector<ElementwiseOpInterface> getElementOps() const;

  /// The price of these.
  int64_t getPrice() const;
};

/// Ratio of a value's size to what is broadcast.
inline constexpr int64_t kBroadcastRatio = 8;

/// The stage of a kernel that has no other; null if it has several.
FusedOp getOnlyStage(KernelOp kernel);

/// Returns what outside of a kernel is an argument of its stage.
inline Value getOuter(KernelOp kernel, Value argument) {
  return kernel.getInputs()[cast<BlockArgument>(argument).getArgNumber()];
}

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_FUSION_CONE_H
