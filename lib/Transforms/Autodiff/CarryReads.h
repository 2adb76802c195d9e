//===- CarryReads.h - Parts of carries that derivatives read ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_CARRYREADS_H
#define METAOPS_TRANSFORMS_AUTODIFF_CARRYREADS_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace mlir::metaop {

/// Returns the parts of a value of a scan's body that derivatives of a trip
/// read: none where it is just moved and added up until the loop yields it.
/// Nothing is returned where they read all of it.
std::optional<SmallVector<Value>> findReadParts(Value value);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_CARRYREADS_H
