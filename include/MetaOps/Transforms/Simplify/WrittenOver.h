//===- WrittenOver.h - What inserts may write over --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SIMPLIFY_WRITTENOVER_H
#define METAOPS_TRANSFORMS_SIMPLIFY_WRITTENOVER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {

/// Returns the tensors that an operation may write over, if nothing reads them
/// later: what an insert puts its part into; of a branch or a loop, what it is
/// given of the types that inserts inside of it have. None of others.
llvm::SetVector<Value> findWrittenOver(Operation *op);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SIMPLIFY_WRITTENOVER_H
