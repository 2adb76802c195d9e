//===- VerifyLevels.h - What threads can be asked to do ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_VERIFYLEVELS_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_VERIFYLEVELS_H

#include "LocalValues.h"

namespace mlir::metaop {

/// Fails, with a diagnostic, where the levels of a kernel's stages are none
/// that can be emitted.
LogicalResult verifyLevels(ArrayRef<GpuStage> stages);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_VERIFYLEVELS_H
