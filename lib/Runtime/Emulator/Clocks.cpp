//===- Clocks.cpp - What threads know of each other -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread has a clock, which ticks where others may learn of it. A thread's
// view has, of each other one, the last tick that came before. An access is
// marked with its thread's clock; it comes before what another thread does now
// if that thread's view is at least as late.
//
// Threads that leave a barrier know the same, and share one view. Views are of
// a cluster; between clusters little is known, and that is a list.
//
//===----------------------------------------------------------------------===//

#include "Clocks.h"

#include <algorithm>

using namespace metaops::emulator;

bool ClockView::covers(unsigned warp, uint32_t lanes, uint32_t clock) const {
  if (floors[warp] >= clock)
    return true;
  const uint32_t *known = clocks.data() + warp * warpSize;
  for (; lanes; lanes &= lanes - 1)
    if (known[__builtin_ctz(lanes)] < clock)
      return false;
  return true;
}

bool ClockView::coversForeign(uint32_t cluster, unsigned warp, uint32_t lanes,
                              uint32_t clock) const {
  for (const auto &[number, view] : foreign)
    if (number == cluster)
      return view->covers(warp, lanes, clock);
  return false;
}

static void takeLatest(std::vector<uint32_t> &mine,
                       const std::vector<uint32_t> &others) {
  for (size_t i = 0; i < mine.size(); ++i)
    mine[i] = std::max(mine[i], others[i]);
}

void ClockView::join(const ClockView &other) {
  takeLatest(clocks, other.clocks);
  gridsAreDone |= other.gridsAreDone;
  for (const auto &[cluster, view] : other.foreign)
    joinForeign(cluster, *view);
}

void ClockView::joinForeign(uint32_t cluster, const ClockView &other) {
  auto known = std::find_if(foreign.begin(), foreign.end(), [&](auto &entry) {
    return entry.first == cluster;
  });
  auto merged = std::make_shared<ClockView>(other);
  merged->foreign.clear();
  if (known == foreign.end()) {
    foreign.emplace_back(cluster, std::move(merged));
    return;
  }
  takeLatest(merged->clocks, known->second->clocks);
  merged->update();
  known->second = std::move(merged);
}

void ClockView::update() {
  for (size_t warp = 0; warp < floors.size(); ++warp) {
    auto lanes = clocks.begin() + warp * warpSize;
    floors[warp] = *std::min_element(lanes, lanes + warpSize);
  }
}
