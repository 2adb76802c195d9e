//===- VaryingExtents.cpp - Extents that vary ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace mlir::metaop;

/// Each whole number up to it is a number of f32.
static constexpr double kMaxExactFloat = 1 << 24;

std::optional<int64_t> metaop::getWholeNumber(ConstantOp op) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat)
    return std::nullopt;
  Type element = splat.getElementType();
  if (isa<IntegerType>(element) && !element.isInteger(1))
    return splat.getSplatValue<APInt>().trySExtValue();
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  double number = splat.getSplatValue<APFloat>().convertToDouble();
  if (!(std::abs(number) <= kMaxExactFloat) || number != std::floor(number) ||
      (number == 0 && std::signbit(number)))
    return std::nullopt;
  return static_cast<int64_t>(number);
}

VaryingExtents::VaryingExtents(Block &body) {
  Operation *parent = body.getParentOp();
  while (parent && isControlFlow(parent))
    parent = parent->getParentOp();
  auto function = dyn_cast_or_null<FunctionOpInterface>(parent);
  if (!function)
    return;
  for (BlockArgument argument : function.getArguments()) {
    auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), kVaryingAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int64_t dim : dims ? dims.asArrayRef() : ArrayRef<int64_t>())
      if (type && dim >= 0 && dim < type.getRank())
        extents.insert(type.getDimSize(dim));
  }
}

int64_t VaryingExtents::countElements(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> planned(shape);
  for (int64_t &extent : planned)
    if (contains(extent))
      extent = kPlannedLength;
  return metaop::countElements(planned);
}
