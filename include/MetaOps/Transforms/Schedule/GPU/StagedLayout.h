//===- StagedLayout.h - Boxes in shared memory ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_GPU_STAGEDLAYOUT_H
#define METAOPS_TRANSFORMS_SCHEDULE_GPU_STAGEDLAYOUT_H

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Target/Description/Chip.h"

namespace mlir::metaop {

/// Layout in shared memory of the box that a block copies of a read: row by
/// row, and behind each row elements that nobody uses. Then threads along a
/// column use different banks. Rows of which the banks hold several share that
/// padding: side by side they use all banks once, as one long row does.
struct StagedLayout {
  StagedLayout() = default;
  StagedLayout(int64_t row, int64_t elementBytes, int64_t pad)
      : row(row), pad(pad) {
    int64_t banks = Chip::kBanks * Chip::kBankBytes;
    int64_t bytes = multiplyCounts(row, elementBytes);
    rows = banks % bytes == 0 ? banks / bytes : 1;
  }

  /// The elements of so many rows.
  int64_t getSize(int64_t count) const {
    return addCounts(multiplyCounts(count, row),
                     multiplyCounts(count / rows, pad));
  }

  /// Elements of a row.
  int64_t row = 1;
  /// Rows that share a padding.
  int64_t rows = 1;
  /// Its elements.
  int64_t pad = 0;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_GPU_STAGEDLAYOUT_H
