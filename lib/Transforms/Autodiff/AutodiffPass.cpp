//===- AutodiffPass.cpp - Gradients of a function -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The returned tensor, seeded with ones, is differentiated with respect to the
// chosen arguments just before the return; the gradients become results. For
// each further order, the gradients of the order before are the outputs.
//
//===----------------------------------------------------------------------===//

#include "ActiveOps.h"
#include "FunctionParts.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "MetaOps/Transforms/Autodiff/MissingDerivatives.h"
#include "MetaOps/Transforms/Autodiff/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "MetaOps/Transforms/Autodiff/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// The return of a function that can be differentiated.
static FailureOr<func::ReturnOp> getReturnOfOne(func::FuncOp function) {
  FailureOr<func::ReturnOp> exit = getReturn(function);
  if (failed(exit))
    return failure();
  if (exit->getNumOperands() != 1 || !isFloatTensor(exit->getOperand(0)))
    return function.emitError()
           << "expected one tensor of floats as result to differentiate, but "
              "got "
           << function.getFunctionType();
  return exit;
}

static LogicalResult addGradients(func::FuncOp function, ArrayRef<int64_t> wrt,
                                  int64_t order, int64_t savedBytes) {
  FailureOr<func::ReturnOp> exit = getReturnOfOne(function);
  if (failed(exit))
    return failure();
  FailureOr<SmallVector<Value>> targets = getTargets(function, wrt);
  if (failed(targets))
    return failure();

  OpBuilder builder(*exit);
  SmallVector<Value> results(exit->getOperands());
  SmallVector<Value> outputs = results;
  for (int64_t i = 0; i < order; ++i) {
    SmallVector<Value> seeds;
    Operation *missing = findMissingDerivative(
        &function.front(), outputs, *targets, DerivativeMode::Reverse);
    if (isa_and_present<CustomDerivativeOp>(missing))
      return missing->emitOpError(
          "has no derivatives here: expected a rule for reverse mode, and no "
          "capture that depends on what is differentiated by");
    if (missing && lacksDerivatives(missing))
      return missing->emitOpError("has no derivatives");
    if (missing)
      return missing->emitOpError(
          "has no derivatives in reverse mode: expected "
          "loops that say how many trips they make at "
          "most, such as `metaop.scan` by `most`");
    for (Value output : outputs)
      seeds.push_back(splatLike(builder, output.getLoc(), output, 1.0));
    llvm::Expected<SmallVector<Value>> gradients =
        differentiate(builder, outputs, seeds, *targets, {savedBytes});
    if (!gradients)
      return function.emitError() << llvm::toString(gradients.takeError());
    for (Value seed : seeds)
      if (seed.use_empty() && !llvm::is_contained(*gradients, seed))
        seed.getDefiningOp()->erase();
    llvm::append_range(results, *gradients);
    outputs = std::move(*gradients);
  }

  setResults(function, *exit, results);
  return success();
}

namespace {
class AutodiffPass : public metaop::impl::AutodiffPassBase<AutodiffPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(differentiateFunction(function)))
        return signalPassFailure();
  }

private:
  LogicalResult differentiateFunction(func::FuncOp function) {
    if (order < 1)
      return function.emitError() << "expected an `order` of 1 or more, but "
                                     "got "
                                  << order.getValue();
    if (failed(verifyIsNotCalled(function, getOperation())))
      return failure();
    return addGradients(function, wrt, order, savedBytes);
  }
};
} // namespace
