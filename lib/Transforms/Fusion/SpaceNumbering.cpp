//===- SpaceNumbering.cpp - Which iteration spaces are equal --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceNumbering.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::metaop;

SpaceNumbering::SpaceNumbering(Block &block) {
  for (Operation &op : block) {
    auto meta = dyn_cast<MetaOpInterface>(op);
    if (!meta || (meta.getMetaOpClass() != MetaOpClass::Elementwise &&
                  !isa<IndirectOpInterface, PrefixOp>(op)))
      continue;
    // Operands that are read in place have the extents of the space.
    Value result = meta.getIterationValue();
    auto type = cast<RankedTensorType>(result.getType());
    ValueRange operands = op.getOperands();
    if (auto indirect = dyn_cast<IndirectOpInterface>(op))
      operands = indirect.getIndices();
    for (Value operand : operands) {
      auto other = dyn_cast<RankedTensorType>(operand.getType());
      if (!other || other.getRank() != type.getRank())
        continue;
      for (unsigned dim = 0; dim < type.getRank(); ++dim)
        if (type.isDynamicDim(dim) && other.isDynamicDim(dim))
          classes.unionSets(getDynamicExtent(result, dim),
                            getDynamicExtent(operand, dim));
    }
  }
}

unsigned SpaceNumbering::getDynamicExtent(Value tensor, unsigned dim) {
  ExtentOrigin origin = getExtentOrigin(tensor, dim);
  auto [position, isNew] = origins.try_emplace(
      {origin.value.getAsOpaquePointer(), origin.dim}, origins.size());
  if (isNew)
    classes.insert(position->second);
  return position->second;
}

unsigned SpaceNumbering::getNumber(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  std::vector<int64_t> key;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    bool isDynamic = ShapedType::isDynamic(extent);
    key.push_back(isDynamic);
    key.push_back(isDynamic ? classes.getLeaderValue(getDynamicExtent(
                                  tensor, static_cast<unsigned>(dim)))
                            : extent);
  }
  return numbers.try_emplace(std::move(key), numbers.size()).first->second;
}
