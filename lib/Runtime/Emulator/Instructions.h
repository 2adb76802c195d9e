//===- Instructions.h - Semantics of instructions ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_INSTRUCTIONS_H
#define METAOPS_LIB_RUNTIME_EMULATOR_INSTRUCTIONS_H

#include "Cluster.h"

namespace metaops::emulator {

/// The effect of an instruction on memory.
enum class AccessKind : uint8_t {
  None,
  Read,
  Write,
  /// A write that is not done before its thread waits for it.
  LaterWrite,
  /// A read and a write in one step.
  Update
};

/// Strong accesses may be made by other threads at the same time.
enum class Strength : uint8_t { Weak, Strong };

/// The semantics of one instruction.
struct Instruction {
  llvm::StringLiteral name;
  AccessKind access = AccessKind::None;
  Strength strength = Strength::Weak;
  /// Goes on with `lanes` of a warp, which have come to `site`: wakes them, or
  /// others too, or enters them in the books of what they wait for, or leaves
  /// them until other lanes of the warp come or exit. Null for what the code
  /// calls directly.
  void (*execute)(Worker &worker, Warp &warp, uint32_t site,
                  uint32_t lanes) = nullptr;
  /// Says what a lane waits for, in words.
  std::string (*describe)(const Warp &warp, unsigned lane) = nullptr;

  bool isStrong() const { return strength == Strength::Strong; }
};

/// Returns the instruction of a name, or null.
const Instruction *findInstruction(llvm::StringRef name);

/// Writes the clocks of lanes, which meet, into what they know then, and has
/// them tick. They have one view behind it.
void tick(Warp &warp, uint32_t lanes, ClockView &view);

/// Returns the lanes of a warp that wait at `site` and are in no books yet.
uint32_t findLanesAt(const Warp &warp, uint32_t site);

// The functions of the table.
#define WAITS_PART(name, access, strength, execute, waitsFor)                  \
  void execute(Worker &, Warp &, uint32_t site, uint32_t lanes);
#include "MetaOps/Conversion/EmulatedInstructions.def"
std::string describeMask(const Warp &warp, unsigned lane);
std::string describeBarrier(const Warp &warp, unsigned lane);
std::string describeCluster(const Warp &warp, unsigned lane);

/// Completes the barriers that waited for no other threads than `warp`'s, some
/// of which have exited.
void reconsiderBarriers(Worker &, Warp &warp);

/// Does the copies of a thread that are in flight, but for those of its last
/// groups.
void finishCopies(Worker &, Thread &thread, uint32_t groupsLeft);

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_INSTRUCTIONS_H
