//===- CheckOps.cpp - Indices that have to be in range --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::IndexRange;

template <typename OpTy> static IndexRange getRangeOf(OpTy op) {
  IndexRange range;
  if (std::optional<uint64_t> dim = op.getDim())
    range.dim = static_cast<int64_t>(*dim);
  range.extent = static_cast<int64_t>(op.getExtent());
  range.hasNegative = op.getNegative();
  range.areTrips = op.getTrips();
  return range;
}

template <typename OpTy> static LogicalResult verifyRange(OpTy op) {
  IndexRange range = op.getRange();
  // (C1)
  if (range.extent < 0)
    return op.emitOpError("expects an extent of 0 or more, given ")
           << range.extent;
  // (C2)
  if (range.dim && *range.dim < 0)
    return op.emitOpError("expects a dimension of 0 or more, given ")
           << *range.dim;
  // (C3)
  if (range.dim && range.areTrips)
    return op.emitOpError("expects no `dim` beside `trips`");
  return success();
}

//===----------------------------------------------------------------------===//
// CheckOp
//===----------------------------------------------------------------------===//

void CheckOp::build(OpBuilder &builder, OperationState &state, Value indices,
                    const IndexRange &range) {
  auto number = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  build(builder, state, indices.getType(), indices,
        builder.getI64IntegerAttr(range.extent),
        range.hasNegative ? builder.getUnitAttr() : UnitAttr(),
        number(range.dim), number(range.ignored),
        range.areTrips ? builder.getUnitAttr() : UnitAttr());
}

IndexRange CheckOp::getRange() {
  IndexRange range = getRangeOf(*this);
  if (std::optional<uint64_t> ignored = getIgnored())
    range.ignored = static_cast<int64_t>(*ignored);
  return range;
}

LogicalResult CheckOp::verify() { return verifyRange(*this); }

/// Returns whether all elements are known, and in range.
static bool areInRange(Attribute indices, const IndexRange &range) {
  auto elements = dyn_cast_if_present<DenseIntElementsAttr>(indices);
  if (!elements)
    return false;
  bool isUnsigned = elements.getElementType().isUnsignedInteger();
  auto isInRange = [&](const APInt &index) {
    return range.contains(static_cast<int64_t>(
        isUnsigned ? index.getZExtValue() : index.getSExtValue()));
  };
  if (elements.isSplat())
    return isInRange(elements.getSplatValue<APInt>());
  return llvm::all_of(elements.getValues<APInt>(), isInRange);
}

/// Returns whether an index is the number of a scan's trip, all of which are in
/// range.
static bool areTripsInRange(Value index, const IndexRange &range) {
  auto row = dyn_cast<BlockArgument>(index);
  auto scan = row ? dyn_cast_if_present<ScanOp>(row.getOwner()->getParentOp())
                  : ScanOp();
  if (!scan || row.getArgNumber() < scan.getNumCarries() ||
      !getElementTypeOrSelf(index.getType()).isInteger(64))
    return false;
  Value rows = scan.getRows()[row.getArgNumber() - scan.getNumCarries()];
  auto numbers = rows.getDefiningOp<IotaOp>();
  auto type = cast<RankedTensorType>(rows.getType());
  if (!numbers || !type.hasStaticShape())
    return false;
  int64_t count = type.getDimSize(numbers.getDimension());
  return count == 0 || range.contains(count - 1);
}

OpFoldResult CheckOp::fold(FoldAdaptor adaptor) {
  auto type = cast<RankedTensorType>(getType());
  auto before = getIndices().getDefiningOp<CheckOp>();
  bool isChecked =
      before && before->getAttrDictionary() == (*this)->getAttrDictionary();
  bool isEmpty = llvm::is_contained(type.getShape(), 0);
  if (isChecked || isEmpty || areInRange(adaptor.getIndices(), getRange()) ||
      areTripsInRange(getIndices(), getRange()))
    return getIndices();
  return {};
}

//===----------------------------------------------------------------------===//
// CheckRangeOp
//===----------------------------------------------------------------------===//

IndexRange CheckRangeOp::getRange() { return getRangeOf(*this); }

LogicalResult CheckRangeOp::verify() { return verifyRange(*this); }

/// Returns whether the same numbers have been checked before in the same block.
static bool isRepeated(CheckRangeOp op) {
  return llvm::any_of(op.getLowest().getUsers(), [&](Operation *user) {
    auto other = dyn_cast<CheckRangeOp>(user);
    return other && other != op && other->getBlock() == op->getBlock() &&
           other.getHighest() == op.getHighest() &&
           other->getAttrDictionary() == op->getAttrDictionary() &&
           other->isBeforeInBlock(op);
  });
}

LogicalResult CheckRangeOp::canonicalize(CheckRangeOp op,
                                         PatternRewriter &rewriter) {
  DenseIntElementsAttr lowest, highest;
  bool areKnown =
      matchPattern(op.getLowest(), m_Constant(&lowest)) &&
      matchPattern(op.getHighest(), m_Constant(&highest)) &&
      !describeOutOfRange(op.getRange(), lowest.getSplatValue<int64_t>(),
                          highest.getSplatValue<int64_t>());
  if (!areKnown && !isRepeated(op))
    return failure();
  rewriter.eraseOp(op);
  return success();
}
