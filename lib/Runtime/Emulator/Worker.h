//===- Worker.h - A host's thread that runs blocks --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_WORKER_H
#define METAOPS_LIB_RUNTIME_EMULATOR_WORKER_H

#include "Cluster.h"

#include <memory>
#include <optional>

namespace metaops::emulator {

/// Place of an access.
struct Place {
  uint8_t *host;
  /// The address as it is logged.
  uint64_t address;
};

/// Sums over the accesses at one site.
struct AccessTotals {
  uint64_t requests = 0, bytes = 0, moved = 0, least = 0;
};

/// Range in which the last access at a site was sound: others in the same
/// variable or allocation are, too. By itself, no address is in it.
struct KnownRange {
  uint64_t begin = 1;
  /// The last address, less the first; and the bits that are 0 in all of them.
  uint64_t span = 0;
  uint64_t alignmentMask = ~uint64_t(0);
  bool isShared = false;
};

/// Runs clusters of a launch, some of them by turns. What the rows of the table
/// of instructions need is public.
class Worker {
public:
  Worker(Launch &launch, unsigned number);

  /// Runs clusters until there is none left, or the launch is given up.
  void run();

  /// Checks the bounds and the alignment of an access at a generic, global or
  /// shared address. Reports what is wrong, and returns nothing then.
  std::optional<Place> resolve(Thread &thread, uint32_t site, uint64_t address);
  /// The same for an access that the code makes by itself when it has this
  /// address; writes it down.
  void *access(Thread &thread, uint32_t site, uint64_t address) {
    const KnownRange &range = ranges[site];
    if (address - range.begin > range.span || (address & range.alignmentMask))
      return accessAnywhere(thread, site, address);
    if (!range.isShared) {
      log(thread, site, address);
      return reinterpret_cast<void *>(address);
    }
    const Block &block = *thread.warp->block;
    uint64_t rank = block.rank + 1;
    log(thread, site, sharedWindow | rank << clusterRankShift | address);
    return block.shared + address;
  }
  /// Writes down an access, to be checked at the end of the turn.
  void log(Thread &thread, uint32_t site, uint64_t address) {
    thread.warp->log.add(thread.lane, thread.accesses++, site, address);
  }
  /// Memory that belongs to nobody, for accesses that are not to be made.
  void *getDump();

  /// Counts and checks an access of several lanes, at the addresses that they
  /// log.
  void request(Warp &warp, uint32_t site, uint32_t lanes,
               const uint64_t *addresses);

  /// Ends threads.
  void exit(Warp &warp, uint32_t lanes);

  /// Something has changed that others may have waited for.
  void progress() {
    idleTurns = 0;
    if (launch.isShared())
      ++launch.changes;
  }
  /// A lane has asked in vain.
  void idle() { ++idleTurns; }

  void report(FaultKind kind, const Thread &thread, uint32_t site,
              uint64_t address, const std::string &message,
              uint32_t otherSite = ~uint32_t(0));
  void report(FaultKind kind, const Thread &thread, uint32_t site,
              const std::string &message);

  Launch &launch;
  Random random;
  std::vector<AccessTotals> totals;
  std::vector<KnownRange> ranges;
  std::vector<uint64_t> executions;

private:
  bool startCluster();
  void finishCluster(size_t index);
  void runWarp(Warp &warp);
  /// Goes on with lanes that have stopped.
  void dispatch(Warp &warp, uint32_t lanes);
  void checkLog(Warp &warp);
  /// Checks and counts the accesses from where lanes differ.
  void checkUneven(Warp &warp);
  void *accessAnywhere(Thread &thread, uint32_t site, uint64_t address);
  void checkAddresses(Warp &warp, uint32_t site, uint32_t lanes,
                      const uint64_t *addresses, int64_t stride);
  Cluster *chooseCluster();
  bool isStalled();
  void reportDeadlock();
  void reportStall();
  std::string describeAddress(const Thread &thread, uint64_t address) const;

  std::vector<std::unique_ptr<Cluster>> residents, spare;
  uint32_t wantedResidents;
  uint64_t idleTurns = 0, seenChanges = 0;
  /// Allocations in which addresses of global memory were found last, by site.
  std::vector<unsigned> guesses;
  /// For reads of what is not there.
  std::unique_ptr<std::max_align_t[]> dump;

  friend class RaceCheck;
};

/// Returns the distance of the addresses of neighbouring lanes, if it is the
/// same for all, and the lanes have no gap; else -1. Requests.cpp.
int64_t getStride(uint32_t lanes, const uint64_t *addresses);

/// Counts what a request moves.
void countRequest(AccessTotals &totals, const Site &site, uint32_t lanes,
                  const uint64_t *addresses, int64_t stride);

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_WORKER_H
