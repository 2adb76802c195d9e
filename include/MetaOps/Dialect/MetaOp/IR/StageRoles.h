//===- StageRoles.h - Roles of stages beside a contraction ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roles of stages in the kernel of a contraction. The stage that sums products
// is the contraction; before it stand packings, each of which makes a factor,
// and behind it epilogues, which go on with the sums. All share outer loops of
// the contraction, block by block:
//
//   %p = metaop.fused(...) schedule(...) role(packing)
//   %s = metaop.fused(... %p ...) schedule(...) role(contraction)
//   %y = metaop.fused(... %s ...) schedule(...) role(epilogue)
//
// Passes that write such a schedule write the role with it; lowerings and
// reports read it. A stage of a kernel without a contraction has none. The role
// of a contraction is there whatever its loops are: they may be those of any
// stage, without blocks or a tile.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_STAGEROLES_H
#define METAOPS_DIALECT_METAOP_IR_STAGEROLES_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"

namespace mlir::metaop {

/// Returns true if the stage's only result is a sum of products, as that of a
/// contraction is.
bool sumsProducts(FusedOp stage);

/// Verifies the role of a stage by itself: rule S4 of docs/Schedule.md.
LogicalResult verifyRole(FusedOp stage);

/// Verifies how many stages of a kernel have which role, and in which order:
/// rule S5.
LogicalResult verifyRoles(KernelOp kernel);

/// Returns the stage of a kernel's body that is the contraction; null if there
/// is none.
FusedOp findContraction(Block &kernel);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_STAGEROLES_H
