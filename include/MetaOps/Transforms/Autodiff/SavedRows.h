//===- SavedRows.h - Rows that a scan saves for its gradient ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a scan runs each trip again, from the carries with which it
// began. A scan yields these as rows of its own, its starts, and what is dear
// to compute again: sums, and results of routines, loops and branches in its
// body. Rows that nobody reads are neither computed nor stored. Where the
// starts alone are too many bytes, blocks of trips keep fewer (ScanBlocks.h).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_SAVEDROWS_H
#define METAOPS_TRANSFORMS_AUTODIFF_SAVEDROWS_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::metaop {

/// Emits the body of a scan, and returns what it yields.
using ScanBody = llvm::function_ref<SmallVector<Value>(
    OpBuilder &, Location, ValueRange carries, ValueRange rows)>;

/// Makes a scan that also yields, behind all else, what derivatives read of
/// each carry's start, and of what is dear to compute again as much as fits in
/// `savedBytes` beside that. It yields neither if nobody knows how many trips
/// there may be, or if it is to be made in blocks.
ScanOp createScan(OpBuilder &builder, Location loc, ScanTrips trips,
                  bool reverse, ValueRange inits, ValueRange rows,
                  ScanBody emitBody, int64_t savedBytes);

/// Returns what derivatives read of a carry where a trip begins: itself, parts
/// that the body takes of it, or nothing.
SmallVector<Value> findReads(Value carry);

/// Returns the bytes that derivatives read of carries where a trip begins.
int64_t countStartBytes(ValueRange carries);
/// Returns the bytes of what is dear to compute again in a trip, given what it
/// yields, the next carries first.
int64_t countDearBytes(ValueRange carries, ArrayRef<Value> yielded);

/// Returns the values of a scan's body that derivatives read, where they are
/// rows, and do not compute again. A maximum is none: derivatives compare it
/// with what it is of, which another kernel may round in another way.
llvm::SetVector<Value> findSaved(ScanOp scan);

/// Returns for each of a scan's results if it is rows that derivatives read.
llvm::SmallBitVector findReadResults(ScanOp scan);

/// Returns the rows that a scan makes of a value of its body; null if it does
/// not yield that.
Value findRows(ScanOp scan, Value ofTrip);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_SAVEDROWS_H
