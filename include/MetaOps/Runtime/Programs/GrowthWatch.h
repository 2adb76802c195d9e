//===- GrowthWatch.h - Which programs are growing ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_GROWTHWATCH_H
#define METAOPS_RUNTIME_PROGRAMS_GROWTHWATCH_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Graph/Slice.h"

#include <unordered_map>

namespace metaops {

/// Tells from the programs that were compiled before which extents of the next
/// one will be longer in those to come, and when a program has come to stay.
class GrowthWatch {
public:
  /// To be asked for each program that is to be compiled: the dimensions of its
  /// leaves that are growing.
  std::vector<GrowingDim> note(const Slice &slice);

  /// To be asked for each run of a growing program that was compiled before:
  /// whether it has run so often, and none of another length in between, that
  /// it deserves kernels of its own.
  bool hasSettled(const ProgramKey &key);

private:
  /// Programs of the same kinds of operators, and with leaves of the same types
  /// but for extents.
  struct Kind {
    std::vector<int64_t> extents;
    /// By how much the extents have grown to the last program.
    std::vector<int64_t> steps;
    std::vector<GrowingDim> growing;
  };
  /// Runs of one program in a row, among those of its skeleton.
  struct Row {
    std::vector<int64_t> numbers;
    unsigned runs = 0;
  };

  /// By hashes, which may collide: that costs kernels, or some of their speed.
  std::unordered_map<uint64_t, Kind> kinds;
  std::unordered_map<uint64_t, Row> rows;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_GROWTHWATCH_H
