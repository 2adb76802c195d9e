//===- StageBindings.h - What a stage knows of its kernel -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_STAGEBINDINGS_H
#define METAOPS_CONVERSION_STAGEBODY_STAGEBINDINGS_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// A kernel as a stage in it has to know it.
struct StageBindings {
  /// Buffers of the region's arguments and of constants, as 1-d memrefs.
  llvm::DenseMap<Value, Value> sources;
  /// Buffers of the results.
  SmallVector<Value> results;
  /// One index value per symbol of the stage; behind them origins, where the
  /// memory of a block begins in its tensor, once they are known.
  SmallVector<Value> symbols;
  /// Bounds at which numbers out of tensors are cut off, so that they are
  /// indices; 0 or none where they are not.
  SmallVector<int64_t> limits;

  int64_t getLimit(unsigned symbol) const {
    return symbol < limits.size() ? limits[symbol] : 0;
  }
};

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_STAGEBINDINGS_H
