//===- MarkCacheable.cpp - Results that may be kept from run to run -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights are packed into panels for a contraction, and are the same in each
// run of a network that is not being trained. (Libraries of inference pack them
// when a model is loaded.) Which of a program's arguments are weights nobody
// says, so each call is marked that packs arguments alone; the runtime sees
// which of them stay the same.
//
// Each call of @main is looked at by itself: what it reads, what its kernel
// does, and who reads its result.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"
#include "PlaceParts.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_MARKCACHEABLEPASS
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether the kernel is one stage that reads inputs of the kernel, and
/// makes one result that it computes element by element.
static bool isRearrangement(KernelOp kernel) {
  auto stages = kernel.getBody().front().getOps<FusedOp>();
  if (kernel->getNumResults() != 1 || !llvm::hasSingleElement(stages))
    return false;
  FusedOp stage = *stages.begin();
  return stage.getBody().front().getOps<ReindexReduceOp>().empty() &&
         kernel.getYield().getOperands() == stage.getResults();
}

/// Returns whether the stage is a contraction in its general form, as packing
/// leaves it.
static bool isPacked(FusedOp fused) {
  if (fused.getBody().front().getOps<ReindexReduceOp>().empty())
    return false;
  FailureOr<bool> found = isContraction(fused);
  return succeeded(found) && *found;
}

/// Returns whether a stage of the kernel is a contraction that reads the
/// operand of the function.
static bool contracts(KernelOp kernel, unsigned operand) {
  auto inputs = llvm::zip_equal(kernel.getInputs(),
                                kernel.getBody().front().getArguments());
  return llvm::any_of(inputs, [&](auto pair) {
    auto [input, inside] = pair;
    return cast<BlockArgument>(input).getArgNumber() == operand &&
           llvm::any_of(inside.getUsers(), [](Operation *user) {
             auto fused = dyn_cast<FusedOp>(user);
             return fused && isPacked(fused);
           });
  });
}

namespace {
struct MarkCacheablePass
    : metaop::impl::MarkCacheablePassBase<MarkCacheablePass> {
  using MarkCacheablePassBase::MarkCacheablePassBase;

  void runOnOperation() override;

private:
  KernelOp getCallee(func::CallOp call) {
    return getKernel(symbols->lookup<func::FuncOp>(call.getCallee()));
  }
  bool isForContractions(Value value, bool &isContracted);
  bool mayKeep(func::CallOp call);

  std::optional<SymbolTable> symbols;
};
} // namespace

/// Returns whether calls are all that reads the value and views of it. Notes
/// whether one of them is a contraction.
bool MarkCacheablePass::isForContractions(Value value, bool &isContracted) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ViewOpInterface>(user))
      return use.getOperandNumber() == 0 &&
             isForContractions(user->getResult(0), isContracted);
    auto call = dyn_cast<func::CallOp>(user);
    KernelOp kernel = call ? getCallee(call) : nullptr;
    if (!kernel)
      return false;
    isContracted = isContracted || contracts(kernel, use.getOperandNumber());
    return true;
  });
}

bool MarkCacheablePass::mayKeep(func::CallOp call) {
  if (call->getNumOperands() == 0 ||
      !llvm::all_of(call.getOperands(), [](Value operand) {
        return isa<BlockArgument>(getViewed(operand));
      }))
    return false;
  KernelOp kernel = getCallee(call);
  bool isContracted = false;
  return kernel && isRearrangement(kernel) &&
         isForContractions(call.getResult(0), isContracted) && isContracted;
}

void MarkCacheablePass::runOnOperation() {
  symbols.emplace(getOperation());
  auto main = symbols->lookup<func::FuncOp>("main");
  if (!main || !llvm::hasSingleElement(main.getBody()))
    return;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (main.getArgAttr(i, MetaOpDialect::DonatableAttrHelper::getNameStr()))
      return;
  for (auto call : main.getBody().front().getOps<func::CallOp>())
    if (mayKeep(call))
      MetaOpDialect::MayKeepAttrHelper(&getContext())
          .setAttr(call, UnitAttr::get(&getContext()));
}
