//===- KeptLoops.h - Loops that are not collapsed ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_KEPTLOOPS_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_KEPTLOOPS_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"

namespace mlir::metaop {

/// Has stages that may be joined keep loops apart that would be collapsed.
LogicalResult keepLoopsApart(Block &block);

/// Those that are still alone are quicker to go through as few.
void collapseLoopsOfSingleStages(Block &block);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_KEPTLOOPS_H
