//===- Prefix.h - The order of prefixes -------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_PREFIX_H
#define METAOPS_DIALECT_METAOP_IR_PREFIX_H

#include <cstdint>

namespace mlir::metaop {

/// A prefix, unless it is a product, is computed in blocks of so many elements:
/// each from its own first element on, and then combined with the last result
/// of the block before. So rounding depends on the extent alone, and blocks may
/// be computed at once.
/// Their bytes are no power of two: blocks side by side would be in one set of
/// a cache.
inline constexpr int64_t kPrefixBlock = 1008;

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_PREFIX_H
