//===- LoopLevel.h - What a schedule's list of loops consists of -*- C++
//-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_LOOPLEVEL_H
#define METAOPS_DIALECT_METAOP_LOOPLEVEL_H

#include "MetaOps/Dialect/MetaOp/MetaOpInterfaces.h"
#include "llvm/ADT/Hashing.h"

#include <tuple>

namespace mlir::metaop {

/// One loop of a schedule: `kind(dim, step, tail)`.
struct LoopLevel {
  LevelKind kind = LevelKind::Step;
  /// The dimension of the stage that the loop runs over.
  int64_t dim = 0;
  /// How far one iteration goes. A further level of the same dimension divides
  /// that; at the dimension's last level it is done side by side.
  int64_t step = 1;
  /// What becomes of iterations that do not fill a step.
  LevelTail tail = LevelTail::Mask;

  bool operator==(const LoopLevel &other) const {
    return std::tie(kind, dim, step, tail) ==
           std::tie(other.kind, other.dim, other.step, other.tail);
  }
};

/// So many iterations, or lanes, of a dimension side by side: `dim: size`.
struct TileDim {
  int64_t dim = -1;
  int64_t size = 1;

  bool operator==(const TileDim &other) const {
    return dim == other.dim && size == other.size;
  }
};

inline llvm::hash_code hash_value(const LoopLevel &level) {
  return llvm::hash_combine(level.kind, level.dim, level.step, level.tail);
}
inline llvm::hash_code hash_value(const TileDim &tile) {
  return llvm::hash_combine(tile.dim, tile.size);
}

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_LOOPLEVEL_H
