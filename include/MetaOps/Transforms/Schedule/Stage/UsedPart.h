//===- UsedPart.h - Iterations for which checks hold ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_USEDPART_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_USEDPART_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Returns which part of the stage's iterations, from 0 to 1, all checks hold
/// for: what is left where they are tested before anything is computed.
double getUsedPart(const Stage &stage, ArrayRef<AffineExpr> checks);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_USEDPART_H
