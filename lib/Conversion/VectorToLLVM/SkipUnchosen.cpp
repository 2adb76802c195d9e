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
// both sides compute functions, each is in a branch of its own.
//
// One walk over a block, from its end, finds the operations of all sides. Sides
// are a tree, since a side may hold further choices; an operation belongs to
// the innermost side that all of its users belong to.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <memory>
#include <vector>

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

namespace {
/// One side of a choice.
struct Side {
  arith::SelectOp choice;
  unsigned operand;
  /// The side that the choice itself belongs to, if any.
  Side *parent;
  unsigned depth;
  /// Operations that only this side needs, inner sides included, from the last
  /// to the first.
  SmallVector<Operation *> ops = {};
  bool hasFunction = false;
};

/// The sides of the choices in one block.
class BlockSides {
public:
  explicit BlockSides(Block &block);

  /// Puts sides with functions into branches.
  void skipUnchosen();

private:
  void addChoice(arith::SelectOp choice, Side *owner);
  Side *findOwner(Operation *op) const;
  Side *getSide(OpOperand &use) const;

  /// Both sides of each choice, those of outer ones first; where they are does
  /// not change.
  std::vector<std::unique_ptr<std::array<Side, 2>>> choices;
  llvm::DenseMap<Operation *, std::array<Side, 2> *> sidesOf;
  /// Of operations that belong to a side.
  llvm::DenseMap<Operation *, Side *> ownerOf;
};
} // namespace

BlockSides::BlockSides(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    Side *owner = findOwner(&op);
    if (owner)
      ownerOf[&op] = owner;
    for (Side *side = owner; side; side = side->parent) {
      side->ops.push_back(&op);
      side->hasFunction |= isFunction(&op);
    }
    auto choice = dyn_cast<arith::SelectOp>(op);
    if (!choice)
      continue;
    auto lanes = dyn_cast<VectorType>(choice.getCondition().getType());
    if (lanes && lanes.getRank() == 1)
      addChoice(choice, owner);
  }
}

void BlockSides::addChoice(arith::SelectOp choice, Side *owner) {
  unsigned depth = owner ? owner->depth + 1 : 0;
  choices.push_back(std::make_unique<std::array<Side, 2>>(std::array<Side, 2>{
      {{choice, kOnTrue, owner, depth}, {choice, kOnFalse, owner, depth}}}));
  sidesOf[choice] = choices.back().get();
}

/// The side that a use belongs to, if any.
Side *BlockSides::getSide(OpOperand &use) const {
  if (auto *sides = sidesOf.lookup(use.getOwner()))
    for (Side &side : *sides)
      if (side.operand == use.getOperandNumber())
        return &side;
  return ownerOf.lookup(use.getOwner());
}

/// The innermost side that has all uses of an operation which may move, if any.
Side *BlockSides::findOwner(Operation *op) const {
  if (op->getNumRegions() != 0 || op->use_empty() || !isPure(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return nullptr;
  Side *common = getSide(*op->use_begin());
  for (OpOperand &use : op->getUses()) {
    Side *other = getSide(use);
    while (common != other && common && other) {
      bool isDeeper = common->depth > other->depth;
      bool isSame = common->depth == other->depth;
      if (isDeeper || isSame)
        common = common->parent;
      if (!isDeeper || isSame)
        other = other->parent;
    }
    if (common != other)
      return nullptr;
  }
  return common;
}

/// Emits the question if a lane chooses the side.
static Value emitIsChosen(OpBuilder &b, const Side &side) {
  arith::SelectOp choice = side.choice;
  Location loc = choice.getLoc();
  bool isOnTrue = side.operand == kOnTrue;
  Value all = vector::ReductionOp::create(
      b, loc, isOnTrue ? vector::CombiningKind::OR : vector::CombiningKind::AND,
      choice.getCondition());
  if (isOnTrue)
    return all;
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return arith::XOrIOp::create(b, loc, all, always);
}

/// Makes a branch before the choice in which the side is computed, and
/// `yielded`, and else `otherwise`.
static Value emitBranch(OpBuilder &b, const Side &side, Value yielded,
                        Value otherwise) {
  arith::SelectOp choice = side.choice;
  Location loc = choice.getLoc();
  auto branch =
      scf::IfOp::create(b, loc, choice.getType(), emitIsChosen(b, side),
                        /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Operation *end = scf::YieldOp::create(b, loc, yielded);
  for (Operation *op : llvm::reverse(side.ops))
    op->moveBefore(end);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return branch.getResult(0);
}

/// Computes a side in a branch; no lane reads the zeros beside it.
static void computeInBranch(const Side &side) {
  arith::SelectOp choice = side.choice;
  OpBuilder b(choice);
  Value zeros = arith::ConstantOp::create(b, choice.getLoc(),
                                          b.getZeroAttr(choice.getType()));
  Value value = choice->getOperand(side.operand);
  choice->setOperand(side.operand, emitBranch(b, side, value, zeros));
}

/// Computes a side in a branch, and chooses there: where no lane wants the
/// side, the choice is the other one.
static void chooseInBranch(const Side &side) {
  arith::SelectOp choice = side.choice;
  OpBuilder b(choice);
  Value other =
      choice->getOperand(side.operand == kOnTrue ? kOnFalse : kOnTrue);
  Value chosen = emitBranch(b, side, choice.getResult(), other);
  choice.getResult().replaceAllUsesExcept(
      chosen, chosen.getDefiningOp<scf::IfOp>().thenYield());
  choice->moveBefore(chosen.getDefiningOp<scf::IfOp>().thenYield());
}

void BlockSides::skipUnchosen() {
  for (auto &sides : choices) {
    auto &[onTrue, onFalse] = *sides;
    if (onTrue.hasFunction && onFalse.hasFunction)
      computeInBranch(onFalse);
    else if (onFalse.hasFunction)
      chooseInBranch(onFalse);
    if (onTrue.hasFunction)
      chooseInBranch(onTrue);
  }
}

namespace {
struct SkipUnchosenPass : metaop::impl::SkipUnchosenPassBase<SkipUnchosenPass> {
  using SkipUnchosenPassBase::SkipUnchosenPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      BlockSides(*block).skipUnchosen();
  }
};
} // namespace
