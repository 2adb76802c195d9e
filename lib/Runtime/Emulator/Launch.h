//===- Launch.h - One launch of a kernel ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATOR_LAUNCH_H
#define METAOPS_LIB_RUNTIME_EMULATOR_LAUNCH_H

#include "GlobalMemory.h"
#include "KernelCode.h"

#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

namespace metaops::emulator {

/// Numbers drawn from a seed (SplitMix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// A number below `bound`.
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(((next() >> 32) * bound) >> 32);
  }

private:
  uint64_t state;
};

/// Which thread of a launch.
struct ThreadPlace {
  uint32_t cluster = 0;
  /// The warp in the cluster, and its lane.
  uint32_t warp = 0, lane = 0;
};

/// The faults that the threads of the host find.
class FaultList {
public:
  explicit FaultList(unsigned limit) : limit(limit) {}

  /// Returns whether a fault of this kind at these two places has not been seen
  /// yet; it counts as seen then.
  bool isNew(FaultKind kind, uint32_t site, uint32_t otherSite);
  void add(Fault fault);
  std::vector<Fault> take() { return std::move(faults); }

private:
  unsigned limit;
  std::mutex lock;
  std::set<std::tuple<FaultKind, uint32_t, uint32_t>> seen;
  std::vector<Fault> faults;
};

/// Things that all blocks of a launch have in common.
struct Launch {
  Launch(const KernelCode &code, const LaunchShape &shape,
         llvm::ArrayRef<KernelArgument> arguments,
         llvm::ArrayRef<Allocation> allocations,
         const EmulatorOptions &options);

  const KernelCode &code;
  LaunchShape shape;
  EmulatorOptions options;
  std::vector<uint64_t> arguments;

  unsigned threadsOfBlock, warpsOfBlock, blocksOfCluster, warpsOfCluster;
  uint32_t clusters;
  /// The bytes that the shared variables of a block span, and that they hold.
  uint32_t sharedSpan, sharedBytes;
  /// The sizes of the kernel's smallest accesses of both memories.
  unsigned globalGranule, sharedGranule;

  GlobalMemory memory;
  FaultList faults;
  std::atomic<uint32_t> nextCluster{0};
  std::atomic<bool> isGivenUp{false};
  /// Counts what threads of the host did that others' blocks may wait for.
  std::atomic<uint64_t> changes{0};

  uint32_t getBytes(const SharedVariable &variable) const {
    return variable.bytes.value_or(shape.dynamicSharedBytes);
  }
  /// Which cluster is the n-th to start.
  uint32_t getCluster(uint32_t n) const {
    return static_cast<uint32_t>((uint64_t(n) * stride + offset) % clusters);
  }
  /// The coordinates of a block in the grid.
  Extent3 getBlock(uint32_t cluster, uint32_t rank) const;
  /// "thread (1, 0, 0) of block (3, 0, 0)", and both by themselves.
  std::string describe(const ThreadPlace &place) const;
  Extent3 getBlock(const ThreadPlace &place) const;
  Extent3 getThread(const ThreadPlace &place) const;
  /// "llvm.load at model.py:12".
  std::string describeSite(uint32_t site) const;

  void report(FaultKind kind, const ThreadPlace &place, uint32_t site,
              std::string address, std::string message);

  bool isShared() const { return options.threads > 1; }

private:
  uint32_t stride = 1, offset = 0;
};

} // namespace metaops::emulator

#endif // METAOPS_LIB_RUNTIME_EMULATOR_LAUNCH_H
