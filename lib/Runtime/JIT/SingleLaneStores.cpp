//===- SingleLaneStores.cpp - Stores of one lane --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SingleLaneStores.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The only lane of a mask, if it is one that is known.
static std::optional<unsigned> findSingleLane(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> single;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    auto *isStored =
        dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(lane));
    if (!isStored || (isStored->isOne() && single))
      return std::nullopt;
    if (isStored->isOne())
      single = lane;
  }
  return single;
}

static void storeElement(IntrinsicInst *store, unsigned lane) {
  IRBuilder<> b(store);
  Value *element = b.CreateExtractElement(store->getArgOperand(0), lane);
  Type *type = element->getType();
  Value *address = b.CreateConstGEP1_32(type, store->getArgOperand(1), lane);
  uint64_t bytes = store->getDataLayout().getTypeAllocSize(type);
  Align align = store->getParamAlign(1).valueOrOne();
  b.CreateAlignedStore(element, address, commonAlignment(align, lane * bytes));
  store->eraseFromParent();
}

PreservedAnalyses
metaops::StoreSingleLanesPass::run(Function &function,
                                   FunctionAnalysisManager &analyses) {
  bool isChanged = false;
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
        call && call->getIntrinsicID() == Intrinsic::masked_store)
      if (auto lane = findSingleLane(call->getArgOperand(2))) {
        storeElement(call, *lane);
        isChanged = true;
      }
  if (!isChanged)
    return PreservedAnalyses::all();
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  return preserved;
}
