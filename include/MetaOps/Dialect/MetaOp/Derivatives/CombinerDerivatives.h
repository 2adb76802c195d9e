//===- CombinerDerivatives.h - Derivatives of combiners ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derivatives that the rows of the table of combiners name. They see a
// reduction as elements that are combined in places of a result, whichever
// operation says which, and a prefix as steps.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_DERIVATIVES_COMBINERDERIVATIVES_H
#define METAOPS_DIALECT_METAOP_DERIVATIVES_COMBINERDERIVATIVES_H

#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"

#include <functional>

namespace mlir::metaop::detail {

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The elements of a source, each of which takes part in one place of a result
/// or in none.
class CombinedElements {
public:
  CombinedElements(TensorEmitter &emit, Value source, Value result)
      : emit(emit), source(source), result(result) {}
  virtual ~CombinedElements();

  /// Returns what each element's place holds, or the number where it takes no
  /// part.
  virtual Value read(Value ofResult, double fill = 0.0) = 0;
  /// Returns what the elements of each place make.
  virtual Value combine(Combiner combiner, Value ofSource) = 0;
  /// Returns the product of the other elements of each one's place, times the
  /// cotangent of that.
  virtual Value emitProductOfOthers(Value cotangent);

  Value sum(Value ofSource) { return combine(Combiner::Add, ofSource); }

  TensorEmitter &emit;
  const Value source, result;
};

Value vjpOfSum(CombinedElements &elements, Value cotangent);
Value jvpOfSum(CombinedElements &elements, Value tangent);
Value vjpOfProduct(CombinedElements &elements, Value cotangent);
Value jvpOfProduct(CombinedElements &elements, Value tangent);
Value vjpOfExtreme(CombinedElements &elements, Value cotangent);
Value jvpOfExtreme(CombinedElements &elements, Value tangent);

/// Applies the row of the combiner to the elements of floats; null where
/// nothing flows.
Value applyVjp(Combiner combiner, CombinedElements &elements, Value cotangent);
Value applyJvp(Combiner combiner, CombinedElements &elements, Value tangent);

//===----------------------------------------------------------------------===//
// Prefixes
//===----------------------------------------------------------------------===//

struct PrefixSlopes {
  /// d h[k] / d h[k-1]; null where it is 1.
  Value factors;
  /// Multiplies by d h[k] / d x[k].
  std::function<Value(TensorEmitter &, Value)> applySlope;
};

/// The steps of a prefix, each of which makes h[k] of h[k-1] and x[k].
class PrefixSteps {
public:
  PrefixSteps(OpBuilder &builder, PrefixOp op)
      : emit(builder, op.getLoc()), op(op) {}

  /// Returns all h[k-1], the identity first.
  Value getBefore();
  /// Returns all h[k].
  Value getAfter();
  /// Returns whether an element is the first of its line, which is taken even
  /// if it is the identity; null where the number of that is not known.
  Value isFirst();

  TensorEmitter emit;
  PrefixOp op;

private:
  Value make(bool exclusive);

  Value before;
};

PrefixSlopes getSlopesOfSum(PrefixSteps &steps);
PrefixSlopes getSlopesOfProduct(PrefixSteps &steps);
PrefixSlopes getSlopesOfExtreme(PrefixSteps &steps);
PrefixSlopes getSlopesOfLinear(PrefixSteps &steps);

} // namespace mlir::metaop::detail

#endif // METAOPS_DIALECT_METAOP_DERIVATIVES_COMBINERDERIVATIVES_H
