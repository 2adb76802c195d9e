//===- CarryReads.cpp - Parts of carries that derivatives read ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations that move elements, or add them up, are linear, and derivatives do
// not read these. A table that each trip reads a row of, and writes a row of,
// goes through such operations only: derivatives read the row.
//
//   row = slice table[t];  next = insert f(row) into table[t + 1]
//
// The carry of a loop in the body goes through that, too, if its trips read
// nothing of it, and it remains that carry: one that is yielded as another one,
// or as a row, is read.
//
// Walk from a value through these to what the loop yields. A result of at
// most half of the value's elements is a part, and the walk ends there.
//
//===----------------------------------------------------------------------===//

#include "CarryReads.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether an operation moves the elements of an operand, or adds them
/// up.
static bool isMoved(OpOperand &operand) {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  if (isa<AddOp, SubOp, NegOp, ConcatOp>(op))
    return true;
  if (isa<SelectOp>(op))
    return number > 0;
  if (auto insert = dyn_cast<InsertOp>(op))
    // Behind the part and what it is put into are the starts.
    return number < 2 && llvm::is_contained({Combiner::None, Combiner::Add},
                                            insert.getKind());
  auto reduce = dyn_cast<ReindexReduceOpInterface>(op);
  bool isSum = reduce && reduce.getReduceKind() == Combiner::Add;
  // The source comes before indices.
  return (isSum || isa<ReindexOpInterface>(op)) && number == 0;
}

static std::optional<SmallVector<Value>>
findReadParts(Value value, SmallVectorImpl<unsigned> &yielded);

/// Returns whether the trips of a loop do nothing with a carry but hand it on,
/// moved, to the next ones.
static bool isHandedOn(ScanOp scan, unsigned carry) {
  SmallVector<unsigned> yielded;
  auto parts = findReadParts(scan.getRegionIterArgs()[carry], yielded);
  return parts && parts->empty() &&
         llvm::all_of(yielded, [&](unsigned to) { return to == carry; });
}

/// Returns what a use makes of a value by moving it; null where it does other
/// things, or nothing.
static Value getMoved(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<scf::YieldOp>(user))
    if (isa<scf::IfOp, scf::ExecuteRegionOp>(user->getParentOp()))
      return user->getParentOp()->getResult(use.getOperandNumber());
  if (auto scan = dyn_cast<ScanOp>(user)) {
    unsigned number = use.getOperandNumber();
    return number < scan.getNumCarries() && isHandedOn(scan, number)
               ? scan.getResult(number)
               : Value();
  }
  return isMoved(use) ? user->getResult(0) : Value();
}

/// Finds the parts that are read, and the operands of the yield that are made
/// by moving the value.
static std::optional<SmallVector<Value>>
findReadParts(Value value, SmallVectorImpl<unsigned> &yielded) {
  Region *body = value.getParentRegion();
  llvm::SetVector<Value> moved;
  moved.insert(value);
  SmallVector<Value> parts;
  for (size_t next = 0; next < moved.size(); ++next) {
    Value each = moved[next];
    // A branch's parts are in no row.
    if (next > 0 && each.getParentRegion() == body &&
        isPartOf(each.getType(), value.getType())) {
      auto read = findReadParts(each, yielded);
      if (!read || !read->empty())
        parts.push_back(each);
      continue;
    }
    for (OpOperand &use : each.getUses()) {
      Operation *user = use.getOwner();
      if (isa<ScanYieldOp>(user) && user->getParentRegion() == body) {
        yielded.push_back(use.getOperandNumber());
        continue;
      }
      Value result = getMoved(use);
      if (!result)
        return std::nullopt;
      moved.insert(result);
    }
  }
  return parts;
}

std::optional<SmallVector<Value>> metaop::findReadParts(Value value) {
  SmallVector<unsigned> yielded;
  return ::findReadParts(value, yielded);
}
