//===- Evaluator.h - From syntax to values ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_EVALUATOR_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_EVALUATOR_H

#include "Cases.h"
#include "Syntax.h"

namespace metaops::indexexpression {

/// Evaluates a syntax tree over all iterations at once. As in C, the operand
/// that `?:`, `&&` or `||` never needs is not evaluated, once the ranges show
/// that. Null results mean that the builder's source has failed.
class Evaluator {
public:
  Evaluator(const Syntax &syntax, CaseBuilder &builder)
      : syntax(syntax), builder(builder), reads(syntax.reads.size()) {}

  const Value *evaluate(NodeId id);
  /// Returns whether the value of the node is other than zero.
  const Predicate *evaluateTruth(NodeId id);

private:
  const Predicate *evaluateComparison(const Node &node);
  const Predicate *evaluateEquality(const Node &node);
  const Predicate *evaluateLogic(const Node &node);
  const Predicate *evaluateConditionalTruth(const Node &node);
  const Value *evaluateConditional(const Node &node);
  /// A read of an extra, which is one computed index however often it is
  /// evaluated.
  const Value *evaluateRead(const Node &node);

  const Syntax &syntax;
  CaseBuilder &builder;
  /// Null before they are evaluated.
  std::vector<const Value *> reads;
};

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_EVALUATOR_H
