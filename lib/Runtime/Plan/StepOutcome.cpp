//===- StepOutcome.cpp - Whether a step has been taken --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Plan/StepOutcome.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace metaops;

static size_t countFailures(const CountedNumbers &group) {
  return llvm::count_if(group.earlier, [](const StepOutcomeRef &outcome) {
    return outcome->failed();
  });
}

bool StepOutcome::isBehindFailures() const {
  return llvm::any_of(numbers, [](const CountedNumbers &group) {
    return countFailures(group) > 0;
  });
}

Number StepOutcome::getNumber(unsigned index) const {
  for (const CountedNumbers &group : numbers) {
    const std::vector<Number> &row = group.byFailures[countFailures(group)];
    if (index < row.size())
      return row[index];
    index -= row.size();
  }
  llvm_unreachable("the step has fewer numbers");
}

void StepOutcome::end(bool failed) {
  if (failed)
    hasFailed = true;
  if (--open > 0)
    return;
  // Each step would keep all that were begun before it.
  numbers.clear();
  places.clear();
}
