//===- Prefixes.cpp - What the loop of prefixes carries -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A prefix goes through its line in blocks (Prefix.h of the dialect): what the
// elements of a block make from its first one on, combined with the last result
// of the block before, the carry.
//
//   for block in line:                     carries `carry`
//     local = identity
//     for k in block:                      carries `local`
//       local = combine(local, x[k])
//       result[k] = combine(carry, local)
//     carry = combine(carry, local)
//
// A line of one block has no carry, nor has a product, which goes through the
// line as it is. An exclusive prefix also carries the result before.
//
// The identity leaves what it is combined with as it is, but for a factor that
// is no number: the first step of a linear prefix is a choice. -0 is that of
// sums.
//
// In a transposed tile the copies are steps: they are done one after another.
// Backwards, loops count from the end of the line, and copies from the last one
// on.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/Prefixes.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "MetaOps/Dialect/MetaOp/IR/Prefix.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

PrefixBody::~PrefixBody() = default;

Prefixes::Prefixes(OpBuilder &b, const Stage &stage, PrefixBody &body,
                   bool copiesAreSteps)
    : b(b), loc(stage.op->getLoc()), stage(stage), body(body),
      copiesAreSteps(copiesAreSteps) {
  for (Operation *op : stage.body)
    if (auto prefix = dyn_cast<PrefixOp>(op)) {
      prefixes.push_back({prefix, {}});
      anyLinear |= prefix.getKind() == Combiner::Linear;
    }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static Reduction getReduction(PrefixOp op) {
  return {op.getKind(), getElementTypeOrSelf(op.getType())};
}

Type Prefixes::getComputeType(PrefixOp op) const {
  return getReduction(op).getAccumulatorType();
}

/// The chains side by side, one for each lane.
int64_t Prefixes::getNumLanes(PrefixOp op) const {
  return body.getNumLanes(op.getResult());
}

/// Emits the start of a chain; of an exclusive prefix the first result is 0
/// rather than -0.
Value Prefixes::emitIdentity(PrefixOp op, bool isResult) {
  int64_t width = getNumLanes(op);
  auto type = dyn_cast<FloatType>(getComputeType(op));
  if (!type || isResult || op.getKind() != Combiner::Add)
    return getReduction(op).emitIdentity(b, loc, width);
  auto zero =
      llvm::APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true);
  Value scalar = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, zero));
  return broadcastTo(b, loc, scalar, width);
}

Value Prefixes::emitCombine(PrefixOp op, Value before, Value x, Value factor) {
  if (!factor)
    return getReduction(op).emitCombine(b, loc, before, x);
  if (isa<FloatType>(getComputeType(op)))
    return math::FmaOp::create(b, loc, factor, before, x);
  return arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, factor, before), x);
}

Value Prefixes::emitOperand(PrefixOp op, Value operand, unsigned copy) {
  Value value = body.getOperand(op.getResult(), operand, copy);
  value = getReduction(op).emitWiden(b, loc, value);
  return broadcastTo(b, loc, value, getNumLanes(op));
}

/// The first of both where the condition, one for all lanes, is there and
/// holds.
Value Prefixes::emitSelect(Value condition, Value yes, Value no) {
  return condition
             ? arith::SelectOp::create(b, loc, condition, yes, no).getResult()
             : no;
}

Value Prefixes::emitIsEqual(Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lhs, rhs);
}

Value Prefixes::emitAndNot(Value lhs, Value rhs) {
  Value isNot = arith::XOrIOp::create(
      b, loc, rhs, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  return arith::AndIOp::create(b, loc, lhs, isNot);
}

Value Prefixes::emitSum(Value lhs, Value rhs) {
  return arith::AddIOp::create(b, loc, lhs, rhs,
                               arith::IntegerOverflowFlags::nsw);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Emits the value of all elements up to the last one of a chain.
Value Prefixes::emitResult(PrefixOp op, const Chain &chain) {
  if (!chain.carry)
    return chain.local;
  return emitCombine(op, chain.carry, chain.local, /*factor=*/{});
}

/// Goes on with a chain by an element.
Prefixes::Chain Prefixes::emitStep(PrefixOp op, const Chain &before, Value x,
                                   Value factor) {
  Chain after = before;
  after.local = emitCombine(op, before.local, x, factor);
  if (factor)
    after.local = emitSelect(isFirst, x, after.local);
  if (before.last)
    after.last = emitResult(op, after);
  return after;
}

void Prefixes::emit(PrefixOp op) {
  Prefix &prefix = *llvm::find_if(
      prefixes, [&](const Prefix &other) { return other.op == op; });
  unsigned count = body.getNumCopies(op.getResult());
  SmallVector<Value> copies(count);
  Value isFirstStep = isFirst;
  for (unsigned k = 0; k < count; ++k) {
    bool isBackwards = copiesAreSteps && stage.carry->isReverse;
    unsigned number = isBackwards ? count - 1 - k : k;
    Chain &chain = prefix.chains[copiesAreSteps ? 0 : number];
    Value x = emitOperand(op, op.getSource(), number), factor;
    if (op.getFactors())
      factor = emitOperand(op, op.getFactors(), number);
    Chain before = chain;
    chain = emitStep(op, before, x, factor);
    Value result = op.getExclusive() ? before.last : emitResult(op, chain);
    copies[number] = getReduction(op).emitNarrow(b, loc, result);
    // Rows that a tile lacks are no steps.
    Value exists = body.emitIsThere(op.getResult(), number);
    for (Value Chain::*member : {&Chain::local, &Chain::last})
      if (exists && chain.*member)
        chain.*member = emitSelect(exists, chain.*member, before.*member);
    if (copiesAreSteps && isFirst)
      isFirst = exists ? emitAndNot(isFirst, exists) : Value();
  }
  isFirst = isFirstStep;
  body.setCopies(op.getResult(), copies);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// Visits what the loop over steps carries, or that over blocks.
void Prefixes::forEachCarried(bool overSteps,
                              llvm::function_ref<void(Value &)> visit) {
  for (Prefix &prefix : prefixes)
    for (Chain &chain : prefix.chains) {
      if (overSteps || !chain.carry)
        visit(chain.local);
      else
        visit(chain.carry);
      if (chain.last)
        visit(chain.last);
    }
}

SmallVector<Value> Prefixes::getCarried(bool overSteps) {
  SmallVector<Value> values;
  forEachCarried(overSteps, [&](Value &value) { values.push_back(value); });
  return values;
}

void Prefixes::setCarried(bool overSteps, ValueRange values) {
  forEachCarried(overSteps, [&](Value &value) {
    value = values.front();
    values = values.drop_front();
  });
}

void Prefixes::open(bool isBlocked) {
  for (Prefix &prefix : prefixes) {
    Chain chain;
    chain.local = emitIdentity(prefix.op, /*isResult=*/false);
    if (isBlocked && prefix.op.getBlock())
      chain.carry = chain.local;
    if (prefix.op.getExclusive())
      chain.last = emitIdentity(prefix.op, /*isResult=*/true);
    prefix.chains.assign(
        copiesAreSteps ? 1 : body.getNumCopies(prefix.op.getResult()), chain);
  }
}

void Prefixes::openBlock() {
  for (Prefix &prefix : prefixes)
    for (Chain &chain : prefix.chains)
      if (chain.carry)
        chain.local = emitIdentity(prefix.op, /*isResult=*/false);
}

/// The last result of the block is the carry of the next one.
void Prefixes::closeBlock() {
  for (Prefix &prefix : prefixes)
    for (Chain &chain : prefix.chains)
      if (chain.carry)
        chain.carry = emitResult(prefix.op, chain);
}

/// Emits steps, which are numbered in the order of the prefixes. Some rows of a
/// last one may lie behind the end.
void Prefixes::emitSteps(const LoopRange &steps, int64_t step, bool isLast,
                         EmitStep emit) {
  Value size = arith::ConstantIndexOp::create(b, loc, step);
  SmallVector<Value> results = emitFor(
      b, loc, steps, size, getCarried(/*overSteps=*/true),
      [&](Value k, ValueRange before) {
        setCarried(/*overSteps=*/true, before);
        if (anyLinear)
          isFirst = emitIsEqual(k, line.begin);
        emitPlace(k, isLast ? steps.end : emitSum(k, size), isLast, emit);
        return getCarried(/*overSteps=*/true);
      });
  setCarried(/*overSteps=*/true, results);
}

/// Emits the steps from `k` up to `behind` where they are in the line.
void Prefixes::emitPlace(Value k, Value behind, bool isLast, EmitStep emit) {
  if (!stage.carry->isReverse) {
    emit(k, isLast ? behind : Value());
    return;
  }
  Value at = arith::SubIOp::create(b, loc, line.end, behind);
  emit(at, isLast ? arith::SubIOp::create(b, loc, line.end, k).getResult()
                  : Value());
}

void Prefixes::emitBlock(LoopRange block, int64_t step, EmitStep emit) {
  if (step > 1)
    emitSteps(splitOff(b, loc, block, step), step, /*isLast=*/false, emit);
  emitSteps(block, step, /*isLast=*/step > 1, emit);
}

void Prefixes::emitLoop(const LoopRange &range, int64_t step, EmitStep emit) {
  line = range;
  bool isLong = !range.extent || *range.extent > kPrefixBlock;
  bool isBlocked = isLong && llvm::any_of(prefixes, [](const Prefix &prefix) {
                     return PrefixOp(prefix.op).getBlock().has_value();
                   });
  open(isBlocked);
  if (!isBlocked) {
    emitBlock(range, step, emit);
    return;
  }
  Value size = arith::ConstantIndexOp::create(b, loc, kPrefixBlock);
  emitFor(b, loc, range, size, getCarried(/*overSteps=*/false),
          [&](Value begin, ValueRange before) {
            setCarried(/*overSteps=*/false, before);
            openBlock();
            Value end =
                arith::MinSIOp::create(b, loc, emitSum(begin, size), range.end);
            emitBlock({begin, end, std::nullopt}, step, emit);
            closeBlock();
            return getCarried(/*overSteps=*/false);
          });
}
