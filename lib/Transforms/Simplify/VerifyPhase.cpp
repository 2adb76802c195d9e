//===- VerifyPhase.cpp - What is legal between passes ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each phase is a predicate on one operation, given where it stands. The walk
// is shared, and goes through the blocks of branches and loops in all phases
// alike; an operation outside of the phase is an error at that operation.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Returns whether an operation may surround kernels: a view, a placement, a
/// routine, a check of numbers, or arithmetic of extents.
static bool isGlue(Operation *op) {
  return isa<ViewOpInterface, PlacementOpInterface, RoutineOpInterface,
             CheckRangeOp, tensor::DimOp, arith::ConstantOp, func::ReturnOp>(
      op);
}

/// Branches, loops, and what takes the numbers that decide in them out of
/// tensors and puts those that they count into tensors.
static bool isSteering(Operation *op) {
  return isa<scf::ExecuteRegionOp, scf::IfOp, scf::ForOp, scf::WhileOp, ScanOp,
             scf::YieldOp, scf::ConditionOp, ScanYieldOp, tensor::ExtractOp,
             tensor::FromElementsOp, arith::IndexCastOp>(op);
}

/// Verifies the types of the values that a branch or a loop gives to its
/// blocks, or has from them. A counter is no such value.
static LogicalResult verifyCarried(Operation *op, TypeRange types) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op->emitOpError("carries tensors of static shapes, given ")
             << type;
  }
  return success();
}

static LogicalResult verifyLoop(scf::ForOp op) {
  Type type = op.getInductionVar().getType();
  if (!type.isIndex() && !type.isInteger(64))
    return op.emitOpError("counts in index or i64, given ") << type;
  if (op.getUnsignedCmp())
    return op.emitOpError("counts in signed numbers, given `unsigned`");
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (step && *step <= 0)
    return op.emitOpError("counts up, given a step of ") << *step;
  return success();
}

static LogicalResult verifySteering(Operation *op) {
  if (isControlFlow(op)) {
    if (auto run = dyn_cast<scf::ExecuteRegionOp>(op);
        run && !run.getRegion().hasOneBlock())
      return op->emitOpError("has one block, given ")
             << run.getRegion().getBlocks().size();
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && failed(verifyLoop(loop)))
      return failure();
    // The second block of a `while` has what the first one gives.
    if (auto loop = dyn_cast<scf::WhileOp>(op);
        loop && failed(verifyCarried(op, loop.getInits().getTypes())))
      return failure();
    if (auto loop = dyn_cast<ScanOp>(op);
        loop && failed(verifyCarried(op, loop.getRows().getTypes())))
      return failure();
    return verifyCarried(op, op->getResultTypes());
  }
  if (isa<scf::YieldOp, scf::ConditionOp, ScanYieldOp>(op))
    return success();
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    if (isa<ShapedType>(cast.getType()))
      return op->emitOpError("converts numbers, given ") << cast.getType();
    return success();
  }
  Type type = isa<tensor::ExtractOp>(op) ? op->getOperand(0).getType()
                                         : op->getResult(0).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 0 ||
      !tensor.getElementType().isSignlessInteger())
    return op->emitOpError("is of 0-d tensors of integers or booleans, given ")
           << type;
  return success();
}

/// Outside of kernels nothing is computed.
static bool combines(Operation *op) {
  auto insert = dyn_cast<InsertOp>(op);
  return insert && insert.getKind() != Combiner::None;
}

static LogicalResult verifyInGraph(Operation *op) {
  if (isGlue(op) || isa<MetaOpInterface, NormOp, BarrierOp, CheckOp, TransferOp,
                        CustomDerivativeOp, CustomYieldOp>(op))
    return success();
  // Leaves of a program: buffers and scalars.
  if (isa<BufferOp, ScalarOp>(op))
    return success();
  return refuse(op, Phase::Graph,
                "meta-operators, views, placements, routines, checks, "
                "tensor.dim, constants, branches and loops");
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
  if (isa<CheckOp>(op))
    return refuse(op, phase, "what metaop-expand-checks makes of it");
  if (isGlue(op) || isa<BarrierOp>(op))
    return success();
  return refuse(op, phase,
                "kernels, views, barriers, placements, routines, checks of "
                "numbers, tensor.dim, constants, branches and loops");
}

static LogicalResult verifyInCaller(Operation *op) {
  if (combines(op))
    return refuse(op, Phase::Kernels,
                  "the kind `none`, as metaop-simplify makes it");
  if (isGlue(op) || isa<func::CallOp>(op))
    return success();
  return refuse(op, Phase::Kernels,
                "calls, views, placements, routines, checks of numbers, "
                "tensor.dim, constants, branches and loops");
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

static LogicalResult verifyInBlock(Operation *op, Phase phase) {
  if (isSteering(op))
    return verifySteering(op);
  switch (phase) {
  case Phase::Graph:
    return verifyInGraph(op);
  case Phase::Fused:
  case Phase::Scheduled:
    return verifyInFused(op, phase);
  case Phase::Kernels:
    return verifyInCaller(op);
  }
  llvm_unreachable("all phases are handled");
}

static LogicalResult verifyFunction(func::FuncOp func, Phase phase) {
  if (func.isExternal())
    return success();
  if (phase == Phase::Kernels && func.isPrivate())
    return verifyKernelFunction(func);
  return walkBlocks(func.getBody(), [&](Block &block) -> LogicalResult {
    for (Operation &op : block)
      if (failed(verifyInBlock(&op, phase)))
        return failure();
    return success();
  });
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
