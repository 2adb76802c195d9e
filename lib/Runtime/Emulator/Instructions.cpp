//===- Instructions.cpp - Semantics of instructions -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine's half of the table of instructions, and what becomes of threads
// that end, sleep, or wait for grids.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "Worker.h"

using namespace metaops;
using namespace metaops::emulator;

void emulator::executeExit(Worker &worker, Warp &warp, uint32_t,
                           uint32_t lanes) {
  worker.exit(warp, lanes);
}

void emulator::executeTrap(Worker &worker, Warp &warp, uint32_t site,
                           uint32_t lanes) {
  worker.report(FaultKind::Trap, warp.threads[__builtin_ctz(lanes)], site,
                "the thread gives up");
  worker.exit(warp, lanes);
}

/// Lets others run, where a thread has run for long, or sleeps.
void emulator::executeYield(Worker &worker, Warp &warp, uint32_t,
                            uint32_t lanes) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    worker.idle();
  warp.block->cluster->wake(warp, lanes);
}

/// Ends the wait at once: one grid runs at a time, those before it are done.
void emulator::executeGridControl(Worker &worker, Warp &warp, uint32_t number,
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
#define WAITS_PART(name, access, strength, execute, waitsFor)                  \
  {name, AccessKind::access, Strength::strength, execute, waitsFor},
#define CALLS_PART(name, access, function) {name, AccessKind::access},
#define PART(name, access) {name, AccessKind::access},
#include "MetaOps/Conversion/EmulatedInstructions.def"
};

const Instruction *emulator::findInstruction(llvm::StringRef name) {
  const auto *row = llvm::find_if(
      rows, [&](const Instruction &row) { return row.name == name; });
  return row == std::end(rows) ? nullptr : row;
}
