//===- Counts.h - Counts that saturate --------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A count that does not fit is kMaxCount, and stays that in sums and products
// (but for products by 0). No tensor of so many elements, and no memory of so
// many bytes, can exist.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_SUPPORT_COUNTS_H
#define METAOPS_SUPPORT_COUNTS_H

#include "llvm/Support/MathExtras.h"

#include <cstdint>
#include <limits>

namespace metaops {

inline constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max();

/// a + b and a * b of counts.
inline int64_t addCounts(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? kMaxCount : sum;
}
inline int64_t multiplyCounts(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? kMaxCount : product;
}

} // namespace metaops

#endif // METAOPS_SUPPORT_COUNTS_H
