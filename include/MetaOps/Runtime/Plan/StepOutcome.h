//===- StepOutcome.h - Whether a step has been taken ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PLAN_STEPOUTCOME_H
#define METAOPS_RUNTIME_PLAN_STEPOUTCOME_H

#include "MetaOps/Runtime/Graph/NodeRef.h"
#include "MetaOps/Runtime/Graph/Promotion.h"
#include "llvm/ADT/ArrayRef.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace metaops {

class StepOutcome;
using StepOutcomeRef = std::shared_ptr<StepOutcome>;

/// A number of a step in some type.
struct TypedNumber {
  unsigned index;
  DType type;
};

/// Numbers of a step that depend on how many of some earlier steps have been
/// taken: all of them, none of which may be known to when the step begins; or
/// fewer, as others have failed.
struct CountedNumbers {
  std::vector<StepOutcomeRef> earlier;
  /// By how many have failed: as many numbers each time.
  std::vector<std::vector<Number>> byFailures;
};

/// Tells whether updates that belong together have been made. A program that
/// fails makes none of its updates, which the caller may learn when it has gone
/// on: what it counts beside them, it then takes back. What has begun by then
/// finds other numbers here. Safe for use from several threads, but for what is
/// set before the step's run is put into a queue.
class StepOutcome {
public:
  /// The step's numbers, in groups one after another, if earlier steps may
  /// still fail.
  void setNumbers(std::vector<CountedNumbers> groups) {
    numbers = std::move(groups);
  }
  bool mayChangeNumbers() const { return !numbers.empty(); }
  /// Notes the recorded value that stands for a number.
  void setPlace(NodeRef scalar, TypedNumber number) {
    places.emplace_back(scalar, number);
  }
  llvm::ArrayRef<std::pair<NodeRef, TypedNumber>> getPlaces() const {
    return places;
  }
  /// Returns whether earlier steps have failed since the step began. Theirs are
  /// known when its run has its turn.
  bool isBehindFailures() const;
  /// The number by what has become of the earlier steps.
  Number getNumber(unsigned index) const;

  /// Something that is yet to be done belongs to the step; or has ended.
  void begin() { ++open; }
  void end(bool failed);

  /// Returns whether it is known what has become of the step.
  bool isKnown() const { return open == 0; }
  /// Returns whether the step has not been taken.
  bool failed() const { return hasFailed; }

private:
  std::atomic<int> open = 0;
  std::atomic<bool> hasFailed = false;
  std::vector<CountedNumbers> numbers;
  std::vector<std::pair<NodeRef, TypedNumber>> places;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PLAN_STEPOUTCOME_H
