//===- Producers.cpp - Facts on uses and extents of values ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Simplify/Producers.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::metaop;

bool metaop::isCheapGenerator(Operation *op) {
  auto meta = dyn_cast_or_null<MetaOpInterface>(op);
  return meta && meta.getMetaOpClass() == MetaOpClass::Generator &&
         llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
}

/// Returns whether this operand is the first one that is `source`; an op may
/// use its source as a symbol too.
static bool isFirstUseOf(OpOperand &use, Value source) {
  if (use.get() != source)
    return false;
  for (OpOperand &operand : use.getOwner()->getOpOperands())
    if (operand.get() == source)
      return operand.getOperandNumber() == use.getOperandNumber();
  return false;
}

bool metaop::isPointwiseUse(OpOperand &use) {
  auto meta = dyn_cast<MetaOpInterface>(use.getOwner());
  if (!meta)
    return false;
  if (meta.getMetaOpClass() == MetaOpClass::Elementwise ||
      meta.getMetaOpClass() == MetaOpClass::Prefix)
    return true;
  // Indices are read in place, and so is what a scatter reduces. What an op
  // uses both as a source and as indices is read at other places too.
  if (auto indirect = dyn_cast<IndirectOpInterface>(use.getOwner()))
    return meta.getMetaOpClass() == MetaOpClass::ReindexReduce ||
           use.get() != indirect.getSource();
  auto reduce = dyn_cast<ReindexReduceOpInterface>(use.getOwner());
  return reduce && isFirstUseOf(use, reduce.getSource());
}

bool metaop::isReindexSourceUse(OpOperand &use) {
  auto reindex = dyn_cast<ReindexOpInterface>(use.getOwner());
  return reindex && isFirstUseOf(use, reindex.getSource());
}

std::optional<int64_t> metaop::getElementPrice(ElementwiseOpInterface op) {
  switch (op.getElementWork()) {
  case ElementWork::Arithmetic:
    return 0;
  case ElementWork::Division:
    return 1;
  case ElementWork::Exponential:
  case ElementWork::Logarithm:
  case ElementWork::Tanh:
  case ElementWork::Erf:
    return 3;
  case ElementWork::Call:
    return std::nullopt;
  }
  llvm_unreachable("all kinds of work are handled");
}

SmallVector<Value> metaop::getExtentOperands(Operation *op) {
  return llvm::filter_to_vector(op->getOperands(), [](Value operand) {
    return operand.getType().isIndex();
  });
}

void metaop::populateMetaOpCanonicalizationPatterns(
    RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  // getRegisteredOperationsByDialect finds some only: its order is not strict.
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == MetaOpDialect::getDialectNamespace())
      name.getCanonicalizationPatterns(patterns, context);
}

void metaop::canonicalizeOps(Operation *root,
                             const FrozenRewritePatternSet &patterns) {
  SmallVector<Operation *> ops;
  bool hasControlFlow = false;
  root->walk([&](Operation *op) {
    // Whoever goes through the blocks of branches and loops finds them again.
    bool isTaken = !isControlFlow(op) && !op->hasTrait<OpTrait::IsTerminator>();
    hasControlFlow |= isControlFlow(op);
    if (op != root && isTaken)
      ops.push_back(op);
  });
  GreedyRewriteConfig config;
  // They would leave their blocks, and be read there from memory.
  config.enableConstantCSE(!hasControlFlow);
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  // Not reaching a fixed point leaves a correct program.
  (void)applyOpPatternsGreedily(ops, patterns, config);
}
