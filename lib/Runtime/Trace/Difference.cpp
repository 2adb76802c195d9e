//===- Difference.cpp - Two recordings of one function --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that does the same each time it is called gives the same steps.
// Of two recordings the first step in which they differ is told.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Graph/Promotion.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace metaops;

namespace {
using Step = RecordedFunction::Step;

/// Compares the steps of two recordings one by one.
class Comparison {
public:
  Comparison(const Step &before, const Step &now) : before(before), now(now) {}

  /// Returns what differs; empty where nothing does.
  std::string run() const {
    if (before.kind != now.kind || nameOf(before) != nameOf(now))
      return tell(nameOf(before), nameOf(now));
    if (before.op && now.op) {
      if (before.op->getResultTypes() != now.op->getResultTypes())
        return nameOf(now) + " gives " +
               tell(typesOf(before.op), typesOf(now.op));
      if (before.signature != now.signature ||
          numbersOf(before.op) != numbersOf(now.op))
        return compareAttributes();
    }
    if (before.scalar != now.scalar && now.kind == Step::Kind::Operation)
      return "a number is " + tell(numberOf(before), numberOf(now));
    if (before.operands != now.operands || before.argument != now.argument ||
        before.isStopped != now.isStopped)
      return nameOf(now) + lineOf(now) + " is of other values than before";
    return "";
  }

  /// Returns the present step and its line.
  std::string describe() const { return nameOf(now) + lineOf(now); }

private:
  static std::string lineOf(const Step &step) {
    return step.op ? " at " + formatLine(step.op->getLoc()) : "";
  }

  static std::string nameOf(const Step &step) {
    switch (step.kind) {
    case Step::Kind::Operation:
      return formatName(step.op);
    case Step::Kind::RandomKey:
    case Step::Kind::RandomCounter:
      return "a random number";
    case Step::Kind::Update:
      return "an update";
    case Step::Kind::Assign:
      return "an assignment to a Var";
    case Step::Kind::Differentiate:
      return "a gradient";
    }
    llvm_unreachable("a kind of step");
  }

  /// Returns the extents, those of what is in regions, too, and other numbers.
  static std::vector<int64_t> numbersOf(Operation *op) {
    std::vector<int64_t> numbers;
    appendNumbers(op, numbers);
    return numbers;
  }

  static std::string typesOf(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(op->getResultTypes(), os);
    return text;
  }

  static std::string numberOf(const Step &step) {
    return Number::decode(step.scalar, elementTypeOf(step)).str();
  }

  static DType elementTypeOf(const Step &step) {
    Type type = step.op->getResult(0).getType();
    return *fromElementType(cast<RankedTensorType>(type).getElementType());
  }

  std::string compareAttributes() const {
    for (NamedAttribute attribute : now.op->getAttrs())
      if (Attribute former = before.op->getAttr(attribute.getName());
          former != attribute.getValue())
        return attribute.getName().str() + " of " + nameOf(now) + " is " +
               tell(print(former), print(attribute.getValue()));
    return nameOf(now) + lineOf(now) + " differs from " + nameOf(before) +
           lineOf(before);
  }

  static std::string print(Attribute attribute) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (attribute)
      attribute.print(os, /*elideType=*/true);
    return text;
  }

  std::string tell(const std::string &former,
                   const std::string &present) const {
    return former + lineOf(before) + ", then " + present + lineOf(now);
  }

  const Step &before, &now;
};
} // namespace

/// Returns whether two arrays have the same bytes.
static bool areEqual(const Var &x, const Var &y) {
  if (x.getType() != y.getType())
    return false;
  size_t size = getNumBytes(x.shape(), x.dtype());
  std::vector<char> bytes(size), others(size);
  x.getNode()->buffer->read(bytes.data(), size);
  y.getNode()->buffer->read(others.data(), size);
  return bytes == others;
}

std::string
RecordedFunction::findDifference(const RecordedFunction &other) const {
  for (auto [before, now] : llvm::zip(steps, other.steps))
    if (std::string found = Comparison(before, now).run(); !found.empty())
      return found;
  if (steps.size() != other.steps.size()) {
    bool areMore = other.steps.size() > steps.size();
    const Step &extra =
        areMore ? other.steps[steps.size()] : steps[other.steps.size()];
    return (areMore ? "there is also " : "there is no more ") +
           Comparison(extra, extra).describe();
  }
  if (types != other.types || constants.size() != other.constants.size())
    return "other Vars or arrays are read";
  for (auto [before, now] : llvm::zip_equal(constants, other.constants))
    if (!areEqual(before, now))
      return "an array of shape " + formatShape(now.shape()) +
             " that the function makes has other elements";
  if (results != other.results || rebound != other.rebound)
    return "other values are returned";
  return "";
}
