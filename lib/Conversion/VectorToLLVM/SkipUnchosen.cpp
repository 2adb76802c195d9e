//===- SkipUnchosen.cpp - What no lane chooses is not computed ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A choice of vectors computes both of its sides. Where one takes a function,
// as elu's `x <= 0 ? expm1(x) : x` does, vectors of which no lane chooses that
// side are common: numbers of one sign, what a mask hides. So the side is
// computed in a branch that asks whether a lane does. The question is a test of
// the mask, and foreseen where data are of one kind; a function is 20
// operations or more.
//
// Operations that no other value needs move into the branch. Chosen lanes have
// the same bits as before: products have been fused with sums by then. Where
// both sides compute functions, only the true one is skipped.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_SKIPUNCHOSENPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;

/// Operands of a choice.
static constexpr unsigned kOnTrue = 1, kOnFalse = 2;

/// Returns whether an operation is a function that takes many operations.
static bool isFunction(Operation *op) {
  return isa<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
             math::AtanOp, math::Atan2Op, math::AtanhOp, math::CbrtOp,
             math::CosOp, math::CoshOp, math::ErfOp, math::ErfcOp, math::ExpOp,
             math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::PowFOp, math::SinOp,
             math::SinhOp, math::TanOp, math::TanhOp>(op);
}

/// The operations that only this side of a choice needs, from the last to the
/// first.
static llvm::SetVector<Operation *> findSide(arith::SelectOp choice,
                                             unsigned side) {
  llvm::SetVector<Operation *> needed;
  Operation *last = choice->getOperand(side).getDefiningOp();
  if (!last || last->getBlock() != choice->getBlock())
    return needed;
  auto isUseOfSide = [&](OpOperand &use) {
    return needed.contains(use.getOwner()) ||
           (use.getOwner() == choice && use.getOperandNumber() == side);
  };
  for (Operation *op = choice->getPrevNode(); op; op = op->getPrevNode())
    if (op->getNumRegions() == 0 && !op->use_empty() && isPure(op) &&
        !op->hasTrait<OpTrait::ConstantLike>() &&
        llvm::all_of(op->getUses(), isUseOfSide))
      needed.insert(op);
  return needed;
}

/// Emits the question if a lane chooses the side.
static Value emitIsChosen(OpBuilder &b, arith::SelectOp choice, unsigned side) {
  Location loc = choice.getLoc();
  bool isOnTrue = side == kOnTrue;
  Value all = vector::ReductionOp::create(
      b, loc, isOnTrue ? vector::CombiningKind::OR : vector::CombiningKind::AND,
      choice.getCondition());
  if (isOnTrue)
    return all;
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return arith::XOrIOp::create(b, loc, all, always);
}

/// Computes a side in a branch, and chooses there: where no lane wants the
/// side, the choice is the other one.
static void skipUnchosen(arith::SelectOp choice, unsigned side) {
  llvm::SetVector<Operation *> needed = findSide(choice, side);
  if (llvm::none_of(needed, isFunction))
    return;
  OpBuilder b(choice);
  Location loc = choice.getLoc();
  Value isChosen = emitIsChosen(b, choice, side);
  auto branch = scf::IfOp::create(b, loc, choice.getType(), isChosen,
                                  /*withElseRegion=*/true);
  choice.replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.thenBlock());
  Operation *end = scf::YieldOp::create(b, loc, choice.getResult());
  for (Operation *op : llvm::reverse(needed))
    op->moveBefore(end);
  choice->moveBefore(end);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(
      b, loc, choice->getOperand(side == kOnTrue ? kOnFalse : kOnTrue));
}

namespace {
struct SkipUnchosenPass : metaop::impl::SkipUnchosenPassBase<SkipUnchosenPass> {
  using SkipUnchosenPassBase::SkipUnchosenPassBase;

  void runOnOperation() override {
    SmallVector<arith::SelectOp> choices;
    getOperation()->walk([&](arith::SelectOp choice) {
      auto lanes = dyn_cast<VectorType>(choice.getCondition().getType());
      if (lanes && lanes.getRank() == 1)
        choices.push_back(choice);
    });
    // The last first: a side may hold further choices.
    for (arith::SelectOp choice : llvm::reverse(choices))
      for (unsigned side : {kOnTrue, kOnFalse})
        skipUnchosen(choice, side);
  }
};
} // namespace
