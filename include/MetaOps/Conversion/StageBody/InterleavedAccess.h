//===- InterleavedAccess.h - Lanes a few elements apart ------- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_INTERLEAVEDACCESS_H
#define METAOPS_CONVERSION_STAGEBODY_INTERLEAVEDACCESS_H

#include "MetaOps/Conversion/StageBody/MemoryAccess.h"

namespace mlir::metaop {

/// Reads lanes that are a short step apart; a mask may be null.
Value emitInterleavedLoad(OpBuilder &b, Location loc, VectorType type,
                          Value buffer, const LaneAddress &at, Value mask,
                          Value passThrough);

/// The vectors that hold the lanes of some vectors in turn: first lane 0 of
/// each, then lane 1.
SmallVector<Value, 4> emitInterleaved(OpBuilder &b, Location loc,
                                      ArrayRef<Value> phases);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_INTERLEAVEDACCESS_H
