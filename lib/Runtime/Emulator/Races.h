//===- Races.h - Accesses that nothing orders -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_RACES_H
#define METAOPS_LIB_RUNTIME_EMULATOR_RACES_H

#include "Instructions.h"

namespace metaops::emulator {

/// Checks the accesses that lanes of a warp make at one site against all that
/// came before, and writes them down.
class RaceCheck {
public:
  RaceCheck(Worker &worker, Warp &warp, uint32_t site);

  /// Lanes access one address, as it is logged.
  void access(uint32_t lanes, uint64_t address);
  /// Each of some lanes accesses an address that is `stride` bytes behind that
  /// of the one before; all do so in one allocation or block. 0 for one
  /// address.
  void accessNeighbours(uint32_t lanes, uint64_t address, uint32_t stride);
  /// Notes that what an asynchronous copy has written is there.
  void finishCopy(unsigned lane, uint64_t address);

private:
  void checkAllocation(TrackedAllocation &tracked, uint32_t lanes,
                       uint64_t address, uint64_t bytes);
  void checkCells(Shadow &shadow, uint32_t lanes, uint64_t offset,
                  uint64_t address);
  void checkRemote(Block &block, unsigned lane, uint64_t address);
  void checkCell(Cell &cell, EpochSets &sets, uint32_t lanes, uint64_t address);
  void checkOther(const Epoch &epoch, uint32_t lanes, uint64_t address);
  void checkAgainst(const Epoch &epoch, uint32_t lanes, uint64_t address);
  void addOther(Cell &cell, EpochSets &sets, const Epoch &epoch);
  bool replaces(Epoch &known, const Epoch &epoch) const;
  void leaveToOthers(Cell &cell, EpochSets &sets);

  bool isHere(const Epoch &epoch) const;
  bool isStrong(const Epoch &epoch) const {
    return launch.code.sites[epoch.site].instruction->isStrong();
  }
  AccessKind getKind(const Epoch &epoch) const {
    return launch.code.sites[epoch.site].instruction->access;
  }
  bool knows(const ClockView &view, const Epoch &epoch, uint32_t others) const;
  bool isOrdered(const Epoch &epoch, uint32_t lanes, unsigned &lane) const;
  bool mayMeet(const Epoch &epoch) const;
  void report(FaultKind kind, const Epoch &epoch, unsigned lane,
              uint64_t address, const std::string &relation);
  std::string describe(const Epoch &epoch) const;

  Worker &worker;
  Launch &launch;
  Warp &warp;
  Cluster &cluster;
  uint32_t number;
  const Site &site;
  bool isWrite, isRead, isCopy, isShared = false;
};

/// Returns whether other blocks' accesses of each block's shared memory come
/// before its end, when all blocks of a cluster have ended.
void checkRemoteAccesses(Worker &worker, Cluster &cluster);

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_RACES_H
