//===- CustomCalls.cpp - Where a sweep asks for derivatives ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule is copied to the sweep's place, with what it is given for its
// arguments. Where somebody is asked, the sweep hands over what it has emitted
// so far, but for what it will not read: the block belongs to others meanwhile.
//
//===----------------------------------------------------------------------===//

#include "CustomCalls.h"

#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "RegionDerivatives.h"

using namespace mlir;
using namespace mlir::metaop;

CustomCalls::CustomCalls(OpBuilder &builder, const ActiveOps &active,
                         CustomDerivatives *source)
    : builder(builder), active(active), source(source),
      before(getOpBefore(builder)) {
  asks = source && llvm::any_of(active.order, [&](Operation *op) {
           auto custom = dyn_cast<CustomDerivativeOp>(op);
           return custom && source->knows(custom);
         });
}

llvm::Error CustomCalls::checkCaptures(CustomDerivativeOp op) {
  for (Value capture : op.getCaptures()) {
    if (!active.values.contains(capture))
      continue;
    if (source)
      return source->describeCapture(op, capture);
    return llvm::createStringError("a derivative is asked for by what '" +
                                   op.getFunction() +
                                   "' reads, and is not given as an argument");
  }
  return llvm::Error::success();
}

llvm::Error CustomCalls::describeMissing(CustomDerivativeOp op) {
  if (source)
    return source->describeMissing(op);
  return llvm::createStringError("nobody knows derivatives of '" +
                                 op.getFunction() + "'");
}

llvm::Expected<SmallVector<Value>>
CustomCalls::ask(Method method, CustomDerivativeOp op, ArrayRef<Value> given) {
  if (!std::exchange(hasBegun, true))
    source->begin(active.order);
  for (Value value : given)
    if (value)
      made.push_back(value);
  eraseUnused(builder, before, made);
  auto result =
      (source->*method)(op, given, std::exchange(made, SmallVector<Value>()));
  before = getOpBefore(builder);
  return result;
}

/// Emits what a rule yields of what it is given; null stands for zeros.
static SmallVector<Value> emitRule(OpBuilder &builder, Block &rule,
                                   ArrayRef<Value> given) {
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip_equal(rule.getArguments(), given))
    mapping.map(argument,
                value ? value
                      : splatLike(builder, argument.getLoc(), argument, 0.0));
  return cloneBody(builder, rule, mapping, rule.getTerminator()->getOperands());
}

llvm::Expected<SmallVector<Value>>
CustomCalls::pullBack(CustomDerivativeOp op, ArrayRef<Value> cotangents) {
  if (llvm::Error error = checkCaptures(op))
    return std::move(error);
  if (source && source->knows(op))
    return ask(&CustomDerivatives::pullBack, op, cotangents);
  if (Block *rule = op.getGradientRule())
    return emitRule(builder, *rule, cotangents);
  return describeMissing(op);
}

llvm::Expected<SmallVector<Value>>
CustomCalls::pushForward(CustomDerivativeOp op, ArrayRef<Value> tangents) {
  if (llvm::Error error = checkCaptures(op))
    return std::move(error);
  if (source && source->knows(op))
    return ask(&CustomDerivatives::pushForward, op, tangents);
  if (Block *rule = op.getTangentRule())
    return emitRule(builder, *rule, tangents);
  return describeMissing(op);
}
