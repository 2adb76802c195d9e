//===- Reduction.h - Combination of values ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_REDUCTION_H
#define METAOPS_CONVERSION_STAGEBODY_REDUCTION_H

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"

namespace mlir::metaop {

/// The combination of values of one element type. f16 and bf16 accumulate in
/// f32.
class Reduction {
public:
  Reduction(Combiner kind, Type element) : kind(kind), element(element) {}

  Type getAccumulatorType() const;
  /// The identity as a scalar, or as a vector if `lanes` is not 1.
  Value emitIdentity(OpBuilder &b, Location loc, int64_t lanes) const;
  /// A value of the compute type as an accumulator, and back.
  Value emitWiden(OpBuilder &b, Location loc, Value value) const;
  Value emitNarrow(OpBuilder &b, Location loc, Value value) const;
  Value emitCombine(OpBuilder &b, Location loc, Value lhs, Value rhs) const;
  /// All lanes of a vector combined.
  Value emitAcrossLanes(OpBuilder &b, Location loc, Value vector) const;
  /// The error of a long chain of additions grows with its length.
  bool accumulatesError() const {
    return isa<FloatType>(element) && getCombinerInfo(kind).accumulatesError;
  }

private:
  Combiner kind;
  Type element;
};

/// `value` converted to `to`, for floats, scalar or vector.
Value emitFloatCast(OpBuilder &b, Location loc, Value value, Type to);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_REDUCTION_H
