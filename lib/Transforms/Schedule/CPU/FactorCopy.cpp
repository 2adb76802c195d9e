//===- FactorCopy.cpp - Copies of a contraction's factors -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactorCopy.h"
#include "CollapsedTensor.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns the kernel's input that is read.
static Value getKernelInput(const Stage &stage, const StageRead &read) {
  FusedOp fused = stage.op;
  auto kernel = cast<KernelOp>(fused->getParentOp());
  Value inner =
      fused.getInputs()[cast<BlockArgument>(read.source).getArgNumber()];
  return kernel.getInputs()[cast<BlockArgument>(inner).getArgNumber()];
}

Value metaop::getInput(OpBuilder &b, const Stage &stage, const StageRead &read,
                       ArrayRef<int64_t> shape) {
  Value input = getKernelInput(stage, read);
  auto type = cast<RankedTensorType>(input.getType());
  if (type.getShape() == shape)
    return input;
  return ReshapeOp::create(b, FusedOp(stage.op).getLoc(), type.clone(shape),
                           input, ValueRange());
}

IndexAccess metaop::getAccess(const Stage &stage, const StageRead &read,
                              ArrayRef<AffineExpr> loops, unsigned numDims) {
  MLIRContext *ctx = stage.getContext();
  auto type = cast<RankedTensorType>(read.source.getType());
  CollapsedTensor tensor = CollapsedTensor::get(stage, read);
  auto rewrite = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr.replaceDims(loops), numDims, 0);
  };
  SmallVector<AffineExpr> checks(read.place.conditions);
  // In a collapsed dimension more is in range than was.
  if (tensor.shape.size() != type.getShape().size())
    checks.append(read.place.rangeChecks);
  IndexAccess access;
  access.map = AffineMap::get(
      numDims, 0, llvm::map_to_vector(tensor.indices, rewrite), ctx);
  if (!checks.empty())
    access.conditions =
        IntegerSet::get(numDims, 0, llvm::map_to_vector(checks, rewrite),
                        SmallVector<bool>(checks.size(), false));
  access.fill =
      read.fill ? read.fill : Builder(ctx).getZeroAttr(type.getElementType());
  return access;
}

/// Clones the expression of a factor over another space.
static Value cloneFactor(OpBuilder &b, const Stage &stage, Value value,
                         ArrayRef<int64_t> space,
                         llvm::function_ref<Value(const StageRead &)> read) {
  if (const StageRead *found = stage.findRead(value);
      found != stage.reads.end())
    return read(*found);
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, cloneFactor(b, stage, operand, space, read));
  auto type = RankedTensorType::get(space, getElementTypeOrSelf(value));
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    return ConstantOp::create(b, op->getLoc(), type, splat.resizeSplat(type));
  }
  Operation *copy = b.clone(*op, mapping);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

Operation *metaop::findLoopOfFactor(const Stage &stage,
                                    const Contraction::Factor &factor) {
  Operation *outermost = nullptr;
  for (Operation *parent = FusedOp(stage.op)->getParentOp()->getParentOp();
       auto loop = dyn_cast<LoopLikeOpInterface>(parent);
       parent = parent->getParentOp()) {
    if (llvm::any_of(factor.reads, [&](const StageRead *read) {
          return !isa<BlockArgument>(read->source) ||
                 !loop.isDefinedOutsideOfLoop(getKernelInput(stage, *read));
        }))
      break;
    outermost = loop;
  }
  return outermost;
}

KernelOp
metaop::buildCopy(OpBuilder &b, const Stage &stage,
                  const Contraction::Factor &factor, ArrayRef<int64_t> shape,
                  llvm::function_ref<IndexAccess(const StageRead &)> access) {
  OpBuilder::InsertionGuard guard(b);
  if (Operation *loop = findLoopOfFactor(stage, factor))
    b.setInsertionPoint(loop);
  SmallVector<Value> inputs;
  for (const StageRead *read : factor.reads)
    inputs.push_back(
        getInput(b, stage, *read, CollapsedTensor::get(stage, *read).shape));
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(factor.value));
  KernelOp copy = buildStageKernel(
      b, factor.reads.front()->value.getLoc(), type, inputs,
      [&](ValueRange arguments) {
        auto read = [&](const StageRead &read) -> Value {
          unsigned number =
              llvm::find(factor.reads, &read) - factor.reads.begin();
          return ReindexOp::create(
              b, read.value.getLoc(),
              RankedTensorType::get(shape, getElementTypeOrSelf(read.value)),
              arguments[number], access(read));
        };
        return SmallVector<Value>{
            cloneFactor(b, stage, factor.value, shape, read)};
      });
  inheritRewrites(cast<KernelOp>(FusedOp(stage.op)->getParentOp()), copy,
                  /*andForced=*/false);
  return copy;
}
