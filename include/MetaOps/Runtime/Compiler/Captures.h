//===- Captures.h - What regions use of the outside -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_CAPTURES_H
#define METAOPS_RUNTIME_COMPILER_CAPTURES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace metaops {

/// The values that an operation's regions use, at any depth, and that are
/// defined outside of it: each once, in the order in which the regions' text
/// uses them first. They may be in a block that is in no region. None of an
/// operation without regions.
llvm::SmallVector<mlir::Value> findCaptures(mlir::Operation *op);

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_CAPTURES_H
