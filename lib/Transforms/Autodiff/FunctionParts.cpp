//===- FunctionParts.cpp - Arguments and results of functions -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionParts.h"

#include "ActiveOps.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::metaop;

FailureOr<SmallVector<Value>> metaop::getTargets(func::FuncOp function,
                                                 ArrayRef<int64_t> wrt) {
  SmallVector<Value> targets;
  if (wrt.empty()) {
    llvm::copy_if(function.getArguments(), std::back_inserter(targets),
                  [](Value value) { return isFloatTensor(value); });
    if (targets.empty())
      return function.emitError()
             << "no argument is a tensor of floats to differentiate with "
                "respect to";
    return targets;
  }
  llvm::SmallBitVector isNamed(function.getNumArguments());
  for (int64_t number : wrt) {
    if (number < 0 || number >= function.getNumArguments())
      return function.emitError()
             << "`wrt` names argument " << number << ", but the function has "
             << function.getNumArguments()
             << (function.getNumArguments() == 1 ? " argument" : " arguments");
    Value argument = function.getArgument(number);
    if (!isFloatTensor(argument))
      return function.emitError()
             << "`wrt` names argument " << number << " of type "
             << argument.getType() << ", but only tensors of floats have "
             << "gradients";
    if (isNamed.test(number))
      return function.emitError()
             << "`wrt` names argument " << number << " twice";
    isNamed.set(number);
    targets.push_back(argument);
  }
  return targets;
}

FailureOr<func::ReturnOp> metaop::getReturn(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError()
           << "expected a body of one block to differentiate, but got "
           << function.getBody().getBlocks().size() << " blocks";
  auto exit = dyn_cast<func::ReturnOp>(function.front().getTerminator());
  if (!exit)
    return function.emitError() << "expected the body to end in func.return";
  return exit;
}

LogicalResult metaop::verifyIsNotCalled(func::FuncOp function,
                                        ModuleOp module) {
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, module);
  if (uses && uses->empty())
    return success();
  InFlightDiagnostic error = function.emitError()
                             << "expected a function that no other one calls, "
                                "as its arguments and results change";
  if (uses)
    error.attachNote((*uses->begin()).getUser()->getLoc()) << "called here";
  return error;
}

void metaop::setResults(func::FuncOp function, func::ReturnOp exit,
                        ArrayRef<Value> results) {
  exit.getOperandsMutable().assign(results);
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getArgumentTypes(),
                                             TypeRange(ValueRange(results))));
}
