//===- Strips.h - Columns that are summed over long strides -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_STRIPS_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_STRIPS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Chooses how many columns of a large reduction are done before the next ones,
/// where they are the loop `columns`; 0 for all at once.
int64_t chooseStrip(const Stage &stage, unsigned columns);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_STRIPS_H
