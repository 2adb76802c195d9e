//===- ScanStarts.h - What a scan's gradient begins with --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a scan runs each trip again, from the carries with which it
// began. A scan yields these as rows of its own, its starts, which go where
// nobody reads them.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_SCANSTARTS_H
#define METAOPS_TRANSFORMS_AUTODIFF_SCANSTARTS_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::metaop {

/// Emits the body of a scan, and returns what it yields.
using ScanBody = llvm::function_ref<SmallVector<Value>(
    OpBuilder &, Location, ValueRange carries, ValueRange rows)>;

/// Makes a scan that also yields the start of each carry, behind all else.
ScanOp createScan(OpBuilder &builder, Location loc, int64_t trips, bool reverse,
                  ValueRange inits, ValueRange rows, ScanBody emitBody);

/// Returns the rows of what a carry is when a trip begins; null if the scan
/// does not yield them.
Value findStarts(ScanOp scan, unsigned carry);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_SCANSTARTS_H
