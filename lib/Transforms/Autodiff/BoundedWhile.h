//===- BoundedWhile.h - Loops whose trips have been counted -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_BOUNDEDWHILE_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_BOUNDEDWHILE_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::metaop {

/// Emits a scan of the trips that a loop with `metaop.max_trips` has made, of
/// the same results.
ScanOp scanTrips(OpBuilder &builder, scf::WhileOp loop);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_BOUNDEDWHILE_H
