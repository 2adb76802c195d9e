//===- PushForwardPass.cpp - Tangents of a function -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tangents of the chosen arguments become arguments; what they make of the
// returned tensors is emitted just before the return, and becomes results.
//
//===----------------------------------------------------------------------===//

#include "ActiveOps.h"
#include "FunctionParts.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "MetaOps/Transforms/Autodiff/MissingDerivatives.h"
#include "MetaOps/Transforms/Autodiff/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PUSHFORWARDPASS
#include "MetaOps/Transforms/Autodiff/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static LogicalResult addTangents(func::FuncOp function, ArrayRef<int64_t> wrt) {
  FailureOr<func::ReturnOp> exit = getReturn(function);
  if (failed(exit))
    return failure();
  FailureOr<SmallVector<Value>> inputs = getTargets(function, wrt);
  if (failed(inputs))
    return failure();

  SmallVector<Value> outputs =
      llvm::filter_to_vector(exit->getOperands(), isFloatTensor);
  SmallVector<Value> tangents;
  for (Value input : *inputs) {
    unsigned end = function.getNumArguments();
    if (failed(function.insertArgument(end, input.getType(), DictionaryAttr(),
                                       input.getLoc())))
      return failure();
    tangents.push_back(function.getArgument(end));
  }
  Operation *missing = findMissingDerivative(&function.front(), outputs,
                                             *inputs, DerivativeMode::Forward);
  if (missing && lacksDerivatives(missing))
    return missing->emitOpError("has no derivatives");
  if (missing)
    return missing->emitOpError(
        "has no derivatives here: expected a rule for forward mode, and no "
        "capture that depends on what is differentiated by");
  OpBuilder builder(*exit);
  llvm::Expected<SmallVector<Value>> moved =
      pushForward(builder, outputs, *inputs, tangents);
  if (!moved)
    return function.emitError() << llvm::toString(moved.takeError());
  SmallVector<Value> results(exit->getOperands());
  llvm::append_range(results, *moved);
  setResults(function, *exit, results);
  return success();
}

namespace {
class PushForwardPass
    : public metaop::impl::PushForwardPassBase<PushForwardPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() &&
          (failed(verifyIsNotCalled(function, getOperation())) ||
           failed(addTangents(function, wrt))))
        return signalPassFailure();
  }
};
} // namespace
