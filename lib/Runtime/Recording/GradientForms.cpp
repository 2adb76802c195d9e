//===- GradientForms.cpp - Gradients that are made of nothing -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientForms.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace metaops;
namespace metaop = mlir::metaop;

bool GradientForms::isZeroByForm(const Node *node) const {
  auto isZeroOperand = [&](const Node *each) { return isZero(each); };
  if (node->isScalar)
    return node->scalar == 0;
  if (mlir::isa<metaop::ConstantOp>(node->op))
    return mlir::matchPattern(node->value(), mlir::m_AnyZeroFloat());
  if (mlir::isa<metaop::MulOp>(node->op))
    return llvm::any_of(node->operands, isZeroOperand);
  return graph.getInfo(node).isLinear && !node->operands.empty() &&
         llvm::all_of(node->operands, isZeroOperand);
}

bool GradientForms::isMadeOfAny(const Node *node, const Set &set) const {
  const SignatureInfo &info = graph.getInfo(node);
  if (info.numValues > 0)
    return set.contains(node->viewed());
  return llvm::any_of(
      llvm::enumerate(node->operands), [&](const auto &operand) {
        return set.contains(operand.value()) &&
               (info.isCustom || info.flows(node->number, operand.index()));
      });
}

/// Returns whether nobody knows which of several results of a function, which
/// have been computed, are made of what it was given.
bool GradientForms::isOfSome(const Node *node) const {
  const SignatureInfo &info = graph.getInfo(node);
  return info.isCustom && info.numValues == 0 && node->nextResult != node;
}

void GradientForms::add(const Node *node) {
  // Integers and conditions pass no gradients.
  if (!isFloat(node->dtype))
    return;
  if (isZeroByForm(node))
    zeros.insert(node);
  else if (isMadeOfAny(node, ofSeed))
    (isOfSome(node) ? static_cast<Set &>(unknown) : ofSeed).insert(node);
  else if ((node->buffer && node->operands.empty()) ||
           isMadeOfAny(node, unknown))
    unknown.insert(node);
}

GradientForms::GradientForms(Graph &graph, const MadeOfLoss &made)
    : graph(graph) {
  const Node *seed = made.seed.get();
  if (!seed)
    return;
  ofSeed.insert(seed);
  for (const NodeRef &ref : made.given)
    if (const Node *given = ref.get(); given && given->operands.empty())
      ofSeed.insert(given);
  for (mlir::Operation &op : llvm::make_range(
           std::next(mlir::Block::iterator(seed->op)), graph.getBlock().end()))
    for (const Node *node : resultsOf(graph.getNode(&op)))
      if (!isOfSeed(node))
        add(node);
}
