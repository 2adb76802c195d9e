//===- Copies.cpp - Asynchronous copies -----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async copies 4, 8 or 16 bytes from global to shared memory while its
// thread goes on. Here, too, shared memory gets them when the thread waits for
// the group that they are of: who reads before sees what was there, and is
// reported.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "Races.h"
#include "Worker.h"

#include <cstring>

using namespace metaops;
using namespace metaops::emulator;

void emulator::finishCopies(Worker &worker, Thread &thread,
                            uint32_t groupsLeft) {
  auto isLeft = [&](const CopyInFlight &copy) {
    return copy.group + groupsLeft >= thread.copyGroup;
  };
  for (const CopyInFlight &copy : thread.copies) {
    if (isLeft(copy))
      continue;
    uint32_t bytes = worker.launch.code.sites[copy.site].bytes;
    std::memcpy(copy.destination, copy.source, copy.sourceBytes);
    std::memset(copy.destination + copy.sourceBytes, 0,
                bytes - copy.sourceBytes);
    RaceCheck(worker, *thread.warp, copy.site)
        .finishCopy(thread.lane, copy.address);
  }
  llvm::erase_if(thread.copies,
                 [&](const CopyInFlight &copy) { return !isLeft(copy); });
}

void emulator::executeCopyWait(Worker &worker, Warp &warp, uint32_t number,
                               uint32_t lanes) {
  auto groupsLeft =
      static_cast<uint32_t>(worker.launch.code.sites[number].kind);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    finishCopies(worker, warp.threads[__builtin_ctz(rest)], groupsLeft);
  warp.block->cluster->wake(warp, lanes);
}
