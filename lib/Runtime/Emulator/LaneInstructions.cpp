//===- LaneInstructions.cpp - Instructions between lanes ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions with ".sync" name the lanes that take part. They wait until all
// of these that have not exited are at such an instruction, with the same
// qualifiers and the same mask; it may stand elsewhere in the code. None but
// bar.warp.sync orders memory.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "Worker.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace metaops;
using namespace metaops::emulator;
namespace NVVM = mlir::NVVM;

static std::string hex(uint32_t mask) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format_hex(mask, 10);
  return text;
}

/// The mask of a lane that waits: the first operand.
static uint32_t getMask(const Warp &warp, unsigned lane) {
  return static_cast<uint32_t>(warp.threads[lane].values[0]);
}

std::string emulator::describeMask(const Warp &warp, unsigned lane) {
  return "for lanes " + hex(getMask(warp, lane));
}

/// Returns whether instructions at two sites are the same, with the same
/// qualifiers.
static bool areAlike(const Launch &launch, uint32_t a, uint32_t b) {
  const Site &x = launch.code.sites[a], &y = launch.code.sites[b];
  return x.instruction == y.instruction && x.kind == y.kind;
}

/// Calls f(lanes) with each group of those that meet, of which some have just
/// come to `number`, and wakes them. Lanes whose group is not complete go on
/// waiting.
template <typename F>
static void meet(Worker &worker, Warp &warp, uint32_t number, uint32_t lanes,
                 const F &f) {
  while (lanes) {
    unsigned first = __builtin_ctz(lanes);
    uint32_t mask = getMask(warp, first), here = 0;
    if (!(mask >> first & 1)) {
      worker.report(FaultKind::WrongMask, warp.threads[first], number,
                    "lane " + std::to_string(first) +
                        " is not among the lanes " + hex(mask));
      warp.threads[first].values[0] = 0;
      warp.waiting &= ~(uint32_t(1) << first);
      worker.exit(warp, uint32_t(1) << first);
      lanes &= lanes - 1;
      continue;
    }
    uint32_t needed = mask & warp.live;
    for (uint32_t rest = needed & warp.waiting; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      uint32_t other = warp.threads[lane].site;
      bool isSame = other == number || areAlike(worker.launch, other, number);
      here |= uint32_t(isSame && getMask(warp, lane) == mask) << lane;
    }
    lanes &= ~here;
    if (here != needed)
      continue;
    f(needed);
    warp.block->cluster->wake(warp, needed);
  }
}

template <typename F> static void forEachLane(uint32_t lanes, const F &f) {
  for (; lanes; lanes &= lanes - 1)
    f(static_cast<unsigned>(__builtin_ctz(lanes)));
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// The lane that `lane` takes its value from, and whether that is in range, by
/// the table of shfl.sync.
static std::pair<unsigned, bool> findSource(NVVM::ShflKind kind, unsigned lane,
                                            uint32_t b, uint32_t c) {
  int offset = b & 31, clamp = c & 31, segment = (c >> 8) & 31;
  int own = static_cast<int>(lane);
  int last = (own & segment) | (clamp & ~segment), first = own & segment;
  int source = 0;
  bool isInRange = false;
  switch (kind) {
  case NVVM::ShflKind::up:
    source = own - offset;
    isInRange = source >= last;
    break;
  case NVVM::ShflKind::down:
    source = own + offset;
    isInRange = source <= last;
    break;
  case NVVM::ShflKind::bfly:
    source = own ^ offset;
    isInRange = source <= last;
    break;
  case NVVM::ShflKind::idx:
    source = first | (offset & ~segment);
    isInRange = source <= last;
    break;
  }
  return {isInRange ? static_cast<unsigned>(source) : lane, isInRange};
}

void emulator::executeShuffle(Worker &worker, Warp &warp, uint32_t site,
                              uint32_t lanes) {
  auto kind = static_cast<NVVM::ShflKind>(worker.launch.code.sites[site].kind);
  meet(worker, warp, site, lanes, [&](uint32_t group) {
    uint64_t values[warpSize];
    forEachLane(group, [&](unsigned lane) {
      values[lane] = warp.threads[lane].values[1];
    });
    forEachLane(group, [&](unsigned lane) {
      Thread &thread = warp.threads[lane];
      auto [source, isInRange] =
          findSource(kind, lane, thread.values[2], thread.values[3]);
      if (!(group >> source & 1)) {
        worker.report(FaultKind::InactiveLane, thread, thread.site,
                      "takes the value of lane " + std::to_string(source) +
                          ", which takes no part");
        source = lane;
      }
      thread.values[0] = values[source];
      thread.values[1] = isInRange;
    });
  });
}

//===----------------------------------------------------------------------===//
// Votes, matches, reductions
//===----------------------------------------------------------------------===//

void emulator::executeVote(Worker &worker, Warp &warp, uint32_t site,
                           uint32_t lanes) {
  auto kind =
      static_cast<NVVM::VoteSyncKind>(worker.launch.code.sites[site].kind);
  meet(worker, warp, site, lanes, [&](uint32_t group) {
    uint32_t ballot = 0;
    forEachLane(group, [&](unsigned lane) {
      ballot |= uint32_t(warp.threads[lane].values[1] & 1) << lane;
    });
    uint32_t result = 0;
    switch (kind) {
    case NVVM::VoteSyncKind::any:
      result = ballot != 0;
      break;
    case NVVM::VoteSyncKind::all:
      result = ballot == group;
      break;
    case NVVM::VoteSyncKind::uni:
      result = ballot == group || ballot == 0;
      break;
    case NVVM::VoteSyncKind::ballot:
      result = ballot;
      break;
    }
    forEachLane(group,
                [&](unsigned lane) { warp.threads[lane].values[0] = result; });
  });
}

void emulator::executeMatch(Worker &worker, Warp &warp, uint32_t site,
                            uint32_t lanes) {
  auto kind =
      static_cast<NVVM::MatchSyncKind>(worker.launch.code.sites[site].kind);
  meet(worker, warp, site, lanes, [&](uint32_t group) {
    uint64_t values[warpSize];
    forEachLane(group, [&](unsigned lane) {
      values[lane] = warp.threads[lane].values[1];
    });
    forEachLane(group, [&](unsigned lane) {
      uint32_t equal = 0;
      forEachLane(group, [&](unsigned other) {
        equal |= uint32_t(values[other] == values[lane]) << other;
      });
      Thread &thread = warp.threads[lane];
      bool isAll = kind == NVVM::MatchSyncKind::all;
      thread.values[0] = isAll && equal != group ? 0 : equal;
      thread.values[1] = equal == group;
    });
  });
}

/// Combines two values of `redux`.
static uint32_t combine(const Site &site, uint32_t a, uint32_t b) {
  auto isLess = [&] {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b);
  };
  switch (static_cast<NVVM::ReduxKind>(site.kind)) {
  case NVVM::ReduxKind::ADD:
    return a + b;
  case NVVM::ReduxKind::AND:
    return a & b;
  case NVVM::ReduxKind::OR:
    return a | b;
  case NVVM::ReduxKind::XOR:
    return a ^ b;
  case NVVM::ReduxKind::UMAX:
    return std::max(a, b);
  case NVVM::ReduxKind::UMIN:
    return std::min(a, b);
  case NVVM::ReduxKind::MAX:
    return isLess() ? b : a;
  case NVVM::ReduxKind::MIN:
    return isLess() ? a : b;
  case NVVM::ReduxKind::FMIN:
  case NVVM::ReduxKind::FMAX: {
    auto x = llvm::bit_cast<float>(a), y = llvm::bit_cast<float>(b);
    if (site.keepsNans && (std::isnan(x) || std::isnan(y)))
      return 0x7FFFFFFF;
    bool isMin =
        static_cast<NVVM::ReduxKind>(site.kind) == NVVM::ReduxKind::FMIN;
    return llvm::bit_cast<uint32_t>(isMin ? std::fmin(x, y) : std::fmax(x, y));
  }
  }
  return a;
}

void emulator::executeRedux(Worker &worker, Warp &warp, uint32_t number,
                            uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  meet(worker, warp, number, lanes, [&](uint32_t group) {
    std::optional<uint32_t> result;
    forEachLane(group, [&](unsigned lane) {
      auto value = static_cast<uint32_t>(warp.threads[lane].values[1]);
      if (site.takesMagnitudes)
        value &= 0x7FFFFFFF;
      result = result ? combine(site, *result, value) : value;
    });
    forEachLane(group,
                [&](unsigned lane) { warp.threads[lane].values[0] = *result; });
  });
}

void emulator::executeElect(Worker &worker, Warp &warp, uint32_t site,
                            uint32_t lanes) {
  meet(worker, warp, site, lanes, [&](uint32_t group) {
    // Any lane, but always the same for the same mask.
    Random random(worker.launch.options.seed ^ group);
    uint32_t leader = random.below(__builtin_popcount(group));
    forEachLane(group, [&](unsigned lane) {
      warp.threads[lane].values[0] = leader-- == 0;
    });
  });
}

//===----------------------------------------------------------------------===//
// Barriers of a warp
//===----------------------------------------------------------------------===//

void emulator::executeWarpSync(Worker &worker, Warp &warp, uint32_t site,
                               uint32_t lanes) {
  meet(worker, warp, site, lanes, [&](uint32_t group) {
    ClockRef view;
    const ClockView *last = nullptr;
    forEachLane(group, [&](unsigned lane) {
      Thread &thread = warp.threads[lane];
      if (!view)
        view = new ClockView(*thread.view);
      else if (last != thread.view.get())
        view->join(*thread.view);
      last = thread.view.get();
    });
    tick(warp, group, *view);
    view->update();
    forEachLane(group, [&](unsigned lane) { warp.threads[lane].view = view; });
  });
}

/// The lanes that are at the same place when nobody else of the warp runs.
void emulator::executeActiveMask(Worker &, Warp &warp, uint32_t,
                                 uint32_t lanes) {
  forEachLane(lanes,
              [&](unsigned lane) { warp.threads[lane].values[0] = lanes; });
  warp.block->cluster->wake(warp, lanes);
}
