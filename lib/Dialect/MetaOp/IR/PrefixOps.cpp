//===- PrefixOps.cpp - Running sums and their kin -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/Prefix.h"

using namespace mlir;
using namespace mlir::metaop;

MetaOpClass PrefixOp::getMetaOpClass() { return MetaOpClass::Prefix; }

TypedValue<RankedTensorType> PrefixOp::getIterationValue() {
  return getResult();
}

std::optional<int64_t> PrefixOp::getBlock() {
  if (getSerial() || !getCombinerInfo(getKind()).hasBlocks)
    return std::nullopt;
  return kPrefixBlock;
}

LogicalResult PrefixOp::verify() {
  // (C2)
  if ((getKind() == Combiner::Linear) != bool(getFactors()))
    return emitOpError("expects factors if and only if it is `linear`");
  // (C3)
  if (failed(verifyCombiner(*this, CombinerUse::Prefix, getKind(),
                            getElementTypeOrSelf(getResult()))))
    return failure();
  // (C1)
  return verifyDimension(*this, getDim());
}

/// One element is all that comes up to it.
OpFoldResult PrefixOp::fold(FoldAdaptor adaptor) {
  // In a graph region an op may read itself.
  if (getType().getDimSize(getDim()) == 1 && !getExclusive() &&
      getSource() != getResult())
    return getSource();
  return {};
}
