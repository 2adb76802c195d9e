//===- MemoryAccess.h - Elements and vectors in memory -------- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_MEMORYACCESS_H
#define METAOPS_CONVERSION_STAGEBODY_MEMORYACCESS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Alignment.h"

namespace mlir::metaop {

/// The scalar that memory holds for an element type: that which is computed
/// with (`getStorageType`), but a byte for a boolean.
Type getMemoryType(Type element);

/// A scalar or a vector that is computed with as memory holds it, and back.
Value toMemoryType(OpBuilder &b, Location loc, Value value, Type element);
Value toComputeType(OpBuilder &b, Location loc, Value value, Type element);

/// Memory on the stack for so many elements.
Value emitLocalBuffer(OpBuilder &b, Location loc, Type element,
                      int64_t numElements);

/// Address of a vector's lanes in a buffer.
struct LaneAddress {
  /// The place of the first lane.
  Value base;
  /// Elements from each lane to the next one.
  int64_t step = 1;
  /// The distances from `base`, as a vector, where lanes are to be gathered.
  Value offsets;
  /// A number that divides the first lane's place.
  int64_t divisor = 1;

  /// Returns the alignment to its size of a vector that begins here; none if it
  /// may have none.
  llvm::MaybeAlign getAlignment(VectorType type) const;
};

/// Reads lanes; those that a mask leaves out are `passThrough`, or else zero.
Value emitVectorLoad(OpBuilder &b, Location loc, VectorType type, Value buffer,
                     const LaneAddress &at, Value mask = {},
                     Value passThrough = {});

/// Writes lanes that are neighbours, or scattered; all, or those of a mask.
/// With `stream`, the alignment of the vector, it goes past the caches.
void emitVectorStore(OpBuilder &b, Location loc, Value value, Value buffer,
                     const LaneAddress &at, Value mask = {},
                     llvm::MaybeAlign stream = {});

/// Asks for the line of an element that is read later.
void emitPrefetch(OpBuilder &b, Location loc, Value buffer, Value place);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_MEMORYACCESS_H
