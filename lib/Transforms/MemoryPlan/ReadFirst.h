//===- ReadFirst.h - Readers before writers ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_MEMORYPLAN_READFIRST_H
#define METAOPS_TRANSFORMS_MEMORYPLAN_READFIRST_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::metaop {

/// Moves what reads a tensor in loops and branches to before the insert, or the
/// branch or loop with inserts, that may write over it.
void readFirst(func::FuncOp main);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_MEMORYPLAN_READFIRST_H
