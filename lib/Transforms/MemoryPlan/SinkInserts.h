//===- SinkInserts.h - Inserts behind what reads their place ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_MEMORYPLAN_SINKINSERTS_H
#define METAOPS_TRANSFORMS_MEMORYPLAN_SINKINSERTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::metaop {

/// Moves the inserts of loops and branches, and branches and loops with such
/// inside, to before what first reads their results.
void sinkInserts(func::FuncOp main);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_MEMORYPLAN_SINKINSERTS_H
