//===- Evaluator.cpp - From syntax to values ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

namespace metaops::indexexpression {

const Value *Evaluator::evaluate(NodeId id) {
  const Node &node = syntax.nodes[id];
  size_t offset = node.offset;
  auto operand = [&](unsigned i) { return evaluate(node.operands[i]); };
  switch (node.kind) {
  case Node::Kind::Constant:
    return builder.makeConstant(node.value, offset);
  case Node::Kind::Index:
    return builder.makeIndex(node.value, offset);
  case Node::Kind::Read:
    return evaluateRead(node);
  case Node::Kind::Negate:
    return builder.scale(operand(0), -1, offset);
  case Node::Kind::Add:
    return builder.add(operand(0), operand(1), offset);
  case Node::Kind::Subtract:
    return builder.subtract(operand(0), operand(1), offset);
  case Node::Kind::Multiply:
    return builder.multiply(operand(0), operand(1), offset);
  case Node::Kind::Divide:
    return builder.divide(operand(0), operand(1), offset);
  case Node::Kind::Remainder:
    return builder.remainder(operand(0), operand(1), offset);
  case Node::Kind::Min:
    return builder.minimum(operand(0), operand(1), offset);
  case Node::Kind::Max:
    return builder.maximum(operand(0), operand(1), offset);
  case Node::Kind::Abs: {
    const Value *value = operand(0);
    return builder.maximum(value, builder.scale(value, -1, offset), offset);
  }
  case Node::Kind::Conditional:
    return evaluateConditional(node);
  case Node::Kind::Not:
  case Node::Kind::Less:
  case Node::Kind::LessEqual:
  case Node::Kind::Greater:
  case Node::Kind::GreaterEqual:
  case Node::Kind::Equal:
  case Node::Kind::NotEqual:
  case Node::Kind::And:
  case Node::Kind::Or:
    return builder.select(evaluateTruth(id), builder.makeConstant(1, offset),
                          builder.makeConstant(0, offset), offset);
  }
  llvm_unreachable("all kinds of nodes are handled");
}

const Value *Evaluator::evaluateRead(const Node &node) {
  const Value *&value = reads[node.value];
  if (value)
    return value;
  const Syntax::Read &read = syntax.reads[node.value];
  llvm::SmallVector<const Value *> indices;
  for (NodeId index : read.indices)
    indices.push_back(evaluate(index));
  return value = builder.makeRead(read.extra, indices, read.offset);
}

const Value *Evaluator::evaluateConditional(const Node &node) {
  const Predicate *condition = evaluateTruth(node.operands[0]);
  if (!condition)
    return nullptr;
  if (condition->isTrue())
    return evaluate(node.operands[1]);
  if (condition->isFalse())
    return evaluate(node.operands[2]);
  return builder.select(condition, evaluate(node.operands[1]),
                        evaluate(node.operands[2]), node.offset);
}

const Predicate *Evaluator::evaluateTruth(NodeId id) {
  const Node &node = syntax.nodes[id];
  size_t offset = node.offset;
  switch (node.kind) {
  case Node::Kind::Not:
    return builder.makeNot(evaluateTruth(node.operands[0]), offset);
  case Node::Kind::And:
  case Node::Kind::Or:
    return evaluateLogic(node);
  case Node::Kind::Conditional:
    return evaluateConditionalTruth(node);
  case Node::Kind::Equal:
    return evaluateEquality(node);
  case Node::Kind::NotEqual:
    return builder.makeNot(evaluateEquality(node), offset);
  case Node::Kind::Less:
  case Node::Kind::LessEqual:
  case Node::Kind::Greater:
  case Node::Kind::GreaterEqual:
    return evaluateComparison(node);
  case Node::Kind::Remainder:
    return builder.makeNot(builder.isMultiple(evaluate(node.operands[0]),
                                              evaluate(node.operands[1]),
                                              offset),
                           offset);
  default:
    return builder.makeNot(builder.isZero(evaluate(id), offset), offset);
  }
}

const Predicate *Evaluator::evaluateLogic(const Node &node) {
  bool isAnd = node.kind == Node::Kind::And;
  const Predicate *left = evaluateTruth(node.operands[0]);
  if (!left || (isAnd ? left->isFalse() : left->isTrue()))
    return left;
  const Predicate *right = evaluateTruth(node.operands[1]);
  return isAnd ? builder.makeAnd(left, right, node.offset)
               : builder.makeOr(left, right, node.offset);
}

const Predicate *Evaluator::evaluateConditionalTruth(const Node &node) {
  const Predicate *condition = evaluateTruth(node.operands[0]);
  if (!condition)
    return nullptr;
  if (condition->isTrue())
    return evaluateTruth(node.operands[1]);
  if (condition->isFalse())
    return evaluateTruth(node.operands[2]);
  size_t offset = node.offset;
  const Predicate *ifTrue = evaluateTruth(node.operands[1]);
  const Predicate *ifFalse = evaluateTruth(node.operands[2]);
  return builder.makeOr(
      builder.makeAnd(condition, ifTrue, offset),
      builder.makeAnd(builder.makeNot(condition, offset), ifFalse, offset),
      offset);
}

const Predicate *Evaluator::evaluateComparison(const Node &node) {
  size_t offset = node.offset;
  const Value *left = evaluate(node.operands[0]);
  const Value *right = evaluate(node.operands[1]);
  bool isLess =
      node.kind == Node::Kind::Less || node.kind == Node::Kind::LessEqual;
  bool isStrict =
      node.kind == Node::Kind::Less || node.kind == Node::Kind::Greater;
  const Value *difference = isLess ? builder.subtract(right, left, offset)
                                   : builder.subtract(left, right, offset);
  if (isStrict)
    difference =
        builder.add(difference, builder.makeConstant(-1, offset), offset);
  return builder.isNonNegative(difference, offset);
}

/// Returns whether both operands are equal; of NotEqual too.
const Predicate *Evaluator::evaluateEquality(const Node &node) {
  // `a % c == 0` is common, and simpler than the value of `a % c`.
  for (unsigned i : {0, 1}) {
    const Node &operand = syntax.nodes[node.operands[i]];
    const Node &other = syntax.nodes[node.operands[1 - i]];
    if (operand.kind == Node::Kind::Remainder &&
        other.kind == Node::Kind::Constant && other.value == 0)
      return builder.isMultiple(evaluate(operand.operands[0]),
                                evaluate(operand.operands[1]), operand.offset);
  }
  const Value *left = evaluate(node.operands[0]);
  const Value *right = evaluate(node.operands[1]);
  return builder.isZero(builder.subtract(left, right, node.offset),
                        node.offset);
}

} // namespace metaops::indexexpression
