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
// The first two look at one block: what a branch or a loop reads from around it
// is computed there, once.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/CloneProducers.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CLONEPRODUCERSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
/// Users of what a producer makes.
struct Users {
  /// Those that could share its stage, in their order.
  SmallVector<Operation *> inBlock;
  /// Those in branches and loops that could share the stage of a copy.
  SmallVector<Operation *> nested;
  /// True if there are others, which need the value in memory.
  bool hasOthers = false;
};
} // namespace

static Users findUsers(Operation *producer) {
  llvm::SmallSetVector<Operation *, 4> users, others;
  for (OpOperand &use : producer->getUses())
    (isPointwiseUse(use) ? users : others).insert(use.getOwner());
  users.remove_if([&](Operation *user) { return others.contains(user); });
  Users result;
  result.hasOthers = !others.empty();
  for (Operation *user : users)
    (user->getBlock() == producer->getBlock() ? result.inBlock : result.nested)
        .push_back(user);
  llvm::sort(result.inBlock,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}

/// The original stays with the first user, and with those that need the value
/// in memory: the first user's stage writes it. A generator in memory is a
/// kernel of its own, since nothing is spared by sharing it. No stage reaches
/// into a branch or a loop, so each user there has a copy, too.
static void clonePerUse(Operation *producer) {
  auto cloneFor = [&](Operation *user) {
    Operation *copy = OpBuilder(user).clone(*producer);
    user->replaceUsesOfWith(producer->getResult(0), copy->getResult(0));
  };
  auto [inBlock, nested, hasOthers] = findUsers(producer);
  bool cloneFirst = hasOthers && isCheapGenerator(producer);
  llvm::for_each(
      ArrayRef(inBlock).drop_front(cloneFirst || inBlock.empty() ? 0 : 1),
      cloneFor);
  llvm::for_each(nested, cloneFor);
  if (!nested.empty() && producer->use_empty())
    producer->erase();
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
    walkBlocks(getOperation().getBody(),
               [&](Block &block) { runOnBlock(block); });
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
