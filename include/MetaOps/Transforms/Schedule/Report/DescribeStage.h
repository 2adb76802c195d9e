//===- DescribeStage.h - The parts of a description -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_REPORT_DESCRIBESTAGE_H
#define METAOPS_TRANSFORMS_SCHEDULE_REPORT_DESCRIBESTAGE_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Classifies an access by where neighbouring iterations of a stage that has a
/// schedule find theirs.
AccessKind classifyAccess(const Stage &stage, const StagePlace &place);

/// The loops and the accesses of a stage that has a schedule.
StageDescription describeStage(const Stage &stage);

/// The value that extents known only at run time are taken to have.
inline constexpr int64_t kAssumedExtent = 256;

/// Iterations of some loops, with that for what is not known.
int64_t countIterations(const Stage &stage, const llvm::SmallBitVector &loops);

WorkClass classifyOperation(Operation *op);
/// Instructions that stand for one operation of its class: many of a random
/// number, some of a rounded power.
int64_t countInstructions(Operation *op);

/// Adds the instructions that a processor executes of a stage.
void countStageWork(const Stage &stage, const Processor &processor,
                    KernelWork &work);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_REPORT_DESCRIBESTAGE_H
