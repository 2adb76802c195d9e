//===- Latency.h - Latency of a stage's body --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_LATENCY_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_LATENCY_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns the cycles from a vector's first instruction to its last, of what
/// changes along the loop; 0 where lanes are computed one by one.
int64_t estimateLatency(const Stage &stage, unsigned loop);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_CPU_LATENCY_H
