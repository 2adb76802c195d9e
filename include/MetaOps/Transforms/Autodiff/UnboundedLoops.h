//===- UnboundedLoops.h - Loops without gradients ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gradient goes back along the trips of a loop, from the last one. So it
// needs a loop that says how many there may be, where it flows through it.
// Through other loops it flows neither where these depend on no target, nor
// where no output depends on them.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_UNBOUNDEDLOOPS_H
#define METAOPS_TRANSFORMS_AUTODIFF_UNBOUNDEDLOOPS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::metaop {

/// Returns the first unbounded loop through which a gradient of `outputs` would
/// flow on its way to `targets`, in this block or further in; null if there is
/// none.
Operation *findUnboundedLoop(Block *block, ArrayRef<Value> outputs,
                             ArrayRef<Value> targets);

/// Returns the first one that is the operation, or in it, through which a
/// gradient of those results for which `isNeeded` holds would flow on its way
/// to `active` values.
Operation *findUnboundedLoop(Operation *op, const llvm::DenseSet<Value> &active,
                             llvm::function_ref<bool(OpResult)> isNeeded);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_UNBOUNDEDLOOPS_H
