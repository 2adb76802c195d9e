//===- AtomicResults.h - Results that many threads combine ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_ATOMICRESULTS_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_ATOMICRESULTS_H

#include "GpuFunction.h"
#include "ThreadTile.h"

namespace mlir::metaop {

/// Combines all of a tile with a result in memory, where `condition` holds.
void emitAtomics(GpuFunction &function, ThreadTile &tile,
                 const StageWrite &write, Value buffer, Value condition);

/// `memory[place] = combine(memory[place], value)`, at once for all threads.
void emitAtomic(OpBuilder &b, Location loc, Combiner kind, Type element,
                Value memory, Value place, Value value);
/// The same of what is at an address.
void emitAtomicTo(OpBuilder &b, Location loc, Combiner kind, Type element,
                  Value address, Value value);

/// Loads what is at an address that other threads access atomically.
Value emitAtomicLoad(OpBuilder &b, Location loc, Type type, Value address);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_ATOMICRESULTS_H
