//===- ForToWhile.cpp - Loops that count, in tensors ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program has no numbers but those in tensors, where kernels can read and
// write them. So a loop that counts carries its counter as a 0-d tensor of i64,
// beside the values that it carries anyway:
//
//   while (counter < end) { body; counter = min(counter, largest) + step }
//
// where no number is left behind `largest + step`: the count ends there.
//
// Bounds are traced to the tensors that they were read from, and tensors that
// were made of numbers are replaced by those. Loops whose bounds are from
// elsewhere, such as arguments of the function, stay as they are.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>

namespace mlir::metaop {
#define GEN_PASS_DEF_FORTOWHILEPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static Value makeConstant(OpBuilder &b, Location loc, Type element,
                          int64_t number) {
  auto type = RankedTensorType::get({}, element);
  Attribute value = b.getIntegerAttr(element, number);
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
}

/// The number as a 0-d tensor of an integer type; null where it is neither a
/// constant nor read from a tensor.
static Value toTensor(OpBuilder &b, Location loc, Value number, Type element) {
  while (auto cast = number.getDefiningOp<arith::IndexCastOp>())
    number = cast.getIn();
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    return makeConstant(b, loc, element,
                        element.isInteger(1) ? constant.getZExtValue()
                                             : constant.getSExtValue());
  auto read = number.getDefiningOp<tensor::ExtractOp>();
  if (!read || !read.getIndices().empty())
    return nullptr;
  Value tensor = read.getTensor();
  if (tensor.getType() == RankedTensorType::get({}, element))
    return tensor;
  return CastOp::create(b, loc, RankedTensorType::get({}, element), tensor);
}

/// A number out of a 0-d tensor, of an integer type or index.
static Value toNumber(OpBuilder &b, Location loc, Value tensor, Type type) {
  Value number = tensor::ExtractOp::create(b, loc, tensor, ValueRange());
  if (number.getType() == type)
    return number;
  return arith::IndexCastOp::create(b, loc, type, number);
}

namespace {
/// One loop that counts, as one that asks.
class LoopConverter {
public:
  LoopConverter(RewriterBase &b, scf::ForOp loop)
      : b(b), loop(loop), loc(loop.getLoc()) {}

  /// Does nothing where its numbers are not all out of tensors.
  void convert();

private:
  void buildCondition(Block &block, ValueRange arguments);
  void buildBody(Block &block, ValueRange arguments);

  RewriterBase &b;
  scf::ForOp loop;
  Location loc;
  Value end;
  int64_t step = 0;
};
} // namespace

void LoopConverter::buildCondition(Block &block, ValueRange arguments) {
  b.setInsertionPointToEnd(&block);
  auto type = RankedTensorType::get({}, b.getI1Type());
  Value isBefore =
      CmpOp::create(b, loc, type, ComparePredicate::Lt, arguments.front(), end);
  scf::ConditionOp::create(b, loc, toNumber(b, loc, isBefore, b.getI1Type()),
                           arguments);
}

void LoopConverter::buildBody(Block &block, ValueRange arguments) {
  b.setInsertionPointToEnd(&block);
  Value counter = arguments.front();
  SmallVector<Value> given = {
      toNumber(b, loc, counter, loop.getInductionVar().getType())};
  llvm::append_range(given, arguments.drop_front());
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  b.mergeBlocks(loop.getBody(), &block, given);
  b.setInsertionPoint(yield);
  int64_t largest = std::numeric_limits<int64_t>::max() - step;
  Value bounded = MinOp::create(b, loc, counter.getType(), counter,
                                makeConstant(b, loc, b.getI64Type(), largest));
  SmallVector<Value> yielded = {
      AddOp::create(b, loc, counter.getType(), bounded,
                    makeConstant(b, loc, b.getI64Type(), step))};
  llvm::append_range(yielded, yield.getOperands());
  b.replaceOpWithNewOp<scf::YieldOp>(yield, yielded);
}

void LoopConverter::convert() {
  b.setInsertionPoint(loop);
  APInt constant;
  if (loop.getUnsignedCmp() ||
      !matchPattern(loop.getStep(), m_ConstantInt(&constant)) ||
      !constant.isStrictlyPositive())
    return;
  step = constant.getSExtValue();
  Value begin = toTensor(b, loc, loop.getLowerBound(), b.getI64Type());
  end = toTensor(b, loc, loop.getUpperBound(), b.getI64Type());
  if (!begin || !end)
    return;
  SmallVector<Value> inits = {begin};
  llvm::append_range(inits, loop.getInitArgs());
  auto made = scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(inits)), inits,
      [&](OpBuilder &, Location, ValueRange) {},
      [&](OpBuilder &, Location, ValueRange) {});
  buildCondition(*made.getBeforeBody(), made.getBeforeArguments());
  buildBody(*made.getAfterBody(), made.getAfterArguments());
  b.replaceOp(loop, made.getResults().drop_front());
}

namespace {
struct ForToWhilePass : metaop::impl::ForToWhilePassBase<ForToWhilePass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>(
        [&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      LoopConverter(rewriter, loop).convert();
    getOperation().walk([&](tensor::FromElementsOp op) {
      if (op.getType().getRank() != 0)
        return;
      rewriter.setInsertionPoint(op);
      if (Value tensor = toTensor(rewriter, op.getLoc(), op.getElements()[0],
                                  op.getType().getElementType()))
        rewriter.replaceOp(op, tensor);
    });
  }
};
} // namespace
