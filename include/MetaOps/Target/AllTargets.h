//===- AllTargets.h - The targets of this build -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_ALLTARGETS_H
#define METAOPS_TARGET_ALLTARGETS_H

#include "MetaOps/Target/TargetRegistry.h"

namespace mlir::metaop {

/// Adds every target that the build has: those of lib/Target, and those of the
/// folders that METAOPS_TARGETS names.
void registerAllTargets(TargetRegistry &registry);

} // namespace mlir::metaop

#endif // METAOPS_TARGET_ALLTARGETS_H
