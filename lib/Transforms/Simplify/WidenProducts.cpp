//===- WidenProducts.cpp - Products of half floats, summed in f32 ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of two numbers of f16 or bf16 is a number of f32, so nothing is
// gained by rounding it before it is added to a sum that is in f32 anyway. Each
// product of halves whose every use is as the source of a sum becomes a product
// in f32 of casts, and its sums become sums in f32, cast at their ends.
//
// This decides what numbers a program computes, so it looks at nothing but the
// program as it was recorded: it runs before all other passes, and before the
// interpreter does.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "MetaOps/Transforms/Simplify/WidenReductions.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_WIDENPRODUCTSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static bool isHalf(Type element) { return element.isF16() || element.isBF16(); }

/// Whether the use adds the value to a sum. The source of all reductions is
/// operand 0, and nothing else that they take is a float.
static bool isSummed(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
    return reduce.getReduceKind() == ReduceKind::Add;
  auto scatter = dyn_cast<ScatterOp>(op);
  return scatter && scatter.getReduceKind() == ReduceKind::Add;
}

static void widen(MulOp product) {
  OpBuilder b(product);
  Location loc = product.getLoc();
  Value lhs = createWidened(b, loc, product.getLhs());
  Value rhs = product.getLhs() == product.getRhs()
                  ? lhs
                  : createWidened(b, loc, product.getRhs());
  Value wide = MulOp::create(b, loc, lhs, rhs);
  for (Operation *sum : llvm::make_early_inc_range(product->getUsers()))
    replaceByWide(sum, wide);
  product.erase();
}

void metaop::widenProducts(Block &block) {
  for (auto product : llvm::make_early_inc_range(block.getOps<MulOp>()))
    if (isHalf(product.getType().getElementType()) && !product->use_empty() &&
        llvm::all_of(product->getUses(), isSummed))
      widen(product);
}

namespace {
struct WidenProductsPass
    : metaop::impl::WidenProductsPassBase<WidenProductsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      widenProducts(block);
  }
};
} // namespace
