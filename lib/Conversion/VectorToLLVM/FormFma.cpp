//===- FormFma.cpp - Products and sums in one instruction -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowered kernels allow (`contract`) a product that feeds a sum to become one
// fused operation. This pass decides which do, and takes the permission away:
// the rest of the way could decide otherwise for a kernel whose extents are
// constants than for the same kernel with extents as arguments, and results
// would depend on the shapes that were seen before.
//
// A sum takes its first operand that is a product of its own block without
// another use. A difference does, too, with a sign changed. Halves are left
// alone, as they round at each operation.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_FORMFMAPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;

static bool isContractable(arith::ArithFastMathInterface op) {
  // Conversions may be without flags.
  arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr();
  return flags && arith::bitEnumContainsAll(flags.getValue(),
                                            arith::FastMathFlags::contract);
}

/// The product that `operand` is, if `sum` may take it in.
static arith::MulFOp getProduct(Value operand, Operation *sum) {
  auto product = operand.getDefiningOp<arith::MulFOp>();
  if (product && product->hasOneUse() && isContractable(product) &&
      product->getBlock() == sum->getBlock())
    return product;
  return nullptr;
}

static Value negate(OpBuilder &b, Location loc, Value value) {
  return arith::NegFOp::create(b, loc, value);
}

/// lhs + rhs, or lhs - rhs, as one operation; null where it is none.
static Value fuse(OpBuilder &b, Operation *sum, bool isDifference) {
  Location loc = sum->getLoc();
  Value lhs = sum->getOperand(0), rhs = sum->getOperand(1);
  if (arith::MulFOp product = getProduct(lhs, sum)) {
    Value addend = isDifference ? negate(b, loc, rhs) : rhs;
    return math::FmaOp::create(b, loc, product.getLhs(), product.getRhs(),
                               addend);
  }
  if (arith::MulFOp product = getProduct(rhs, sum)) {
    Value factor =
        isDifference ? negate(b, loc, product.getLhs()) : product.getLhs();
    return math::FmaOp::create(b, loc, factor, product.getRhs(), lhs);
  }
  return nullptr;
}

namespace {
struct FormFmaPass : metaop::impl::FormFmaPassBase<FormFmaPass> {
  using FormFmaPassBase::FormFmaPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation()->walk([&](Operation *op) {
      if (!isa<arith::AddFOp, arith::SubFOp>(op))
        return;
      Type type = getElementTypeOrSelf(op->getResult(0));
      if ((type.isF32() || type.isF64()) &&
          isContractable(cast<arith::ArithFastMathInterface>(op)))
        sums.push_back(op);
    });
    for (Operation *sum : sums)
      if (hasFma)
        formFma(sum);
    forbidContraction();
  }

private:
  static void formFma(Operation *sum) {
    OpBuilder b(sum);
    Value fused = fuse(b, sum, isa<arith::SubFOp>(sum));
    if (!fused)
      return;
    SmallVector<Value> operands(sum->getOperands());
    sum->getResult(0).replaceAllUsesWith(fused);
    sum->erase();
    for (Value operand : operands)
      if (Operation *product = operand.getDefiningOp();
          isa_and_nonnull<arith::MulFOp>(product) && product->use_empty())
        product->erase();
  }

  void forbidContraction() {
    getOperation()->walk([&](arith::ArithFastMathInterface op) {
      if (!isContractable(op))
        return;
      arith::FastMathFlags flags = op.getFastMathFlagsAttr().getValue();
      op->setAttr(op.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(
                      &getContext(), flags & ~arith::FastMathFlags::contract));
    });
  }
};
} // namespace
