//===- SplatFolding.h - Splats, as folds see them ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_DIALECT_METAOP_IR_SPLATFOLDING_H
#define METAOPS_LIB_DIALECT_METAOP_IR_SPLATFOLDING_H

#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include <optional>

namespace mlir::metaop::detail {

/// The element of a splat, if `attr` is one of type `type`.
template <typename T> std::optional<T> splatOf(Attribute attr, Type type) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(attr);
  if (!dense || dense.getType() != type || dense.empty() || !dense.isSplat())
    return std::nullopt;
  return dense.getSplatValue<T>();
}

inline Attribute makeSplat(Type type, const APFloat &value) {
  return DenseElementsAttr::get(cast<ShapedType>(type), value);
}
inline Attribute makeSplat(Type type, const APInt &value) {
  return DenseElementsAttr::get(cast<ShapedType>(type), value);
}

inline APFloat toSemantics(APFloat value, Type element) {
  bool losesInfo;
  value.convert(cast<FloatType>(element).getFloatSemantics(),
                APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

/// A small number, as an attribute; null if the shape is dynamic.
inline Attribute makeSplat(Type type, int64_t value) {
  auto tensor = cast<RankedTensorType>(type);
  if (!tensor.hasStaticShape())
    return {};
  Type element = tensor.getElementType();
  if (isa<FloatType>(element))
    return makeSplat(type, toSemantics(APFloat(double(value)), element));
  return makeSplat(type, APInt(element.getIntOrFloatBitWidth(), value,
                               /*isSigned=*/true, /*implicitTrunc=*/true));
}

/// Returns whether all elements are `value`, to the bit: -0.0 and 0.0 differ,
/// except for integers.
inline bool isSplat(Attribute attr, double value) {
  auto dense = dyn_cast_if_present<DenseElementsAttr>(attr);
  if (!dense || dense.empty() || !dense.isSplat())
    return false;
  Type element = dense.getElementType();
  if (isa<FloatType>(element))
    return dense.getSplatValue<APFloat>().bitwiseIsEqual(
        toSemantics(APFloat(value), element));
  APInt expected(element.getIntOrFloatBitWidth(), int64_t(value),
                 /*isSigned=*/true, /*implicitTrunc=*/true);
  return dense.getSplatValue<APInt>() == expected;
}

inline bool isFloat(Value tensor) {
  return isa<FloatType>(getElementTypeOrSelf(tensor));
}

/// `value` in the place of the op's result, if the types allow it.
template <typename OpT> static OpFoldResult replaceBy(OpT op, Value value) {
  if (value.getType() != op.getType())
    return {};
  return value;
}

} // namespace mlir::metaop::detail

#endif // METAOPS_LIB_DIALECT_METAOP_IR_SPLATFOLDING_H
