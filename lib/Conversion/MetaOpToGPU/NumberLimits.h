//===- NumberLimits.h - Numbers out of tensors in narrow indices -*- C++-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_NUMBERLIMITS_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_NUMBERLIMITS_H

#include "MetaOps/Transforms/Schedule/GPU/ThreadLevels.h"

namespace mlir::metaop {

/// Places, extents and sizes below this are numbers of 32 bits, with room for
/// what a step goes beyond the end.
inline constexpr int64_t kNarrowLimit = int64_t(1) << 30;

/// For each symbol of the stage, a limit beyond which, on either side, no
/// number is told from another by any place of the stage; 0 for those that no
/// place uses. Cut off there, numbers out of tensors are indices of 32 bits.
/// None where places do not allow that.
std::optional<SmallVector<int64_t>>
findNumberLimits(const ThreadLevels &levels);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_NUMBERLIMITS_H
