//===- Clocks.h - What threads know of each other ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_CLOCKS_H
#define METAOPS_LIB_RUNTIME_EMULATOR_CLOCKS_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace metaops::emulator {

constexpr unsigned warpSize = 32;

/// A vector clock: of each thread of a cluster, up to when its accesses come
/// before those of the view's owner. It does not change once threads share it.
/// A thread's own clock is not in its own view.
struct ClockView : llvm::RefCountedBase<ClockView> {
  explicit ClockView(unsigned warps)
      : clocks(warps * warpSize), floors(warps) {}

  /// By warp of the cluster and lane.
  std::vector<uint32_t> clocks;
  /// By warp, the least of its lanes.
  std::vector<uint32_t> floors;
  /// Views of other clusters, by their numbers.
  std::vector<std::pair<uint32_t, std::shared_ptr<const ClockView>>> foreign;
  /// True if grids before this one are known to be done.
  bool gridsAreDone = false;

  /// Returns whether what these lanes of a warp did until `clock` is known.
  bool covers(unsigned warp, uint32_t lanes, uint32_t clock) const;
  /// The same of a warp of another cluster.
  bool coversForeign(uint32_t cluster, unsigned warp, uint32_t lanes,
                     uint32_t clock) const;

  void set(unsigned warp, unsigned lane, uint32_t clock) {
    clocks[warp * warpSize + lane] = clock;
  }
  /// Adds what `other`, of the same cluster, knows.
  void join(const ClockView &other);
  /// Adds what was known in another cluster.
  void joinForeign(uint32_t cluster, const ClockView &other);
  /// Computes the floors anew.
  void update();
};

using ClockRef = llvm::IntrusiveRefCntPtr<ClockView>;

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_CLOCKS_H
