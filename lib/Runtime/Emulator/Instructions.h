//===- Instructions.h - What instructions do --------------------*- C++ -*-===//
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

/// What an instruction does to memory.
enum class AccessKind : uint8_t {
  None,
  Read,
  Write,
  /// A write that is not done before its thread waits for it.
  LaterWrite,
  /// A read and a write in one step.
  Update
};

/// The semantics of one instruction.
struct Instruction {
  llvm::StringLiteral name;
  AccessKind access = AccessKind::None;
  /// Whether other threads may access the same memory at the same time.
  bool isStrong = false;
  /// Goes on with `lanes` of a warp, which have come to `site`: wakes them, or
  /// others too, or enters them in the books of what they wait for, or leaves
  /// them until other lanes of the warp come or exit. Null for what the code
  /// calls directly.
  void (*execute)(Worker &worker, Warp &warp, uint32_t site,
                  uint32_t lanes) = nullptr;
  /// What a lane waits for, in words.
  std::string (*describe)(const Warp &warp, unsigned lane) = nullptr;
};

/// The instruction of a name, or null.
const Instruction *findInstruction(llvm::StringRef name);

/// Writes the clocks of lanes, which meet, into what they know then, and has
/// them tick. They have one view behind it.
void tick(Warp &warp, uint32_t lanes, ClockView &view);

/// The lanes of a warp that wait at `site` and are in no books yet.
uint32_t findLanesAt(const Warp &warp, uint32_t site);

// Between lanes: LaneInstructions.cpp.
void executeShuffle(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeVote(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeMatch(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeRedux(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeElect(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeWarpSync(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeActiveMask(Worker &, Warp &, uint32_t site, uint32_t lanes);
std::string describeMask(const Warp &warp, unsigned lane);

// Between warps and blocks: Barriers.cpp.
void executeBarrier(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeBarrierArrive(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeClusterArrive(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeClusterWait(Worker &, Warp &, uint32_t site, uint32_t lanes);
std::string describeBarrier(const Warp &warp, unsigned lane);
std::string describeCluster(const Warp &warp, unsigned lane);
/// Completes the barriers that waited for no other threads than `warp`'s, some
/// of which have exited.
void reconsiderBarriers(Worker &, Warp &warp);

// Memory that threads meet in: Atomics.cpp.
void executeAtomic(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeCompareExchange(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeStrongLoad(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeStrongStore(Worker &, Warp &, uint32_t site, uint32_t lanes);
void executeFence(Worker &, Warp &, uint32_t site, uint32_t lanes);

// Asynchronous copies: Copies.cpp.
void executeCopyWait(Worker &, Warp &, uint32_t site, uint32_t lanes);
/// Does the copies of a thread that are in flight, but for those of its last
/// groups.
void finishCopies(Worker &, Thread &thread, uint32_t groupsLeft);

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_INSTRUCTIONS_H
