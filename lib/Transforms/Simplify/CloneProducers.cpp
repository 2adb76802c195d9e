//===- CloneProducers.cpp - Compute cheap producers for each use ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rematerialisation before fusion. Three steps, none under the rules `none`,
// the first two under extended rules only:
// 1. element-wise ops on small spaces move through the reindexes that read them
//    (PullThroughReindex.cpp);
// 2. expanded element-wise values are copied for each reduction, or other op,
//    at which they end (ExpandedValues.cpp);
// 3. reindexes, iotas and constants are copied for each op that reads them in
//    place. Without it, the forward pass of a convolution and its two gradients
//    would share the 7-dimensional reindex of the image, and so write it out.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/CloneProducers.h"

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CLONEPRODUCERSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Users in the producer's block that could share its stage, in their order,
/// and whether there are others.
static SmallVector<Operation *> getStageUsers(Operation *producer,
                                              bool &hasOthers) {
  llvm::SmallSetVector<Operation *, 4> users, others;
  for (OpOperand &use : producer->getUses()) {
    bool inPlace = isPointwiseUse(use) &&
                   use.getOwner()->getBlock() == producer->getBlock();
    (inPlace ? users : others).insert(use.getOwner());
  }
  users.remove_if([&](Operation *user) { return others.contains(user); });
  hasOthers = !others.empty();
  SmallVector<Operation *> sorted = users.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

/// The original stays with the first user, and with those that need the value
/// in memory: the first user's stage writes it. A generator in memory is a
/// kernel of its own, since nothing is spared by sharing it.
static void clonePerUse(Operation *producer) {
  bool hasOthers = false;
  SmallVector<Operation *> users = getStageUsers(producer, hasOthers);
  bool cloneFirst = hasOthers && isCheapGenerator(producer);
  for (Operation *user : ArrayRef<Operation *>(users).drop_front(
           cloneFirst || users.empty() ? 0 : 1)) {
    Operation *copy = OpBuilder(user).clone(*producer);
    user->replaceUsesOfWith(producer->getResult(0), copy->getResult(0));
  }
}

void metaop::cloneProducersPerUse(Block &block, bool generatorsOnly) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops)
    if (isCheapGenerator(op) ||
        (!generatorsOnly && isa<ReindexOpInterface>(op)))
      clonePerUse(op);
}

namespace {

struct CloneProducers : metaop::impl::CloneProducersPassBase<CloneProducers> {
  using CloneProducersPassBase::CloneProducersPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateMetaOpCanonicalizationPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      runOnBlock(block);
  }

  void runOnBlock(Block &block) {
    if (rules == FusionRules::None)
      return;
    if (rules == FusionRules::Extended) {
      PullOptions options{smallProducerRatio, expandedRatio, maxClonedOps};
      pullThroughReindexes(block, options, patterns);
      cloneExpandedValues(block, expandedRatio, maxRoots);
    }
    cloneProducersPerUse(block, /*generatorsOnly=*/false);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
