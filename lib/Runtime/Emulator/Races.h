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
  /// What an asynchronous copy has written is there.
  void finishCopy(unsigned lane, uint64_t address);

private:
  void accessShared(uint32_t lanes, uint64_t address);
  void accessGlobal(uint32_t lanes, uint64_t address);
  void checkRemote(Block &block, unsigned lane, uint64_t address);
  void checkCell(Cell &cell, EpochSets &sets, uint32_t lanes, uint64_t address);
  void checkReads(Cell &cell, EpochSets &sets, uint32_t lanes,
                  uint64_t address);
  void checkAgainst(const Epoch &epoch, uint32_t lanes, uint64_t address);
  void addRead(Cell &cell, EpochSets &sets, const Epoch &epoch);
  void addWrite(Cell &cell, EpochSets &sets, const Epoch &epoch);

  bool isHere(const Epoch &epoch) const;
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
  bool isWrite, isRead, isShared = false;
};

/// Whether other blocks' accesses of each block's shared memory come before its
/// end, when all blocks of a cluster have ended.
void checkRemoteAccesses(Worker &worker, Cluster &cluster);

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_RACES_H
