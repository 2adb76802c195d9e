//===- CustomOps.cpp - Derivatives of the user's own ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"

using namespace mlir;
using namespace mlir::metaop;

Block *CustomDerivativeOp::getGradientRule() {
  return getRules().empty() ? nullptr : &getRules().front().front();
}

Block *CustomDerivativeOp::getTangentRule() {
  return getRules().size() < 2 ? nullptr : &getRules()[1].front();
}

LogicalResult CustomDerivativeOp::verify() {
  // (C1)
  if (!getValues().empty() && getValues().getTypes() != getResultTypes())
    return emitOpError("expects values of the types of its results, given ")
           << getValues().getTypes() << " for " << getResultTypes();
  // (C2)
  if (getNumRegions() > 2)
    return emitOpError("expects two rules at most, given ") << getNumRegions();
  return success();
}

LogicalResult CustomDerivativeOp::verifyRegions() {
  auto check = [&](Block *rule, StringRef name, TypeRange given,
                   TypeRange yielded) -> LogicalResult {
    if (!rule)
      return success();
    if (TypeRange(rule->getArgumentTypes()) != given)
      return emitOpError("expects a rule of ")
             << name << " with arguments of " << given << ", given "
             << TypeRange(rule->getArgumentTypes());
    if (rule->empty() || !rule->back().hasTrait<OpTrait::IsTerminator>() ||
        TypeRange(rule->back().getOperandTypes()) != yielded)
      return emitOpError("expects a rule of ")
             << name << " that yields " << yielded;
    return success();
  };
  // (C3), (C4)
  if (failed(check(getGradientRule(), "gradients", getResultTypes(),
                   getArguments().getTypes())))
    return failure();
  return check(getTangentRule(), "tangents", getArguments().getTypes(),
               getResultTypes());
}
