//===- StridedParts.cpp - Parts in rows that are apart --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of a concat along an inner dimension is rows that are apart in memory.
// A kernel can write them so; but it has other loops then, so that this is
// decided before it is scheduled, and before the plan of memory that puts the
// part there. For each part of each concat whose window is such rows, if a
// kernel makes it,
//
// 1. all uses are collected, through views;
// 2. the kernel writes the rows, and all kernels that read the part read it
//    from them, if
//    * the concat, in the same block, reads it once, and nothing reads it but
//      kernels;
//    * in every shape that it is viewed in, rows begin with an index;
//    * no stage of these kernels has a schedule, which is of other loops;
//    * where kernels read it, no insert writes over the concat's result;
//    * its rows are long enough, or the kernel makes it by a reduction alone.
//
// The plan then has no reason to put the part anywhere else (PlaceParts.cpp).
//
// Short rows fill no vectors, and elements that are apart are stored one by
// one. A reduction stores few of them; any other kernel takes longer for that
// than the copy, which has rows of a few bytes as single elements.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "PlaceParts.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_STRIDEDPARTSPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Rows of so many bytes are copied as one element each (Copy.cpp).
static constexpr int64_t kShortRowBytes = 16;

/// The uses of a value and of its views that are no views.
static void collectUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses())
    if (isa<ViewOpInterface>(use.getOwner()))
      collectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

/// Returns whether an insert may write over the value, or over what it is a
/// part of.
static bool isWrittenOver(Value value) {
  SmallVector<OpOperand *> uses;
  collectUses(value, uses);
  return llvm::any_of(uses, [](OpOperand *use) {
    Operation *user = use->getOwner();
    return isa<InsertOp>(user) ||
           (isa<ConcatOp>(user) && isWrittenOver(user->getResult(0)));
  });
}

static bool isScheduled(KernelOp kernel) {
  return llvm::any_of(kernel.getBody().front().getOps<FusedOp>(),
                      [](FusedOp stage) { return stage.getScheduleAttr(); });
}

/// Returns whether a kernel writes the value once it has reduced others.
static bool isReduction(OpResult value) {
  auto kernel = cast<KernelOp>(value.getOwner());
  auto yielded =
      cast<OpResult>(kernel.getYield().getOperand(value.getResultNumber()));
  auto stage = cast<FusedOp>(yielded.getOwner());
  return isa_and_nonnull<ReindexReduceOpInterface>(
      stage.getYield().getOperand(yielded.getResultNumber()).getDefiningOp());
}

/// Returns whether rows begin with an index of the value.
static bool hasRows(Value value, RowsAttr rows) {
  auto type = cast<RankedTensorType>(value.getType());
  return rows.getStrides(type.getShape()).has_value();
}

/// Has the kernel that makes a part of `op` write it in `rows`, if it can be.
static void pitch(ConcatOp op, Value part, RowsAttr rows) {
  Value made = getViewed(part);
  auto kernel = made.getDefiningOp<KernelOp>();
  if (!kernel || kernel->getBlock() != op->getBlock() || isScheduled(kernel) ||
      !hasRows(made, rows) || !isReadOnce(op, made))
    return;
  SmallVector<OpOperand *> uses;
  collectUses(made, uses);
  llvm::erase_if(uses, [&](OpOperand *use) { return use->getOwner() == op; });
  bool areShort =
      rows.getRow() * getElementBytes(made.getType()) <= kShortRowBytes;
  if (areShort && !(uses.empty() && isReduction(cast<OpResult>(made))))
    return;
  if (!uses.empty() && isWrittenOver(op.getResult()))
    return;
  for (OpOperand *use : uses) {
    auto reader = dyn_cast<KernelOp>(use->getOwner());
    if (!reader || isScheduled(reader) || !hasRows(use->get(), rows))
      return;
  }
  kernel.setRowsOfResult(cast<OpResult>(made).getResultNumber(), rows);
  for (OpOperand *use : uses)
    cast<KernelOp>(use->getOwner())
        .setRowsOfInput(use->getOperandNumber(), rows);
}

namespace {
struct StridedPartsPass : metaop::impl::StridedPartsPassBase<StridedPartsPass> {
  using StridedPartsPassBase::StridedPartsPassBase;

  void runOnOperation() override {
    for (ConcatOp op : collectOps<ConcatOp>(getOperation().getBody())) {
      if (!op.getType().hasStaticShape())
        continue;
      for (const Placement &placement : op.getPlacements()) {
        Value part = op.getOperand(placement.operand);
        auto window = findWindow(
            placement, cast<RankedTensorType>(part.getType()), op.getType());
        if (window && window->rows &&
            window->offset * getElementBytes(op.getType()) % partAlignment == 0)
          pitch(op, part, window->rows);
      }
    }
  }
};
} // namespace
