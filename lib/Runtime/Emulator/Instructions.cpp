//===- Instructions.cpp - The table of semantics --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What becomes of threads that stop at an instruction, by the name that
// lib/Conversion/NVVMToEmulator/Instructions.cpp gives it.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "Worker.h"

using namespace metaops;
using namespace metaops::emulator;

static void executeExit(Worker &worker, Warp &warp, uint32_t, uint32_t lanes) {
  worker.exit(warp, lanes);
}

static void executeTrap(Worker &worker, Warp &warp, uint32_t site,
                        uint32_t lanes) {
  worker.report(FaultKind::Trap, warp.threads[__builtin_ctz(lanes)], site,
                "the thread gives up");
  worker.exit(warp, lanes);
}

/// A thread that has run for long, or sleeps, lets others run.
static void executeYield(Worker &worker, Warp &warp, uint32_t, uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    worker.idle();
  warp.block->cluster->wake(warp, lanes);
}

/// One grid runs at a time: those before it are done when it waits for them.
static void executeGridControl(Worker &worker, Warp &warp, uint32_t number,
                               uint32_t lanes) {
  bool waits = worker.launch.code.sites[number].kind == 0;
  for (uint32_t rest = waits ? lanes : 0; rest; rest &= rest - 1) {
    Thread &thread = warp.threads[__builtin_ctz(rest)];
    if (thread.view->gridsAreDone)
      continue;
    thread.view = new ClockView(*thread.view);
    thread.view->gridsAreDone = true;
    warp.isUniform = false;
  }
  warp.block->cluster->wake(warp, lanes);
}

static constexpr Instruction rows[] = {
    // Called by the code; only what they do to memory is of interest.
    {"load", AccessKind::Read},
    {"store", AccessKind::Write},
    {"copy", AccessKind::LaterWrite},
    {"copy_source", AccessKind::Read},
    {"local"},
    {"mapa"},
    {"permute"},
    {"copy_commit"},
    // Between the lanes of a warp.
    {"shuffle", AccessKind::None, false, executeShuffle, describeMask},
    {"vote", AccessKind::None, false, executeVote, describeMask},
    {"match", AccessKind::None, false, executeMatch, describeMask},
    {"redux", AccessKind::None, false, executeRedux, describeMask},
    {"elect", AccessKind::None, false, executeElect, describeMask},
    {"warp_sync", AccessKind::None, false, executeWarpSync, describeMask},
    {"active_mask", AccessKind::None, false, executeActiveMask},
    // Between warps and blocks.
    {"barrier", AccessKind::None, false, executeBarrier, describeBarrier},
    {"barrier_arrive", AccessKind::None, false, executeBarrierArrive},
    {"cluster_arrive", AccessKind::None, false, executeClusterArrive},
    {"cluster_wait", AccessKind::None, false, executeClusterWait,
     describeCluster},
    // Memory.
    {"fence", AccessKind::None, false, executeFence},
    {"atomic", AccessKind::Update, true, executeAtomic},
    {"compare_exchange", AccessKind::Update, true, executeCompareExchange},
    {"strong_load", AccessKind::Read, true, executeStrongLoad},
    {"strong_store", AccessKind::Write, true, executeStrongStore},
    {"copy_wait", AccessKind::None, false, executeCopyWait},
    // Threads and grids.
    {"grid_control", AccessKind::None, false, executeGridControl},
    {"exit", AccessKind::None, false, executeExit},
    {"trap", AccessKind::None, false, executeTrap},
    {"sleep", AccessKind::None, false, executeYield},
    {"loop", AccessKind::None, false, executeYield},
};

const Instruction *emulator::findInstruction(llvm::StringRef name) {
  const auto *row = llvm::find_if(
      rows, [&](const Instruction &row) { return row.name == name; });
  return row == std::end(rows) ? nullptr : row;
}
