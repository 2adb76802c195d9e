//===- Tuning.h - Schedules that were measured ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_COMPILER_TUNING_H
#define METAOPS_RUNTIME_COMPILER_TUNING_H

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// Outcome of tuning for some kernels that fusion made and that end in the same
/// calls.
struct TunedKernels {
  /// Calls of the program.
  std::vector<unsigned> calls;
  /// Medians of a run of all of them, on made-up data. Both are 0 where the
  /// budget was over before they were measured.
  double secondsBefore = 0;
  double secondsAfter = 0;
  /// The schedules of the stages before, as lines of a file.
  std::vector<std::string> before;
  /// The lines that are better; none where nothing is.
  std::vector<std::string> lines;
  /// Candidates that were measured, and that could not be compiled.
  unsigned measured = 0;
  unsigned refused = 0;
};

struct TuningResult {
  /// In the order in which they were looked at: that of their times.
  std::vector<TunedKernels> kernels;
  /// Candidates that computed something else, and other errors of the compiler.
  std::vector<std::string> errors;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_COMPILER_TUNING_H
