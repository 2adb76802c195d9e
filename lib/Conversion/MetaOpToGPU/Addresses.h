//===- Addresses.h - Memory that no memref reaches --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_ADDRESSES_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_ADDRESSES_H

#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// The address of an element of a memref, or, with `element`, of what its
/// memory would have there if it had elements of that type. Indices have to be
/// as wide as addresses of its memory.
Value emitAddress(OpBuilder &b, Location loc, Value memory, Value place,
                  Type element = {});

/// Reads the element at `place` of what is `memory`, shared memory of a block,
/// in the block with number `block` of the cluster.
Value emitClusterLoad(OpBuilder &b, Location loc, Value memory, Value place,
                      Value block);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_ADDRESSES_H
