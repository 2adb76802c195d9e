//===- ScanBlocks.h - Scans that keep each k-th carry -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The starts of a scan's carries are as many rows as there are trips. Where
// these are too many bytes, the trips are made in blocks of k:
//
//   scan n / k carries(c) rows(xs in groups of k) { scan k carries(c) rows(xs)
//   }
//
// The gradient goes from block to block, and makes the trips of a block again.
// Kept are the starts of the blocks, and those of the trips of one block.
// This is checkpointing of two levels (Griewank and Walther, 2008, ch. 12).
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_SCANBLOCKS_H
#define METAOPS_TRANSFORMS_AUTODIFF_SCANBLOCKS_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"

#include <optional>

namespace mlir::metaop {

/// Returns how many trips a block is to have of a scan which does not keep the
/// starts of all trips within `savedBytes`. Nothing is returned where it does,
/// where blocks would keep as much, or where no loop is to be left.
std::optional<int64_t> chooseBlockTrips(ScanOp scan, int64_t savedBytes);
/// As above, by the carries of a body, and what it yields, the next carries
/// first.
std::optional<int64_t> chooseBlockTrips(ValueRange carries,
                                        ArrayRef<Value> yielded, int64_t trips,
                                        int64_t savedBytes);

/// Emits the trips of a scan in blocks of so many, and returns the values of
/// its results. Rows of a scan that reads its `count` have no blocks.
SmallVector<Value> emitInBlocks(OpBuilder &builder, ScanOp scan,
                                int64_t blockTrips, int64_t savedBytes);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_SCANBLOCKS_H
