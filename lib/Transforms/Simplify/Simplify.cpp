//===- Simplify.cpp - Canonicalise, merge equal ops, drop dead ones -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Every stop_grad is replaced by its operand: it only means something to
//    automatic differentiation, and would keep its neighbours apart. So is
//    every transfer, as what is here runs on one device, and what has
//    derivatives of its own, by its values. What is in a checkpoint is part of
//    the program.
// 2. Canonicalisation patterns and folders run to a fixed point. One pattern
//    more gives `tensor.dim` in terms of what the extent comes from; else a
//    `tensor.dim` of an intermediate value would force that value into memory.
// 3. Equal operations are merged. That may give patterns something to do
//    (x - x), so 2 and 3 alternate while there is a change, a few times at
//    most. A block does not take from around it what it computes itself: the
//    value would be in memory, where it may be no more than a point of a loop.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// tensor.dim of a computed tensor becomes where that extent comes from.
struct ResolveDim : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!type || !dim || *dim < 0 || *dim >= type.getRank())
      return failure();
    ExtentOrigin origin = getExtentOrigin(op.getSource(), *dim);
    if (!origin.value || origin.value == op.getSource() ||
        origin.value == op.getResult())
      return failure();
    if (origin.dim < 0)
      rewriter.replaceOp(op, origin.value);
    else
      rewriter.replaceOpWithNewOp<tensor::DimOp>(op, origin.value, origin.dim);
    return success();
  }
};

/// Replaces an op by one of its blocks, whose arguments have these values.
void inlineBlock(Block &block, Operation *op, ValueRange arguments,
                 ValueRange results, RewriterBase &rewriter) {
  Operation *end = block.getTerminator();
  rewriter.inlineBlockBefore(&block, op, arguments);
  rewriter.replaceOp(op, results);
  rewriter.eraseOp(end);
}

/// A branch whose condition is known is the block that is taken.
struct TakeKnownBranch : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    APInt condition;
    if (!matchPattern(op.getCondition(), m_ConstantInt(&condition)))
      return failure();
    Region &taken =
        condition.isZero() ? op.getElseRegion() : op.getThenRegion();
    if (taken.empty())
      rewriter.eraseOp(op);
    else
      inlineBlock(taken.front(), op, {},
                  taken.front().getTerminator()->getOperands(), rewriter);
    return success();
  }
};

/// A result that both ways through a branch have from around it is that value.
struct ForwardEqualYields : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OpResult result : op.getResults()) {
      unsigned number = result.getResultNumber();
      Value value = op.thenYield().getOperand(number);
      if (result.use_empty() || value != op.elseYield().getOperand(number))
        continue;
      rewriter.replaceAllUsesWith(result, value);
      changed = true;
    }
    return success(changed);
  }
};

/// Results of a branch that nobody reads are gone.
struct DropUnreadResults : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    llvm::BitVector unread(op.getNumResults());
    SmallVector<Value> left;
    for (OpResult result : op.getResults())
      if (result.use_empty())
        unread.set(result.getResultNumber());
      else
        left.push_back(result);
    if (unread.none())
      return failure();
    for (scf::YieldOp yield : {op.thenYield(), op.elseYield()})
      rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(unread); });
    auto smaller =
        scf::IfOp::create(rewriter, op.getLoc(), TypeRange(ValueRange(left)),
                          op.getCondition(), /*addThenBlock=*/false,
                          /*addElseBlock=*/false);
    smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    smaller.getThenRegion().takeBody(op.getThenRegion());
    smaller.getElseRegion().takeBody(op.getElseRegion());
    rewriter.replaceAllUsesWith(left, smaller.getResults());
    rewriter.eraseOp(op);
    return success();
  }
};

/// A loop whose condition is known not to hold is what finds that out.
struct DropKnownLoop : OpRewritePattern<scf::WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::WhileOp op,
                                PatternRewriter &rewriter) const override {
    scf::ConditionOp end = op.getConditionOp();
    APInt condition;
    if (!matchPattern(end.getCondition(), m_ConstantInt(&condition)) ||
        !condition.isZero())
      return failure();
    inlineBlock(*op.getBeforeBody(), op, op.getInits(), end.getArgs(),
                rewriter);
    return success();
  }
};

/// Equal ops have equal names, operands, attributes and types.
struct OpEquality : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op),
        /*hashOperands=*/OperationEquivalence::directHashValue,
        /*hashResults=*/OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getTombstoneKey() || b == getTombstoneKey() ||
        a == getEmptyKey() || b == getEmptyKey())
      return false;
    return OperationEquivalence::isEquivalentTo(
        const_cast<Operation *>(a), const_cast<Operation *>(b),
        OperationEquivalence::IgnoreLocations);
  }
};

struct Simplify : metaop::impl::SimplifyPassBase<Simplify> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateMetaOpCanonicalizationPatterns(set);
    tensor::DimOp::getCanonicalizationPatterns(set, context);
    set.add<ResolveDim>(context);
    patterns = std::move(set);
    RewritePatternSet known(context);
    known.add<TakeKnownBranch, ForwardEqualYields, DropUnreadResults,
              DropKnownLoop>(context);
    scf::ExecuteRegionOp::getCanonicalizationPatterns(known, context);
    ScanOp::getCanonicalizationPatterns(known, context);
    controlFlowPatterns = std::move(known);
    return success();
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    // Gradients are complete, and a program is on one device.
    func.walk([](Operation *op) {
      if (isCheckpoint(op))
        cast<scf::ExecuteRegionOp>(op).setNoInline(false);
      auto custom = dyn_cast<CustomDerivativeOp>(op);
      if (!custom && !isa<StopGradOp, TransferOp>(op))
        return;
      op->replaceAllUsesWith(custom ? custom.getValues() : op->getOperands());
      op->erase();
    });

    constexpr int maxRounds = 4;
    bool changed = true;
    for (int round = 0; changed && round < maxRounds; ++round) {
      canonicalizeOps(func, patterns);
      changed = takeKnownBranches(func);
      changed |= mergeEqualOps(func);
    }
  }

private:
  /// Returns whether there were any.
  bool takeKnownBranches(func::FuncOp func) {
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (isControlFlow(op))
        ops.push_back(op);
    });
    bool changed = false;
    (void)applyOpPatternsGreedily(ops, controlFlowPatterns,
                                  GreedyRewriteConfig(), &changed);
    return changed;
  }

  /// The same.
  bool mergeEqualOps(func::FuncOp func) {
    bool changed = false;
    if (findControlFlow(func.getBody())) {
      walkBlocks(func.getBody(),
                 [&](Block &block) { changed |= mergeEqualOps(block); });
      return changed;
    }
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(func);
    eliminateCommonSubExpressions(rewriter, dominance, func, &changed);
    return changed;
  }

  /// The same for one block, without a look around it. Dead ops go, too.
  static bool mergeEqualOps(Block &block) {
    llvm::DenseSet<Operation *, OpEquality> known;
    bool changed = false;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isOpTriviallyDead(&op)) {
        op.erase();
        changed = true;
        continue;
      }
      if (op.getNumRegions() != 0 || op.hasTrait<OpTrait::IsTerminator>() ||
          !isMemoryEffectFree(&op))
        continue;
      auto [first, isNew] = known.insert(&op);
      if (isNew)
        continue;
      op.replaceAllUsesWith(*first);
      op.erase();
      changed = true;
    }
    return changed;
  }

  FrozenRewritePatternSet patterns, controlFlowPatterns;
};

} // namespace
