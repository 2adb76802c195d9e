//===- VerifyClosure.cpp - Meta-operators only ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks at every operation of a function, and reports each one that is neither
// of the metaop dialect, nor control flow, nor one of the few that extents are
// made of.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Transforms/Autodiff/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_VERIFYCLOSUREPASS
#include "MetaOps/Transforms/Autodiff/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static bool isAllowed(Operation *op) {
  return isa_and_nonnull<MetaOpDialect>(op->getDialect()) ||
         isa<func::ReturnOp, tensor::DimOp, tensor::ExtractOp,
             arith::ConstantOp, scf::ExecuteRegionOp, scf::ForOp, scf::IfOp,
             scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op);
}

namespace {
class VerifyClosurePass
    : public metaop::impl::VerifyClosurePassBase<VerifyClosurePass> {
public:
  void runOnOperation() override {
    bool isClosed = true;
    getOperation().getFunctionBody().walk([&](Operation *op) {
      if (isAllowed(op))
        return;
      op->emitError() << "'" << op->getName()
                      << "' is not a meta-operator, so the function cannot be "
                         "differentiated again";
      isClosed = false;
    });
    if (!isClosed)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
