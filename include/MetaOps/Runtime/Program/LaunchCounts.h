//===- LaunchCounts.h - What a kernel moved and executed --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_LAUNCHCOUNTS_H
#define METAOPS_RUNTIME_PROGRAM_LAUNCHCOUNTS_H

#include "MetaOps/Support/InstructionClass.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// Counts of the accesses of one operation, by requests of whole warps.
struct AccessCounts {
  std::string operation, location;
  bool isShared = false;
  uint64_t requests = 0;
  /// The bytes that lanes asked for, each once in a request.
  uint64_t bytes = 0;
  /// Of global memory, sectors of 32 bytes; of shared memory, the passes
  /// through its banks: those that there were, and the fewest for as many
  /// bytes.
  uint64_t moved = 0, least = 0;
};

/// The class in a word, as "float".
llvm::StringRef getName(InstructionClass kind);

/// Counts of what a launch moved and executed, where that can be counted: on
/// the emulator.
struct LaunchCounts {
  /// By operation, in the order of the code; those that were never executed are
  /// among them.
  std::vector<AccessCounts> accesses;
  /// Instructions of all threads, by class.
  std::array<uint64_t, static_cast<size_t>(InstructionClass::Count)>
      instructions = {};

  uint64_t operator[](InstructionClass kind) const {
    return instructions[static_cast<size_t>(kind)];
  }
  /// Adds what a further launch counted, of other code.
  void add(LaunchCounts other);
  /// The sums over the accesses of global memory, and of shared memory.
  AccessCounts getGlobal() const { return sum(/*isShared=*/false); }
  AccessCounts getShared() const { return sum(/*isShared=*/true); }
  /// Passes through the banks that conflicts cost.
  uint64_t getBankConflicts() const {
    AccessCounts shared = getShared();
    return shared.moved - shared.least;
  }

private:
  AccessCounts sum(bool isShared) const;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_LAUNCHCOUNTS_H
