//===- ExtremeElements.h - Elements that attain an extreme ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_DERIVATIVES_EXTREMEELEMENTS_H
#define METAOPS_DIALECT_METAOP_DERIVATIVES_EXTREMEELEMENTS_H

#include "MetaOps/Dialect/MetaOp/Derivatives/CombinerDerivatives.h"
#include <limits>

namespace mlir::metaop::detail {

/// The elements that attain a maximum or a minimum, and how many they are: they
/// share its derivative evenly.
class ExtremeElements {
public:
  explicit ExtremeElements(CombinedElements &elements)
      : emit(elements.emit), source(elements.source) {
    // Elements that took no part see a NaN, which nothing is equal to.
    value = elements.read(elements.result,
                          std::numeric_limits<double>::quiet_NaN());
    // A count of many elements does not fit 16 bits.
    Type element = getElementTypeOrSelf(source);
    Type wide = element.getIntOrFloatBitWidth() == 16
                    ? Float32Type::get(element.getContext())
                    : element;
    Value mask = emit.compare(ComparePredicate::Eq, source, value);
    count = elements.sum(emit.cast(mask, wide));
    // No element attains a NaN, or the identity of an empty group.
    count = emit.create<MaxOp>(count, emit.splat(count, 1.0));
  }

  Value divide(Value ofResult) {
    Value wide = emit.cast(ofResult, getElementTypeOrSelf(count));
    return emit.cast(emit.div(wide, count), getElementTypeOrSelf(source));
  }

  /// `ofSource`, and 0 at other elements. The comparison is one of its own: a
  /// mask of all elements would otherwise be kept from one reduction to the
  /// other.
  Value mask(Value ofSource) {
    Value isOther = emit.compare(ComparePredicate::Ne, source, value);
    return emit.select(isOther, emit.splat(source, 0.0), ofSource);
  }

private:
  TensorEmitter &emit;
  Value source;
  Value value;
  Value count;
};

} // namespace mlir::metaop::detail

#endif // METAOPS_DIALECT_METAOP_DERIVATIVES_EXTREMEELEMENTS_H
