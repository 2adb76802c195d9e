//===- EmulatedThread.h - What emulated code and engine share ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that convert-nvvm-to-emulator makes of a GPU kernel, and the engine
// that runs it (lib/Runtime/Emulator), meet in what is here: the part of a
// thread that both write, the numbers of registers and classes, and how
// addresses of shared memory look. Plain data, without MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_EMULATEDTHREAD_H
#define METAOPS_CONVERSION_EMULATEDTHREAD_H

#include "MetaOps/Support/InstructionClass.h"

#include <cstdint>

namespace metaops {

/// The part of a thread that its code knows. Where an instruction waits, the
/// code writes its operands into `values` and its site, and suspends; what the
/// engine leaves in `values` are the results.
struct EmulatedThread {
  static constexpr unsigned numValues = 6;
  /// Iterations that a thread may take before it lets others run.
  static constexpr uint32_t fullFuel = 1024;

  uint64_t values[numValues];
  /// The operation at which the thread waits.
  uint32_t site;
  /// Iterations that are left.
  uint32_t fuel;
  /// Counts of entries into each block of code, by any thread.
  uint64_t *executions;
  /// The special registers that the threads of a block share.
  const uint32_t *blockRegisters;
  /// The special registers that differ between the threads of a block.
  uint32_t ownRegisters[5];
};

/// Places in EmulatedThread::ownRegisters.
enum class ThreadRegister : uint8_t { TidX, TidY, TidZ, LaneId, WarpId };

/// Places in EmulatedThread::blockRegisters; of those of three dimensions,
/// those of y and z follow.
enum class BlockRegister : uint8_t {
  Ntid = 0,
  Ctaid = 3,
  Nctaid = 6,
  ClusterId = 9,
  NclusterId = 12,
  ClusterCtaid = 15,
  ClusterNctaid = 18,
  ClusterCtarank = 21,
  ClusterNctarank,
  NwarpId,
  WarpSize,
  SmId,
  NsmId,
  GridId,
  TotalSharedSize,
  DynamicSharedSize,
  Count
};

/// Between which threads an instruction orders memory.
enum class SyncScope : uint8_t { Block, Cluster, Device };
/// The memory order of an operation, as bits.
enum SyncOrder : uint8_t { Relaxed = 0, Acquire = 1, Release = 2, Both = 3 };

/// Shared memory of the own block has the addresses from 0 on, as a pointer in
/// space 3 has them; in space 7 those of block r of a cluster begin at
/// (r + 1) << 24. A generic address has the bits of the window set beside,
/// which no address of the host has.
constexpr uint64_t sharedWindow = uint64_t(0x5A00) << 48;
constexpr unsigned clusterRankShift = 24;

} // namespace metaops

#endif // METAOPS_CONVERSION_EMULATEDTHREAD_H
