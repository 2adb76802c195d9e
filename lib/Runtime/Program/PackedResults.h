//===- PackedResults.h - What programs keep from run to run -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CPU_PACKEDRESULTS_H
#define METAOPS_LIB_RUNTIME_CPU_PACKEDRESULTS_H

#include "MetaOps/Runtime/Program/Program.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace metaops {

/// The results of a program that may be kept from run to run, by number. All
/// arguments of its runs are of one allocator, or of nobody's.
class PackedResults {
public:
  PackedResults() = default;
  PackedResults(const PackedResults &) = delete;
  PackedResults &operator=(const PackedResults &) = delete;
  ~PackedResults() { drop(/*isShort=*/false); }

  /// The next number is a result of so many bytes, of these arguments alone.
  void add(llvm::ArrayRef<unsigned> arguments, int64_t bytes) {
    results.emplace_back().arguments.assign(arguments.begin(), arguments.end());
    results.back().bytes = bytes;
  }
  unsigned size() const { return results.size(); }

  /// See Program::keepPacked and dropPacked.
  void choose(ProgramRun &run, Allocator &memory);
  void drop(bool isShort);

private:
  struct Result {
    llvm::SmallVector<unsigned, 2> arguments;
    int64_t bytes = 0;
    /// The contents of the arguments in the last run; none where they may
    /// change unnoticed.
    llvm::SmallVector<uint64_t, 2> seen;
    /// Of these contents.
    std::shared_ptr<PackedCopy> copy;
    /// There was no memory for a copy of these contents.
    bool isRefused = false;
  };

  PackedUse use(Result &result, const ProgramRun &run, Allocator &memory);
  PackedUse plan(const Result &result, bool isSeen, Allocator &model) const;

  std::vector<Result> results;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CPU_PACKEDRESULTS_H
