//===- VerifyPhase.cpp - What is legal between passes ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each phase is a predicate on one operation, given where it stands. The walk
// is shared; an operation outside of the phase is an error at that operation.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_VERIFYPHASEPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static StringRef getName(Phase phase) {
  switch (phase) {
  case Phase::Graph:
    return "graph";
  case Phase::Fused:
    return "fused";
  case Phase::Scheduled:
    return "scheduled";
  case Phase::Kernels:
    return "kernels";
  }
  return "";
}

static LogicalResult refuse(Operation *op, Phase phase, StringRef expected) {
  return op->emitOpError() << "is not legal in phase '" << getName(phase)
                           << "' here: expected " << expected;
}

/// What surrounds kernels: views, placements, routines, and the arithmetic of
/// extents.
static bool isGlue(Operation *op) {
  return isa<ViewOpInterface, PlacementOpInterface, RoutineOpInterface,
             tensor::DimOp, arith::ConstantOp, func::ReturnOp>(op);
}

/// Outside of kernels nothing is computed.
static bool combines(Operation *op) {
  auto insert = dyn_cast<InsertOp>(op);
  return insert && insert.getKind() != InsertKind::None;
}

static LogicalResult verifyInGraph(Operation *op) {
  if (isGlue(op) || isa<MetaOpInterface>(op))
    return success();
  // Leaves of a program: buffers and scalars.
  if (isa<BufferOp, ScalarOp>(op))
    return success();
  return refuse(op, Phase::Graph,
                "meta-operators, views, placements, routines, tensor.dim and "
                "constants");
}

/// An op of the body of a function whose kernels are not outlined.
static LogicalResult verifyInFused(Operation *op, Phase phase) {
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    if (phase == Phase::Scheduled)
      for (auto fused : kernel.getBody().front().getOps<FusedOp>())
        if (!fused.getSchedule())
          return refuse(fused, phase, "a schedule");
    return success();
  }
  if (isa<MetaOpInterface>(op))
    return refuse(op, phase, "it inside of a metaop.fused");
  if (combines(op))
    return refuse(op, phase, "the kind `none`, as metaop-simplify makes it");
  if (isGlue(op))
    return success();
  return refuse(op, phase,
                "kernels, views, placements, routines, tensor.dim and "
                "constants");
}

static LogicalResult verifyInCaller(Operation *op) {
  if (combines(op))
    return refuse(op, Phase::Kernels,
                  "the kind `none`, as metaop-simplify makes it");
  if (isGlue(op) || isa<func::CallOp>(op))
    return success();
  return refuse(op, Phase::Kernels,
                "calls, views, placements, routines, tensor.dim and constants");
}

static LogicalResult verifyKernelFunction(func::FuncOp func) {
  Block &body = func.getBody().front();
  for (Operation &op : body)
    if (!isa<KernelOp, func::ReturnOp>(op))
      return refuse(&op, Phase::Kernels, "one kernel and a return");
  if (!llvm::hasSingleElement(body.getOps<KernelOp>()))
    return refuse(func, Phase::Kernels, "one kernel in a private function");
  return success();
}

static LogicalResult verifyFunction(func::FuncOp func, Phase phase) {
  if (func.isExternal())
    return success();
  if (phase == Phase::Kernels && func.isPrivate())
    return verifyKernelFunction(func);
  for (Block &block : func.getBody())
    for (Operation &op : block) {
      LogicalResult result = phase == Phase::Graph ? verifyInGraph(&op)
                             : phase == Phase::Kernels
                                 ? verifyInCaller(&op)
                                 : verifyInFused(&op, phase);
      if (failed(result))
        return failure();
    }
  return success();
}

namespace {

struct VerifyPhase : metaop::impl::VerifyPhasePassBase<VerifyPhase> {
  using VerifyPhasePassBase::VerifyPhasePassBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(verifyFunction(func, phase)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
