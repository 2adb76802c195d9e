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
// For other extents, numbers may differ where they count what is in tensors:
// extents, elements, elements that a reduction takes into one, these less or
// plus one, and a part of one of them. Any other number is one that the
// function has from elsewhere.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Graph/Promotion.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace metaops;

/// Returns whether types are the same, or have as many dimensions of the same
/// elements.
static bool areAlike(TypeRange types, TypeRange others, bool comparesExtents) {
  if (comparesExtents)
    return types == others;
  return llvm::equal(types, others, [](Type type, Type other) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto otherTensor = dyn_cast<RankedTensorType>(other);
    if (!tensor || !otherTensor)
      return type == other;
    return tensor.getRank() == otherTensor.getRank() &&
           tensor.getElementType() == otherTensor.getElementType();
  });
}

namespace {
using Step = RecordedFunction::Step;

/// The counts of what is in the tensors of a recording.
class Counts {
public:
  explicit Counts(const RecordedFunction &function) {
    for (const Step &step : function.getSteps()) {
      if (!step.op)
        continue;
      addExtents(step.op->getResultTypes());
      addExtents(step.op->getOperandTypes());
      for (Type operand : step.op->getOperandTypes())
        for (Type result : step.op->getResultTypes())
          if (int64_t count = countElements(result);
              count > 0 && countElements(operand) % count == 0)
            counts.insert(countElements(operand) / count);
    }
  }

  bool contains(int64_t number) const {
    return counts.contains(number) || counts.contains(number - 1) ||
           counts.contains(number + 1);
  }
  /// Returns whether a number is a count, or one divided by a count.
  bool contains(double number) const {
    return isCount(number) || isCount(1 / number);
  }

private:
  static int64_t countElements(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() ? tensor.getNumElements() : 0;
  }

  void addExtents(TypeRange types) {
    for (Type type : types) {
      counts.insert(countElements(type));
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        counts.insert_range(tensor.getShape());
    }
  }

  bool isCount(double number) const {
    // Reciprocals are rounded to the type of what they multiply.
    double nearest = std::round(number);
    return std::abs(number) < 1e15 &&
           std::abs(number - nearest) <= 1e-6 * std::abs(nearest) &&
           contains(static_cast<int64_t>(nearest));
  }

  llvm::DenseSet<int64_t> counts;
};

/// Compares the steps of two recordings one by one.
class Comparison {
public:
  Comparison(const Step &before, const Step &now) : before(before), now(now) {}
  /// Compares for other extents, with what both recordings count.
  Comparison(const Step &before, const Step &now, const Counts &countsBefore,
             const Counts &counts)
      : before(before), now(now), countsBefore(&countsBefore), counts(&counts) {
  }

  /// Returns what differs; empty where nothing does.
  std::string run() const {
    if (before.kind != now.kind || nameOf(before) != nameOf(now))
      return tell(nameOf(before), nameOf(now));
    if (before.op && now.op) {
      if (!areAlike(before.op->getResultTypes(), now.op->getResultTypes(),
                    !counts))
        return nameOf(now) + " gives " +
               tell(typesOf(before.op), typesOf(now.op));
      if (before.signature != now.signature ||
          !areAlikeNumbers(numbersOf(before.op), numbersOf(now.op)))
        return compareAttributes();
    }
    if (before.scalar != now.scalar && now.kind == Step::Kind::Operation &&
        !(counts && countsBefore->contains(decodeNumber(before).getDouble()) &&
          counts->contains(decodeNumber(now).getDouble())))
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

  static Number decodeNumber(const Step &step) {
    return Number::decode(step.scalar, elementTypeOf(step));
  }
  static std::string numberOf(const Step &step) {
    return decodeNumber(step).str();
  }

  bool areAlikeNumbers(llvm::ArrayRef<int64_t> former,
                       llvm::ArrayRef<int64_t> present) const {
    if (!counts)
      return former == present;
    return llvm::equal(former, present, [&](int64_t x, int64_t y) {
      return x == y || (countsBefore->contains(x) && counts->contains(y));
    });
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
  /// Null where extents are compared.
  const Counts *countsBefore = nullptr, *counts = nullptr;
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

std::string RecordedFunction::findDifference(const RecordedFunction &other,
                                             Extents extents) const {
  bool comparesExtents = extents == Extents::Compared;
  // Loops that are unrolled differ late.
  if (!comparesExtents && steps.size() != other.steps.size())
    return "there are more steps, or fewer";
  std::optional<Counts> counts, otherCounts;
  if (!comparesExtents) {
    counts.emplace(*this);
    otherCounts.emplace(other);
  }
  for (auto [before, now] : llvm::zip(steps, other.steps)) {
    std::string found = (counts ? Comparison(before, now, *counts, *otherCounts)
                                : Comparison(before, now))
                            .run();
    if (!found.empty())
      return found;
  }
  if (steps.size() != other.steps.size()) {
    bool areMore = other.steps.size() > steps.size();
    const Step &extra =
        areMore ? other.steps[steps.size()] : steps[other.steps.size()];
    return (areMore ? "there is also " : "there is no more ") +
           Comparison(extra, extra).describe();
  }
  if (!areAlike(llvm::to_vector_of<Type>(types),
                llvm::to_vector_of<Type>(other.types), comparesExtents) ||
      constants.size() != other.constants.size())
    return "other Vars or arrays are read";
  for (auto [before, now] : llvm::zip_equal(constants, other.constants))
    if (comparesExtents ? !areEqual(before, now)
                        : !areAlike(Type(before.getType()), Type(now.getType()),
                                    comparesExtents))
      return "an array of shape " + formatShape(now.shape()) +
             " that the function makes has other elements";
  if (results != other.results || rebound != other.rebound)
    return "other values are returned";
  return "";
}
