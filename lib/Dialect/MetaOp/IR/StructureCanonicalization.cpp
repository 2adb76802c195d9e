//===- StructureCanonicalization.cpp - Tidy stages and kernels ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folding in a body leaves results that are arguments, and arguments and
// results that nobody uses. Both ops are rebuilt without them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::metaop;

static FusedOp createLike(OpBuilder &builder, FusedOp op, TypeRange results,
                          ValueRange operands) {
  return FusedOp::create(builder, op.getLoc(), results, operands,
                         op.getScheduleAttr(), op.getRoleAttr(),
                         op.getInputRowsAttr(),
                         /*result_rows=*/ArrayAttr(), op.getFirstDimsAttr());
}

static KernelOp createLike(OpBuilder &builder, KernelOp op, TypeRange results,
                           ValueRange operands) {
  return KernelOp::create(builder, op.getLoc(), results, operands,
                          op.getRewritesAttr(), op.getFloatAtomics());
}

/// Has the results that are left lie in their rows.
static void keepRows(FusedOp op, FusedOp smaller,
                     const llvm::BitVector &dropped) {
  unsigned next = 0;
  for (unsigned number = 0; number < op->getNumResults(); ++number)
    if (!dropped.test(number))
      smaller.setRowsOfResult(next++, op.getRowsOfResult(number));
}

/// Those of a kernel are its stages'.
static void keepRows(KernelOp, KernelOp, const llvm::BitVector &) {}

static void eraseInputs(FusedOp op, const llvm::BitVector &erased) {
  op.eraseInputs(erased);
}

static void eraseInputs(KernelOp op, const llvm::BitVector &erased) {
  op->eraseOperands(erased);
  op.getBody().front().eraseArguments(erased);
}

/// Replaces `op` by one without the marked results; the body moves over.
template <typename OpTy>
static void dropResults(PatternRewriter &rewriter, OpTy op,
                        const llvm::BitVector &dropped) {
  YieldOp yield = op.getYield();
  SmallVector<Value> yielded;
  SmallVector<Type> types;
  for (auto [number, value] : llvm::enumerate(yield.getOperands())) {
    if (dropped.test(number))
      continue;
    yielded.push_back(value);
    types.push_back(value.getType());
  }
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getOperandsMutable().assign(yielded); });

  OpTy smaller = createLike(rewriter, op, types, op.getInputs());
  smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  keepRows(op, smaller, dropped);
  rewriter.inlineRegionBefore(op.getBody(), smaller.getBody(),
                              smaller.getBody().end());
  unsigned next = 0;
  for (auto [number, result] : llvm::enumerate(op.getOutputs()))
    if (!dropped.test(number))
      rewriter.replaceAllUsesWith(result, smaller.getOutputs()[next++]);
  rewriter.eraseOp(op);
}

namespace {
// Pattern: %y = fused(%a = %x) { yield %a } -> %x, and results without uses go
template <typename OpTy> struct DropResults : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    // The driver erases an op of which nothing is used.
    if (op->use_empty())
      return rewriter.notifyMatchFailure(op, "nothing is used");
    llvm::BitVector dropped(op->getNumResults());
    for (auto [number, value] : llvm::enumerate(op.getYield().getOperands()))
      if (isa<BlockArgument>(value) || op->getResult(number).use_empty())
        dropped.set(number);
    if (dropped.none())
      return rewriter.notifyMatchFailure(op, "each result is made and used");

    for (unsigned number : dropped.set_bits())
      if (auto argument =
              dyn_cast<BlockArgument>(op.getYield().getOperand(number)))
        rewriter.replaceAllUsesWith(op->getResult(number),
                                    op->getOperand(argument.getArgNumber()));
    dropResults(rewriter, op, dropped);
    return success();
  }
};

// Pattern: fused(%a = %x, %b = %x, %c = %z) with %c unused -> fused(%a = %x)
template <typename OpTy> struct DropArguments : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    llvm::BitVector dropped(body.getNumArguments());
    llvm::SmallDenseMap<Value, BlockArgument> first;
    for (BlockArgument argument : body.getArguments()) {
      Value operand = op->getOperand(argument.getArgNumber());
      auto [it, isNew] = first.try_emplace(operand, argument);
      if (!isNew)
        rewriter.replaceAllUsesWith(argument, it->second);
      if (argument.use_empty())
        dropped.set(argument.getArgNumber());
    }
    if (dropped.none())
      return rewriter.notifyMatchFailure(op, "each argument is used");
    rewriter.modifyOpInPlace(op, [&] { eraseInputs(op, dropped); });
    return success();
  }
};
} // namespace

void FusedOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<DropResults<FusedOp>, DropArguments<FusedOp>>(context);
}

void KernelOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<DropResults<KernelOp>, DropArguments<KernelOp>>(context);
}
