//===- IndexExpression.cpp - Strings that name an element -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/IndexExpression/IndexExpression.h"
#include "Evaluator.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace metaops::indexexpression;

namespace metaops {

/// The longest text read. What people write has a few dozen characters; the
/// limit keeps work and stack small for all texts.
static constexpr size_t kMaxLength = 2048;
/// The beginning of a longer text that its error shows.
static constexpr size_t kShownLength = 40;

static SmallVector<Range> getIndexRanges(const IndexContext &context) {
  SmallVector<Range> ranges;
  for (int64_t extent : context.iterationShape) {
    bool isDynamic = mlir::ShapedType::isDynamic(extent);
    ranges.push_back(
        {0, isDynamic ? kMaxDynamicIndex : std::max<int64_t>(extent - 1, 0)});
  }
  // Computed indices may have either sign.
  ranges.resize(context.getNumDims(), {-kMaxDynamicIndex, kMaxDynamicIndex});
  return ranges;
}

/// Parses `text`, calls `use` with an evaluator and the root of the syntax
/// tree, and returns the failure if there is one.
static Error
evaluateText(StringRef kind, StringRef text, const IndexContext &context,
             function_ref<void(Evaluator &, NodeId, CaseBuilder &)> use) {
  if (text.size() > kMaxLength) {
    Source source(kind, text.take_front(kShownLength));
    source.fail(kShownLength,
                "the text goes on to " + Twine(text.size()) + " bytes",
                "at most " + Twine(kMaxLength) + " bytes");
    return source.takeError();
  }
  Source source(kind, text);
  if (std::optional<Syntax> syntax = parseSyntax(source, context)) {
    CaseBuilder builder(source, getIndexRanges(context), context);
    Evaluator evaluator(*syntax, builder);
    use(evaluator, syntax->root, builder);
  }
  return source.hasFailed() ? source.takeError() : Error::success();
}

Expected<mlir::AffineExpr> parseIndexExpression(StringRef text,
                                                const IndexContext &context) {
  mlir::AffineExpr result;
  Error error = evaluateText(
      "index expression", text, context,
      [&](Evaluator &evaluator, NodeId root, CaseBuilder &builder) {
        result = builder.toAffine(evaluator.evaluate(root));
      });
  if (error)
    return std::move(error);
  return result;
}

namespace {
/// Says a predicate in the form that callers use.
class ConditionWriter {
public:
  explicit ConditionWriter(const IndexContext &context) : context(context) {}

  ConditionResult write(const Predicate &predicate) const;

private:
  using Kind = ConditionTree::Kind;

  /// Adds `predicate`, neither true nor false, to the operands of an All or
  /// Any.
  void addTo(ConditionTree &parent, const Predicate &predicate) const;
  ConditionTree makeLeaf(Kind kind, const AffineValue &value) const;
  /// `value != 0`, in a convex form where zero is an end of the value's range.
  ConditionTree makeNonZero(const AffineValue &value) const;

  const IndexContext &context;
};
} // namespace

ConditionTree ConditionWriter::makeLeaf(Kind kind,
                                        const AffineValue &value) const {
  return {kind, simplify(value, context.getNumDims()), {}};
}

ConditionTree ConditionWriter::makeNonZero(const AffineValue &value) const {
  MaybeAffineValue positive;
  if (value.range.low == 0)
    positive = value;
  else if (value.range.high == 0)
    positive = scale(value, -1);
  if (positive)
    positive = add(*positive, AffineValue::makeConstant(-1, context.context));
  return positive ? makeLeaf(Kind::NonNegative, *positive)
                  : makeLeaf(Kind::NonZero, value);
}

void ConditionWriter::addTo(ConditionTree &parent,
                            const Predicate &predicate) const {
  switch (predicate.kind) {
  case Predicate::Kind::And:
  case Predicate::Kind::Or: {
    Kind kind = predicate.kind == Predicate::Kind::And ? Kind::All : Kind::Any;
    ConditionTree inner = {kind, {}, {}};
    ConditionTree &target = kind == parent.kind ? parent : inner;
    addTo(target, *predicate.left);
    addTo(target, *predicate.right);
    if (&target == &inner)
      parent.operands.push_back(std::move(inner));
    return;
  }
  case Predicate::Kind::Zero:
    parent.operands.push_back(makeLeaf(Kind::Zero, predicate.affine));
    return;
  case Predicate::Kind::NonZero:
    parent.operands.push_back(makeNonZero(predicate.affine));
    return;
  default:
    parent.operands.push_back(makeLeaf(Kind::NonNegative, predicate.affine));
  }
}

ConditionResult ConditionWriter::write(const Predicate &predicate) const {
  ConditionResult result;
  if (predicate.isTrue())
    return result;
  if (predicate.isFalse()) {
    result.constraints.push_back(
        {getAffineConstantExpr(-1, context.context), /*isEquality=*/false});
    return result;
  }
  ConditionTree all = {Kind::All, {}, {}};
  addTo(all, predicate);
  bool isConvex = all_of(all.operands, [](const ConditionTree &operand) {
    return operand.kind == Kind::NonNegative || operand.kind == Kind::Zero;
  });
  if (isConvex) {
    for (const ConditionTree &operand : all.operands)
      result.constraints.push_back({operand.expr, operand.kind == Kind::Zero});
  } else if (all.operands.size() == 1) {
    result.tree = std::move(all.operands.front());
  } else {
    result.tree = std::move(all);
  }
  return result;
}

Expected<ConditionResult> parseOverflowCondition(StringRef text,
                                                 const IndexContext &context) {
  ConditionResult result;
  Error error = evaluateText(
      "overflow condition", text, context,
      [&](Evaluator &evaluator, NodeId root, CaseBuilder &builder) {
        const Predicate *overflow = evaluator.evaluateTruth(root);
        if (const Predicate *inRange = builder.makeNot(overflow, /*offset=*/0))
          result = ConditionWriter(context).write(*inRange);
      });
  if (error)
    return std::move(error);
  return result;
}

void ConditionTree::print(raw_ostream &os) const {
  switch (kind) {
  case Kind::NonNegative:
    os << expr << " >= 0";
    return;
  case Kind::Zero:
    os << expr << " == 0";
    return;
  case Kind::NonZero:
    os << expr << " != 0";
    return;
  case Kind::All:
  case Kind::Any:
    os << '(';
    interleave(
        operands, os, [&](const ConditionTree &operand) { operand.print(os); },
        kind == Kind::All ? " and " : " or ");
    os << ')';
    return;
  }
}

} // namespace metaops
