//===- WidenAddends.cpp - What sums of half floats add --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of f16 and bf16 are in f32. What they add may be so too, and then
// nothing is gained by rounding it in between:
//
//   * the product of two halves, which is a number of f32;
//   * a number of f32 that is cast to a half, as in the gradient by a weight of
//     halves of its product with numbers of f32.
//
// Each of these whose every use is as the source of a sum is kept in f32, and
// so are these sums, whose results are cast. A sum is rounded in any case:
// whether its result is kept for a gradient must not decide what it is. So the
// cast of a sum stays, and the pass finds nothing to do in what it has made.
//
// This decides what numbers a program computes, so it looks at nothing but the
// program as it was recorded: it runs before all other passes, and before the
// interpreter does.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/WidenReductions.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_WIDENADDENDSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

static bool isSum(Operation *op) {
  if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
    return reduce.getReduceKind() == Combiner::Add;
  auto scatter = dyn_cast<ScatterOp>(op);
  return scatter && scatter.getReduceKind() == Combiner::Add;
}

/// The factors of a product of halves, multiplied in f32.
static Value createWide(MulOp product) {
  OpBuilder b(product);
  Location loc = product.getLoc();
  Value lhs = createWidened(b, loc, product.getLhs());
  Value rhs = product.getLhs() == product.getRhs()
                  ? lhs
                  : createWidened(b, loc, product.getRhs());
  return MulOp::create(b, loc, lhs, rhs);
}

/// Returns what `op` rounds to halves, in f32; null if it is none of these ops.
static Value getUnrounded(Operation *op) {
  if (auto product = dyn_cast<MulOp>(op))
    return createWide(product);
  auto convert = dyn_cast<CastOp>(op);
  if (!convert || !convert.getOperand().getType().getElementType().isF32())
    return nullptr;
  Operation *source = convert.getOperand().getDefiningOp();
  return source && isSum(source) ? Value() : convert.getOperand();
}

/// Returns whether the op gives halves that are summed, and nothing else. The
/// source of all reductions is operand 0, and nothing else that they take is a
/// float. A sum in another block reads the value as it would an argument.
static bool feedsSums(Operation *op) {
  return op->getNumResults() == 1 &&
         isHalf(getElementTypeOrSelf(op->getResult(0))) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return isSum(user) && user->getBlock() == op->getBlock();
         });
}

void metaop::widenAddends(Block &block) {
  for (Operation *op = &block.front(), *next; op; op = next) {
    Value wide = feedsSums(op) ? getUnrounded(op) : Value();
    if (wide)
      for (Operation *sum : llvm::to_vector(op->getUsers()))
        replaceByWide(sum, wide);
    // Sums that were behind it are gone by now.
    next = op->getNextNode();
    if (wide)
      op->erase();
  }
}

namespace {
struct WidenAddendsPass : metaop::impl::WidenAddendsPassBase<WidenAddendsPass> {
  void runOnOperation() override {
    walkBlocks(getOperation().getBody(), widenAddends);
  }
};
} // namespace
