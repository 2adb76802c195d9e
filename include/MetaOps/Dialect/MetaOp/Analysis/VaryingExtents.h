//===- VaryingExtents.h - Extents that vary -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_ANALYSIS_VARYINGEXTENTS_H
#define METAOPS_DIALECT_METAOP_ANALYSIS_VARYINGEXTENTS_H

#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallSet.h"

#include <cstdint>
#include <optional>

namespace mlir::metaop {

/// On an argument of @main, the dimensions that have other extents in other
/// programs of its kind; on a `metaop.fused`, those of its iteration space.
/// Decisions by extents take them for kPlannedLength, or a usual length of
/// their class, so that the programs of all lengths are alike. On a
/// `metaop.constant`, it says that the value follows such an extent, and lists
/// nothing.
inline constexpr llvm::StringLiteral kVaryingAttr = "metaop.varying";

class ConstantOp;

/// Returns the whole number that all elements of a constant are, if they are
/// integers, or floats of f32 or f64 that say it exactly.
std::optional<int64_t> getWholeNumber(ConstantOp op);

inline constexpr int64_t kPlannedLength = 64;

/// The extents of the varying dimensions of a function's arguments.
class VaryingExtents {
public:
  /// `body` is the function's, or one inside of its branches and loops.
  explicit VaryingExtents(Block &body);

  bool contains(int64_t extent) const { return extents.contains(extent); }

  /// The elements of a tensor, counted with planned extents in place of those.
  /// An equal extent of another dimension is taken for one, too.
  int64_t countElements(ArrayRef<int64_t> shape) const;

private:
  llvm::SmallSet<int64_t, 4> extents;
};

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_ANALYSIS_VARYINGEXTENTS_H
