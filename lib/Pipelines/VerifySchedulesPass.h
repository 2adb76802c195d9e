//===- VerifySchedulesPass.h - Legality of schedules in pipelines -*- C++
//-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_PIPELINES_VERIFYSCHEDULESPASS_H
#define METAOPS_LIB_PIPELINES_VERIFYSCHEDULESPASS_H

#include "MetaOps/Target/TargetRegistry.h"

namespace mlir::metaop {

/// Makes the pass metaop-verify-schedules, whose option names the target.
std::unique_ptr<Pass>
createVerifySchedulesPass(std::shared_ptr<const TargetRegistry> targets);

/// Makes the pass for a target that lives as long as it.
std::unique_ptr<Pass> createVerifySchedulesPass(const Target &target);

} // namespace mlir::metaop

#endif // METAOPS_LIB_PIPELINES_VERIFYSCHEDULESPASS_H
