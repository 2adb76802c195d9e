//===- EmulatorReport.h - What an emulated launch found ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_EMULATOR_EMULATORREPORT_H
#define METAOPS_RUNTIME_EMULATOR_EMULATORREPORT_H

#include "MetaOps/Runtime/Program/LaunchCounts.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// A number in each of three dimensions: of blocks, or of threads.
struct Extent3 {
  uint32_t x = 1, y = 1, z = 1;

  uint64_t count() const { return uint64_t(x) * y * z; }
  std::string str() const;
};

/// Deeds of a kernel that a GPU leaves undefined.
enum class FaultKind : uint8_t {
  /// An access outside of all allocations, or of all shared variables.
  OutOfBounds,
  /// An address that is no multiple of what the access asks for.
  Misaligned,
  /// A write to an allocation that is only read.
  ReadOnly,
  /// A read of shared or scratch memory that nobody has written.
  Uninitialised,
  /// Two accesses, one of them a write, that nothing orders.
  Race,
  /// An access of what an asynchronous copy is still to write.
  PendingCopy,
  /// A read through the cache of constant data of what the launch writes.
  StaleRead,
  /// An access of another block's shared memory before that is known to run, or
  /// when it may have ended.
  RemoteBlock,
  /// A read of what a grid before this one may still write.
  PendingGrid,
  /// A barrier that not all lanes of a warp come to.
  DivergentBarrier,
  /// A barrier with a wrong number or count, or out of turn.
  WrongBarrier,
  /// An instruction of lanes whose mask lacks its own lane.
  WrongMask,
  /// A value taken from a lane that takes no part.
  InactiveLane,
  /// An asynchronous copy of a wrong size.
  WrongCopy,
  /// Threads that wait for what cannot come.
  Deadlock,
  /// Threads that ask again and again for what does not come.
  Stall,
  /// A thread that gave up by itself.
  Trap
};

/// The kind in words, as "race".
llvm::StringRef getName(FaultKind kind);

/// One thing that a kernel did wrong, at its first occurrence.
struct Fault {
  FaultKind kind;
  std::string kernel;
  /// The operation, as "llvm.store", and where it comes from, as "model.py:12".
  std::string operation, location;
  /// The block, and the thread in it. Where a thread plays no part, as in a
  /// deadlock, the first of those concerned.
  Extent3 block, thread;
  /// The address, as "x + 1024 bytes"; empty where there is none.
  std::string address;
  /// The fault in words: what was there before, what was expected.
  std::string message;

  /// All of it in one line.
  std::string str() const;
};

/// Report of a launch that is over.
struct EmulatorReport {
  /// Faults in the order in which they were found, each pair of operations
  /// once. After a deadlock or a stall the launch was given up.
  std::vector<Fault> faults;
  LaunchCounts counts;

  bool isSound() const { return faults.empty(); }
  /// All faults, a line each.
  std::string str() const;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_EMULATOR_EMULATORREPORT_H
