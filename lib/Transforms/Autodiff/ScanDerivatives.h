//===- ScanDerivatives.h - Derivatives of scans -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_SCANDERIVATIVES_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_SCANDERIVATIVES_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "RegionDerivatives.h"

namespace mlir::metaop {

/// As `differentiateRegions`, of a scan of known trips.
SmallVector<Value> differentiateScan(OpBuilder &builder, ScanOp scan,
                                     ArrayRef<Value> cotangents,
                                     ArrayRef<Value> inputs,
                                     int64_t savedBytes);

/// Emits the tangents of the results of a scan that are floats, in their order.
SmallVector<Value> pushForwardScan(OpBuilder &builder, ScanOp scan,
                                   llvm::function_ref<Value(Value)> getTangent,
                                   int64_t savedBytes);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_SCANDERIVATIVES_H
