//===- Atomics.cpp - Memory that threads meet in --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomic instructions, and loads and stores that are volatile or have an order,
// are done lane by lane, in an order that the seed decides. One that releases
// leaves what its thread knows at the address; one that acquires learns what is
// there, if each one's scope has the other's thread. Others do so by the fences
// before and behind them. A write by an instruction that reads, too, leaves
// what was there; another one ends it.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "Worker.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/APFloat.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>

using namespace metaops;
using namespace metaops::emulator;
using mlir::LLVM::AtomicBinOp;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Takes what a thread knows, itself included, for others to know. Its clock
/// ticks.
static std::shared_ptr<ClockView> takeView(Thread &thread) {
  auto view = std::make_shared<ClockView>(*thread.view);
  view->set(thread.warp->number, thread.lane, thread.clock++);
  view->update();
  thread.warp->isUniform = false;
  return view;
}

/// Returns whether the scope of a thread of one block has those of another.
static bool hasInScope(SyncScope scope, const ReleasedView &released,
                       const Thread &thread) {
  const Block &block = *thread.warp->block;
  if (scope == SyncScope::Device)
    return true;
  return released.cluster == block.cluster->number &&
         (scope == SyncScope::Cluster || released.block == block.rank);
}

static void learn(Thread &thread, const std::vector<ReleasedView> &released) {
  if (released.empty())
    return;
  thread.warp->isUniform = false;
  ClockRef view = new ClockView(*thread.view);
  for (const ReleasedView &entry : released) {
    if (entry.cluster == thread.warp->block->cluster->number)
      view->join(*entry.view);
    else {
      view->joinForeign(entry.cluster, *entry.view);
      for (const auto &[cluster, other] : entry.view->foreign)
        if (cluster != thread.warp->block->cluster->number)
          view->joinForeign(cluster, *other);
    }
  }
  view->update();
  thread.view = view;
}

static FenceState &getFences(Thread &thread) {
  if (!thread.fences)
    thread.fences = std::make_unique<FenceState>();
  return *thread.fences;
}

namespace {
/// Holds the places that were released to, of the memory that an address is in.
class PlacesAt {
public:
  PlacesAt(Worker &worker, Warp &warp, const Place &place)
      : lock(worker.launch.memory.syncLock, std::defer_lock) {
    if (place.address >> 48 == sharedWindow >> 48) {
      uint64_t rank = (place.address >> clusterRankShift & 0xFFFF) - 1;
      places = &warp.block->cluster->blocks[rank].syncPlaces;
      return;
    }
    if (worker.launch.isShared())
      lock.lock();
    places = &worker.launch.memory.syncPlaces;
  }

  llvm::SmallVector<ReleasedView, 1> &operator[](uint64_t address) {
    return (*places)[address];
  }

private:
  std::unique_lock<std::mutex> lock;
  SyncPlaces *places;
};
} // namespace

/// Notes what an access of a place that other threads use orders of memory,
/// before and behind it.
static void order(Worker &worker, Thread &thread, const Site &site,
                  const Place &place, bool reads, bool writes) {
  PlacesAt places(worker, *thread.warp, place);
  auto &released = places[place.address];
  if (reads) {
    std::vector<ReleasedView> seen;
    for (const ReleasedView &entry : released)
      if (hasInScope(site.scope, entry, thread) &&
          hasInScope(entry.scope, entry, thread))
        seen.push_back(entry);
    if (site.order & SyncOrder::Acquire)
      learn(thread, seen);
    else if (!seen.empty())
      llvm::append_range(getFences(thread).seen, seen);
  }
  if (!writes)
    return;
  if (!reads)
    released.clear();
  const Block &block = *thread.warp->block;
  ReleasedView entry = {block.cluster->number, block.rank, site.scope, nullptr};
  if (site.order & SyncOrder::Release) {
    entry.view = takeView(thread);
  } else if (thread.fences && thread.fences->released) {
    entry.view = thread.fences->released;
    entry.scope = std::min(entry.scope, thread.fences->scope);
  } else {
    return;
  }
  // Of one block and scope one view is enough.
  for (ReleasedView &known : released) {
    if (known.cluster != entry.cluster || known.block != entry.block ||
        known.scope != entry.scope)
      continue;
    auto merged = std::make_shared<ClockView>(*known.view);
    merged->join(*entry.view);
    merged->update();
    known.view = std::move(merged);
    return;
  }
  released.push_back(std::move(entry));
}

void emulator::executeFence(Worker &worker, Warp &warp, uint32_t number,
                            uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    Thread &thread = warp.threads[__builtin_ctz(rest)];
    FenceState &fences = getFences(thread);
    if (site.order & SyncOrder::Acquire) {
      std::vector<ReleasedView> seen;
      for (const ReleasedView &entry : fences.seen)
        if (hasInScope(site.scope, entry, thread))
          seen.push_back(entry);
      learn(thread, seen);
      fences.seen.clear();
    }
    if (site.order & SyncOrder::Release) {
      fences.released = takeView(thread);
      fences.scope = site.scope;
    }
  }
  warp.block->cluster->wake(warp, lanes);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics &getSemantics(ValueType type) {
  switch (type) {
  case ValueType::F16:
    return llvm::APFloat::IEEEhalf();
  case ValueType::BF16:
    return llvm::APFloat::BFloat();
  case ValueType::F32:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

static uint64_t combineFloats(AtomicBinOp op, ValueType type, unsigned bits,
                              uint64_t a, uint64_t b) {
  const llvm::fltSemantics &semantics = getSemantics(type);
  llvm::APFloat x(semantics, llvm::APInt(bits, a)),
      y(semantics, llvm::APInt(bits, b));
  auto round = llvm::APFloat::rmNearestTiesToEven;
  switch (op) {
  case AtomicBinOp::fadd:
    x.add(y, round);
    break;
  case AtomicBinOp::fsub:
    x.subtract(y, round);
    break;
  case AtomicBinOp::fmax:
    x = llvm::maxnum(x, y);
    break;
  case AtomicBinOp::fmin:
    x = llvm::minnum(x, y);
    break;
  case AtomicBinOp::fmaximum:
    x = llvm::maximum(x, y);
    break;
  case AtomicBinOp::fminimum:
    x = llvm::minimum(x, y);
    break;
  default:
    x = y;
    break;
  }
  return x.bitcastToAPInt().getZExtValue();
}

static uint64_t combineIntegers(AtomicBinOp op, unsigned bits, uint64_t a,
                                uint64_t b) {
  llvm::APInt x(bits, a, /*isSigned=*/false, /*implicitTrunc=*/true),
      y(bits, b, /*isSigned=*/false, /*implicitTrunc=*/true);
  switch (op) {
  case AtomicBinOp::add:
    x += y;
    break;
  case AtomicBinOp::sub:
    x -= y;
    break;
  case AtomicBinOp::_and:
    x &= y;
    break;
  case AtomicBinOp::nand:
    x = ~(x & y);
    break;
  case AtomicBinOp::_or:
    x |= y;
    break;
  case AtomicBinOp::_xor:
    x ^= y;
    break;
  case AtomicBinOp::max:
    x = x.sgt(y) ? x : y;
    break;
  case AtomicBinOp::min:
    x = x.slt(y) ? x : y;
    break;
  case AtomicBinOp::umax:
    x = x.ugt(y) ? x : y;
    break;
  case AtomicBinOp::umin:
    x = x.ult(y) ? x : y;
    break;
  case AtomicBinOp::uinc_wrap:
    x = x.uge(y) ? llvm::APInt(bits, 0) : x + 1;
    break;
  case AtomicBinOp::udec_wrap:
    x = x.isZero() || x.ugt(y) ? y : x - 1;
    break;
  case AtomicBinOp::usub_cond:
    x = x.uge(y) ? x - y : x;
    break;
  case AtomicBinOp::usub_sat:
    x = x.usub_sat(y);
    break;
  default:
    x = y;
    break;
  }
  return x.getZExtValue();
}

static uint64_t combineValues(const Site &site, uint64_t a, uint64_t b) {
  auto op = static_cast<AtomicBinOp>(site.kind);
  switch (site.type) {
  case ValueType::I16:
  case ValueType::I32:
  case ValueType::I64:
    return combineIntegers(op, site.bytes * 8, a, b);
  case ValueType::F16:
  case ValueType::BF16:
  case ValueType::F32:
  case ValueType::F64:
    return op == AtomicBinOp::xchg
               ? b
               : combineFloats(op, site.type, site.bytes * 8, a, b);
  case ValueType::V2F16:
  case ValueType::V2BF16: {
    ValueType half =
        site.type == ValueType::V2F16 ? ValueType::F16 : ValueType::BF16;
    uint64_t low = combineFloats(op, half, 16, a & 0xFFFF, b & 0xFFFF);
    return low | combineFloats(op, half, 16, a >> 16, b >> 16) << 16;
  }
  }
  return b;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Has each lane access the address that is its first operand: f(thread, old)
/// gives the new value, or nothing. All accesses are then one request.
template <typename F>
static void accessInTurn(Worker &worker, Warp &warp, uint32_t number,
                         uint32_t lanes, const F &f) {
  Launch &launch = worker.launch;
  const Site &site = launch.code.sites[number];
  bool reads = site.instruction->access != AccessKind::Write;
  bool writes = site.instruction->access != AccessKind::Read;
  std::optional<Place> places[warpSize];
  uint64_t addresses[warpSize];
  uint32_t sound = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    Thread &thread = warp.threads[lane];
    places[lane] = worker.resolve(thread, number, thread.values[0]);
    if (!places[lane]) {
      thread.values[0] = thread.values[1] = 0;
      continue;
    }
    addresses[lane] = places[lane]->address;
    sound |= uint32_t(1) << lane;
  }
  // Checked first: what the access itself orders comes behind it.
  if (sound)
    worker.request(warp, number, sound, addresses);
  uint32_t first = worker.random.below(warpSize);
  for (uint32_t i = 0; i < warpSize; ++i) {
    unsigned lane = (first + i) % warpSize;
    if (!(sound >> lane & 1))
      continue;
    Thread &thread = warp.threads[lane];
    const Place &place = *places[lane];
    std::unique_lock<std::mutex> lock(launch.memory.stepLock, std::defer_lock);
    if (launch.isShared())
      lock.lock();
    uint64_t old = 0;
    std::memcpy(&old, place.host, site.bytes);
    std::optional<uint64_t> value = f(thread, old);
    if (value)
      std::memcpy(place.host, &*value, site.bytes);
    if (value && *value != old)
      worker.progress();
    else
      worker.idle();
    if (reads)
      thread.values[0] = old;
    order(worker, thread, site, place, reads, writes && value.has_value());
  }
  warp.block->cluster->wake(warp, lanes);
}

void emulator::executeAtomic(Worker &worker, Warp &warp, uint32_t number,
                             uint32_t lanes) {
  const Site &site = worker.launch.code.sites[number];
  accessInTurn(worker, warp, number, lanes, [&](Thread &thread, uint64_t old) {
    return std::optional(combineValues(site, old, thread.values[1]));
  });
}

void emulator::executeCompareExchange(Worker &worker, Warp &warp,
                                      uint32_t number, uint32_t lanes) {
  accessInTurn(worker, warp, number, lanes, [](Thread &thread, uint64_t old) {
    bool isEqual = old == thread.values[1];
    thread.values[1] = isEqual;
    return isEqual ? std::optional(thread.values[2]) : std::nullopt;
  });
}

void emulator::executeStrongLoad(Worker &worker, Warp &warp, uint32_t number,
                                 uint32_t lanes) {
  accessInTurn(worker, warp, number, lanes,
               [](Thread &, uint64_t) { return std::optional<uint64_t>(); });
}

void emulator::executeStrongStore(Worker &worker, Warp &warp, uint32_t number,
                                  uint32_t lanes) {
  accessInTurn(worker, warp, number, lanes, [](Thread &thread, uint64_t) {
    return std::optional(thread.values[1]);
  });
}
