//===- TensorEmitter.h - Shorthand for derivatives --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_DERIVATIVES_TENSOREMITTER_H
#define METAOPS_DIALECT_METAOP_DERIVATIVES_TENSOREMITTER_H

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop::detail {

/// Emits meta-operators at one place, all with one location.
class TensorEmitter {
public:
  TensorEmitter(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  template <typename OpT, typename... ArgTs> Value create(ArgTs &&...args) {
    return OpT::create(builder, loc, std::forward<ArgTs>(args)...);
  }

  Value splat(Value like, double value) {
    return splatLike(builder, loc, like, value);
  }
  Value neg(Value x) { return create<NegOp>(x); }
  Value add(Value x, Value y) { return create<AddOp>(x, y); }
  Value sub(Value x, Value y) { return create<SubOp>(x, y); }
  Value mul(Value x, Value y) { return create<MulOp>(x, y); }
  Value mul(Value x, double factor) { return mul(x, splat(x, factor)); }
  Value div(Value x, Value y) { return create<DivOp>(x, y); }
  /// Emits the power of x by half of a whole number above 0.
  Value power(Value x, int64_t halves) {
    Value result = halves % 2 ? create<SqrtOp>(x) : x;
    for (int64_t i = halves % 2 ? 1 : 3; i < halves; i += 2)
      result = mul(result, x);
    return result;
  }
  Value compare(ComparePredicate predicate, Value x, Value y) {
    return create<CmpOp>(predicate, x, y);
  }
  Value compare(ComparePredicate predicate, Value x, double y) {
    return compare(predicate, x, splat(x, y));
  }
  Value select(Value condition, Value onTrue, Value onFalse) {
    return create<SelectOp>(onTrue.getType(), condition, onTrue, onFalse);
  }
  Value cast(Value x, Type element) {
    auto type = llvm::cast<RankedTensorType>(x.getType());
    if (type.getElementType() == element)
      return x;
    return create<CastOp>(type.clone(element), x);
  }

  SmallVector<Value> extents(Value like) {
    return createExtents(builder, loc, like);
  }

  /// `result[i...] = source[access(i...)]`, or `fill`; in the shape of `like`,
  /// with the element type of `source`.
  Value reindex(Value source, Value like, IndexAccess access, double fill) {
    Type element = getElementTypeOrSelf(source);
    access.fill = getNumberAttr(element, fill);
    return create<ReindexOp>(typeLike(like, element), source, access,
                             extents(like));
  }
  /// `result[access(i...)] kind= source[i...]`, in the shape of `like`.
  Value reindexReduce(Combiner kind, Value source, Value like,
                      IndexAccess access) {
    access.fill = nullptr;
    Type element = getElementTypeOrSelf(source);
    return create<ReindexReduceOp>(typeLike(like, element), kind, source,
                                   access, extents(like));
  }

private:
  static RankedTensorType typeLike(Value like, Type element) {
    return llvm::cast<RankedTensorType>(like.getType()).clone(element);
  }

  OpBuilder &builder;
  Location loc;
};

/// A linear op applied to a tangent of its source, operand 0: what it fills
/// with is a constant, of which the tangent is 0.
inline Value applyToSource(Operation *op, OpBuilder &builder, Value tangent) {
  Operation *applied = builder.clone(*op);
  applied->setOperand(0, tangent);
  if (applied->hasAttr("fill"))
    applied->setAttr("fill", getNumberAttr(getElementTypeOrSelf(tangent), 0.0));
  return applied->getResult(0);
}

inline bool isFloatTensor(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

} // namespace mlir::metaop::detail

#endif // METAOPS_DIALECT_METAOP_DERIVATIVES_TENSOREMITTER_H
