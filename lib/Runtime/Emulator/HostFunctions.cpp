//===- HostFunctions.cpp - Functions that emulated code calls -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine's functions take the thread, the number of the site, and operands
// in words, and return a word; arithmetic takes and returns what it says. The
// approximations of a GPU are computed as exactly as the host does it: what
// "ftz" says of subnormal numbers is all that is left of them.
//
//===----------------------------------------------------------------------===//

#include "HostFunctions.h"
#include "Instructions.h"
#include "MetaOps/Support/BFloat16.h"
#include "Worker.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Alignment.h"

#include <cmath>
#include <limits>

using namespace metaops;
using namespace metaops::emulator;
namespace NVVM = mlir::NVVM;

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

static Thread &getThread(EmulatedThread *thread) {
  return *static_cast<Thread *>(thread);
}

static Worker &getWorker(const Thread &thread) { return *thread.worker; }

static const Site &getSite(const Thread &thread, uint32_t number) {
  return getWorker(thread).launch.code.sites[number];
}

/// Memory for a coroutine. A thread that runs later has that of an earlier one.
static void *allocateFrame(EmulatedThread *emulated, uint64_t bytes,
                           uint64_t alignment) {
  Thread &thread = getThread(emulated);
  uint64_t needed = bytes + alignment - 1;
  if (thread.frameBytes < needed) {
    thread.frameMemory.reset(new uint8_t[needed]);
    thread.frameBytes = needed;
  }
  return reinterpret_cast<void *>(
      llvm::alignAddr(thread.frameMemory.get(), llvm::Align(alignment)));
}

static uint64_t accessMemory(EmulatedThread *emulated, uint32_t site,
                             uint64_t address) {
  Thread &thread = getThread(emulated);
  return reinterpret_cast<uint64_t>(
      getWorker(thread).access(thread, site, address));
}

/// An access of a variable of one thread, at `base`.
static uint64_t accessLocal(EmulatedThread *emulated, uint32_t number,
                            uint64_t address, uint64_t base) {
  Thread &thread = getThread(emulated);
  const Site &site = getSite(thread, number);
  uint64_t offset = address - base;
  if (offset < site.variableBytes && site.bytes <= site.variableBytes - offset)
    return address;
  Worker &worker = getWorker(thread);
  worker.report(FaultKind::OutOfBounds, thread, number,
                "accesses " + std::to_string(site.bytes) + " bytes at " +
                    std::to_string(static_cast<int64_t>(offset)) +
                    " of a variable of " + std::to_string(site.variableBytes));
  return reinterpret_cast<uint64_t>(worker.getDump());
}

/// Begins a copy; `bytes` of the source are copied, the rest is zeros.
static uint64_t startCopy(EmulatedThread *emulated, uint32_t number,
                          uint64_t destination, uint64_t source,
                          uint64_t bytes) {
  Thread &thread = getThread(emulated);
  Worker &worker = getWorker(thread);
  const Site &site = getSite(thread, number);
  if (bytes > site.bytes) {
    worker.report(FaultKind::WrongCopy, thread, number,
                  "copies " + std::to_string(bytes) + " of " +
                      std::to_string(site.bytes) + " bytes");
    return 0;
  }
  std::optional<Place> to = worker.resolve(thread, number, destination);
  std::optional<Place> from;
  // Of an empty source nothing is read.
  if (bytes)
    from = worker.resolve(thread, site.source, source);
  if (!to || (bytes && !from))
    return 0;
  if (from)
    worker.log(thread, site.source, from->address);
  worker.log(thread, number, to->address);
  thread.copies.push_back({to->host, from ? from->host : to->host, to->address,
                           static_cast<uint32_t>(bytes), number,
                           thread.copyGroup});
  return 0;
}

static uint64_t commitCopies(EmulatedThread *emulated, uint32_t) {
  ++getThread(emulated).copyGroup;
  return 0;
}

/// The address of a variable in the shared memory of another block.
static uint64_t mapAddress(EmulatedThread *emulated, uint32_t number,
                           uint64_t address, uint64_t rank) {
  Thread &thread = getThread(emulated);
  Worker &worker = getWorker(thread);
  uint32_t blocks = worker.launch.blocksOfCluster;
  if (rank >= blocks) {
    worker.report(FaultKind::RemoteBlock, thread, number,
                  "there is no block " + std::to_string(rank) +
                      " in a cluster of " + std::to_string(blocks));
    rank = thread.warp->block->rank;
  }
  uint64_t window =
      getSite(thread, number).space == Space::Generic ? sharedWindow : 0;
  uint64_t offset = address & ((1u << clusterRankShift) - 1);
  return window | (rank + 1) << clusterRankShift | offset;
}

/// prmt, by the table of its modes.
static uint64_t permuteBytes(EmulatedThread *emulated, uint32_t number,
                             uint64_t low, uint64_t high, uint64_t selector) {
  uint64_t pool = (high << 32) | (low & 0xFFFFFFFF);
  unsigned first = selector & 3;
  auto mode =
      static_cast<NVVM::PermuteMode>(getSite(getThread(emulated), number).kind);
  uint64_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned byte = 0;
    bool isSign = false;
    switch (mode) {
    case NVVM::PermuteMode::DEFAULT:
      byte = selector >> (4 * i) & 7;
      isSign = selector >> (4 * i) & 8;
      break;
    case NVVM::PermuteMode::F4E:
      byte = first + i;
      break;
    case NVVM::PermuteMode::B4E:
      byte = (first + 8 - i) % 8;
      break;
    case NVVM::PermuteMode::RC8:
      byte = first;
      break;
    case NVVM::PermuteMode::ECL:
      byte = std::max(i, first);
      break;
    case NVVM::PermuteMode::ECR:
      byte = std::min(i, first);
      break;
    case NVVM::PermuteMode::RC16:
      byte = (first % 2) * 2 + i % 2;
      break;
    }
    uint64_t value = pool >> (8 * byte) & 0xFF;
    if (isSign)
      value = value & 0x80 ? 0xFF : 0;
    result |= value << (8 * i);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// A subnormal number becomes a zero of its sign.
static float flush(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, x)
             : x;
}

/// A function of flushed numbers, whose result is flushed.
template <float (*F)(float)> static float flushed(float x) {
  return flush(F(flush(x)));
}

static float computeReciprocal(float x) { return 1.0f / x; }
static float computeRsqrt(float x) { return 1.0f / std::sqrt(x); }
static double computeWideRsqrt(double x) { return 1.0 / std::sqrt(x); }
static float computePower(float x, int32_t n) {
  return static_cast<float>(std::pow(static_cast<double>(x), n));
}
static double computeWidePower(double x, int32_t n) { return std::pow(x, n); }
static float computeSqrt(float x) { return std::sqrt(x); }
static float computeEx2(float x) { return std::exp2(x); }
static float computeLg2(float x) { return std::log2(x); }
static float computeSin(float x) { return std::sin(x); }
static float computeCos(float x) { return std::cos(x); }
static float divide(float x, float y) { return x / y; }
static float divideFlushed(float x, float y) {
  return flush(flush(x) / flush(y));
}
static int32_t multiplyHigh(int32_t x, int32_t y) {
  return static_cast<int32_t>((int64_t(x) * y) >> 32);
}
static uint32_t multiplyHighUnsigned(uint32_t x, uint32_t y) {
  return static_cast<uint32_t>((uint64_t(x) * y) >> 32);
}
static int64_t multiplyHighWide(int64_t x, int64_t y) {
  return static_cast<int64_t>((static_cast<__int128>(x) * y) >> 64);
}
static uint64_t multiplyHighWideUnsigned(uint64_t x, uint64_t y) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(x) * y) >> 64);
}

/// From f64 to bf16: by a float that is rounded to odd, so that the second
/// rounding is right.
static float truncateDoubleToBFloat(double x) {
  auto nearest = static_cast<float>(x);
  auto bits = llvm::bit_cast<uint32_t>(nearest);
  if (!std::isnan(x) && !std::isinf(nearest) && nearest != x) {
    if (std::fabs(static_cast<double>(nearest)) > std::fabs(x))
      --bits;
    bits |= 1;
  }
  return truncateToBFloat16(llvm::bit_cast<float>(bits));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename F> static void *addressOf(F *function) {
  return reinterpret_cast<void *>(function);
}

llvm::ArrayRef<HostFunction> emulator::getHostFunctions() {
  static const HostFunction functions[] = {
      {"metaops.emulator.frame", addressOf(allocateFrame)},
      {"__truncdfbf2", addressOf(truncateDoubleToBFloat)},
#define CALLS_PART(name, access, function)                                     \
  {"metaops.emulator." name, addressOf(function)},
#define COMPUTES(name, counted, function, ...) {name, addressOf(function)},
#include "MetaOps/Conversion/EmulatedInstructions.def"
  };
  return functions;
}
