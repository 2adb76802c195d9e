//===- StepOutcome.h - Whether a step has been taken ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_STEPOUTCOME_H
#define METAOPS_RUNTIME_SESSION_STEPOUTCOME_H

#include <atomic>
#include <memory>

namespace metaops {

/// Tells whether updates that belong together have been made. A program that
/// fails makes none of its updates, which the caller may learn when it has gone
/// on: what it counts beside them, it then takes back. Safe for use from
/// several threads.
class StepOutcome {
public:
  /// Something that is yet to be done belongs to the step; or has ended.
  void begin() { ++open; }
  void end(bool failed) {
    if (failed)
      hasFailed = true;
    --open;
  }

  /// Returns whether it is known what has become of the step.
  bool isKnown() const { return open == 0; }
  /// Returns whether the step has not been taken.
  bool failed() const { return hasFailed; }

private:
  std::atomic<int> open = 0;
  std::atomic<bool> hasFailed = false;
};

using StepOutcomeRef = std::shared_ptr<StepOutcome>;

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_STEPOUTCOME_H
