//===- MissingDerivatives.h - Operations without derivatives ----*- C++ -*-===//
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
// A function with derivatives of its own may have none for a mode, and has none
// by what it reads beside its arguments. Code of the user's own has none.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_MISSINGDERIVATIVES_H
#define METAOPS_TRANSFORMS_AUTODIFF_MISSINGDERIVATIVES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::metaop {

enum class DerivativeMode { Reverse, Forward };

/// Returns the first operation without derivatives through which those of
/// `outputs` would flow by `targets`, in this block or further in; null if
/// there is none.
Operation *findMissingDerivative(Block *block, ArrayRef<Value> outputs,
                                 ArrayRef<Value> targets, DerivativeMode mode);

/// Returns the first one that is the operation, or in it, through which
/// derivatives of those results for which `isNeeded` holds would flow by
/// `active` values.
Operation *findMissingDerivative(Operation *op,
                                 const llvm::DenseSet<Value> &active,
                                 llvm::function_ref<bool(OpResult)> isNeeded,
                                 DerivativeMode mode);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_MISSINGDERIVATIVES_H
