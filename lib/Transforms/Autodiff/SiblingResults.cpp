//===- SiblingResults.cpp - Results that are made of each other -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Autodiff/SiblingResults.h"

#include "MetaOps/Dialect/MetaOp/IR/ResultSources.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::metaop;

Value metaop::getValueInside(OpResult result) {
  auto checkpoint = cast<scf::ExecuteRegionOp>(result.getOwner());
  Block &block = checkpoint.getRegion().front();
  Value value = block.getTerminator()->getOperand(result.getResultNumber());
  return value.getParentBlock() == &block ? value : Value();
}

SmallVector<OpResult> metaop::findMadeOf(OpResult result) {
  return findMadeOf(result.getOwner(), {result});
}

SmallVector<OpResult> metaop::findMadeOf(Operation *op,
                                         const llvm::DenseSet<Value> &values) {
  llvm::SmallBitVector given(op->getNumResults());
  for (OpResult result : op->getResults())
    given[result.getResultNumber()] = values.contains(result);
  SmallVector<OpResult> found;
  if (given.none())
    return found;
  for (auto [result, others] :
       llvm::zip(op->getResults(), findResultSources(op).siblings))
    if (others.anyCommon(given))
      found.push_back(result);
  return found;
}
