//===- ExplainPass.h - Printing descriptions of kernels ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_PIPELINES_EXPLAINPASS_H
#define METAOPS_LIB_PIPELINES_EXPLAINPASS_H

#include "MetaOps/Target/TargetRegistry.h"

namespace mlir::metaop {

/// Makes the pass metaop-explain, which asks the target of each kernel.
std::unique_ptr<Pass>
createExplainPass(std::shared_ptr<const TargetRegistry> targets);

} // namespace mlir::metaop

#endif // METAOPS_LIB_PIPELINES_EXPLAINPASS_H
