//===- Arena.cpp - Places in shared memory --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are rectangles, sizes by live ranges, to be stacked as low as possible
// (two-dimensional strip packing, as in XLA's heap simulator). They
// are placed one after another, each in the smallest gap between those placed
// before that live at the same time, or on top of them. The result depends on
// the order, and no order is the best for all programs: large values first
// leave gaps that small ones fill; the order of the program suits chains, and
// what is large and long is in the way of everything. Each of these orders is
// mended a few times: what was placed highest comes first. The smallest of the
// results is taken, the first where they are equal.
//
// In the order of the program, a sweep keeps what lives and the gaps between,
// and places n values in n log n steps. Any other order compares each value
// with all placed before; of very many values only some are tried.
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>

using namespace mlir;
using namespace mlir::metaop;

/// Places in the arena begin at multiples of this.
static constexpr int64_t kAlignment = 64;
/// Up to so many values, 50 ms, orders other than the program's are tried.
static constexpr size_t kMaxOrdered = 4096;
/// An order is mended so many times, of many values fewer times: comparisons of
/// two values are counted.
static constexpr size_t kMaxMended = 32, kMaxCompared = size_t(1) << 22;

static int64_t getSize(const ArenaValue &value) {
  return llvm::alignTo(std::max<int64_t>(value.bytes, 1), kAlignment);
}

static bool liveTogether(const ArenaValue &a, const ArenaValue &b) {
  return a.begin <= b.end && b.begin <= a.end;
}

int64_t metaop::getMostLiveBytes(llvm::ArrayRef<ArenaValue> values) {
  // A value that begins with a call lives beside one that ends with it.
  llvm::SmallVector<std::tuple<int64_t, bool, int64_t>> changes;
  for (const ArenaValue &value : values) {
    changes.push_back({value.begin, false, getSize(value)});
    changes.push_back({value.end, true, getSize(value)});
  }
  llvm::sort(changes);
  uint64_t live = 0, most = 0;
  for (auto [time, isEnd, size] : changes) {
    live = isEnd ? live - size : live + size;
    most = std::max(most, live);
    if (most > uint64_t(kMaxArenaBytes))
      return std::numeric_limits<int64_t>::max();
  }
  return most;
}

namespace {
class Packer {
public:
  explicit Packer(llvm::ArrayRef<ArenaValue> values)
      : values(values), plan{llvm::SmallVector<int64_t>(values.size()), 0} {}

  /// False where the arena gets too large.
  bool place(unsigned index);
  ArenaPlan take() { return std::move(plan); }

private:
  int64_t findOffset(unsigned index) const;

  llvm::ArrayRef<ArenaValue> values;
  ArenaPlan plan;
  /// By offset.
  llvm::SmallVector<unsigned> placed;
};
} // namespace

int64_t Packer::findOffset(unsigned index) const {
  int64_t size = getSize(values[index]);
  int64_t end = 0, found = 0;
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (unsigned other : placed) {
    if (!liveTogether(values[index], values[other]))
      continue;
    int64_t gap = plan.offsets[other] - end;
    if (gap >= size && gap < smallest) {
      smallest = gap;
      found = end;
    }
    end = std::max(end, plan.offsets[other] + getSize(values[other]));
  }
  return smallest < std::numeric_limits<int64_t>::max() ? found : end;
}

bool Packer::place(unsigned index) {
  int64_t offset = findOffset(index);
  plan.offsets[index] = offset;
  plan.bytes = std::max(plan.bytes, offset + getSize(values[index]));
  auto *position =
      llvm::upper_bound(placed, offset, [&](int64_t at, unsigned i) {
        return at < plan.offsets[i];
      });
  placed.insert(position, index);
  return plan.bytes <= kMaxArenaBytes;
}

using Order = llvm::SmallVector<unsigned>;

template <typename Key>
static Order sortBy(llvm::ArrayRef<ArenaValue> values, Key key) {
  Order order = llvm::to_vector(llvm::seq<unsigned>(0, values.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    auto first = key(values[a]), second = key(values[b]);
    return first != second ? first > second : a < b;
  });
  return order;
}

//===----------------------------------------------------------------------===//
// In the order of the program
//===----------------------------------------------------------------------===//

namespace {
/// Places values by where they begin: each in the smallest gap that it fits.
class Sweep {
public:
  explicit Sweep(llvm::ArrayRef<ArenaValue> values)
      : values(values), plan{llvm::SmallVector<int64_t>(values.size()), 0} {}

  std::optional<ArenaPlan> run();

private:
  int64_t take(int64_t size);
  void release(int64_t offset, int64_t size);
  void addGap(int64_t offset, int64_t size);
  void dropGap(std::map<int64_t, int64_t>::iterator gap);

  llvm::ArrayRef<ArenaValue> values;
  ArenaPlan plan;
  /// Gaps below the top: sizes by offset, and both by size.
  std::map<int64_t, int64_t> gaps;
  std::set<std::pair<int64_t, int64_t>> bySize;
  /// Nothing lives from here on.
  int64_t top = 0;
};
} // namespace

void Sweep::addGap(int64_t offset, int64_t size) {
  if (size == 0)
    return;
  gaps[offset] = size;
  bySize.insert({size, offset});
}

void Sweep::dropGap(std::map<int64_t, int64_t>::iterator gap) {
  bySize.erase({gap->second, gap->first});
  gaps.erase(gap);
}

int64_t Sweep::take(int64_t size) {
  auto found = bySize.lower_bound({size, 0});
  if (found == bySize.end()) {
    top += size;
    return top - size;
  }
  auto [gapSize, offset] = *found;
  dropGap(gaps.find(offset));
  addGap(offset + size, gapSize - size);
  return offset;
}

void Sweep::release(int64_t offset, int64_t size) {
  auto after = gaps.upper_bound(offset);
  if (after != gaps.end() && after->first == offset + size) {
    size += after->second;
    dropGap(after);
  }
  auto next = gaps.lower_bound(offset);
  if (next != gaps.begin())
    if (auto before = std::prev(next);
        before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      dropGap(before);
    }
  if (offset + size == top)
    top = offset;
  else
    addGap(offset, size);
}

std::optional<ArenaPlan> Sweep::run() {
  Order order =
      sortBy(values, [](const ArenaValue &value) { return -value.begin; });
  using End = std::pair<int64_t, unsigned>;
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
  for (unsigned index : order) {
    for (; !ends.empty() && ends.top().first < values[index].begin; ends.pop())
      release(plan.offsets[ends.top().second],
              getSize(values[ends.top().second]));
    plan.offsets[index] = take(getSize(values[index]));
    ends.push({values[index].end, index});
    plan.bytes = std::max(plan.bytes, top);
    if (top > kMaxArenaBytes)
      return std::nullopt;
  }
  return std::move(plan);
}

//===----------------------------------------------------------------------===//
// In any order
//===----------------------------------------------------------------------===//

static std::optional<ArenaPlan> packInOrder(llvm::ArrayRef<ArenaValue> values,
                                            const Order &order) {
  Packer packer(values);
  for (unsigned index : order)
    if (!packer.place(index))
      return std::nullopt;
  return packer.take();
}

/// The value whose end is the arena's: one that is in the way where it is.
static unsigned findHighest(llvm::ArrayRef<ArenaValue> values,
                            const ArenaPlan &plan) {
  auto getEnd = [&](unsigned index) {
    return plan.offsets[index] + getSize(values[index]);
  };
  unsigned highest = 0;
  for (unsigned index = 1; index < values.size(); ++index)
    if (getEnd(index) > getEnd(highest))
      highest = index;
  return highest;
}

/// Places values in an order, then in others where what was placed highest
/// comes first, as long as there may be less than the best plan.
static void improve(llvm::ArrayRef<ArenaValue> values, Order order,
                    int64_t least, std::optional<ArenaPlan> &best) {
  size_t rounds = std::clamp<size_t>(
      kMaxCompared / (values.size() * values.size() + 1), 1, kMaxMended);
  for (size_t round = 0; round < rounds; ++round) {
    if (best && best->bytes == least)
      return;
    std::optional<ArenaPlan> plan = packInOrder(values, order);
    if (!plan)
      return;
    auto *highest = llvm::find(order, findHighest(values, *plan));
    if (!best || plan->bytes < best->bytes)
      best = std::move(plan);
    // It is the lowest of all there, and the next order would be the same.
    if (highest == order.begin())
      return;
    std::rotate(order.begin(), highest, std::next(highest));
  }
}

std::optional<ArenaPlan> metaop::packArena(llvm::ArrayRef<ArenaValue> values) {
  int64_t least = getMostLiveBytes(values);
  auto getLength = [](const ArenaValue &value) {
    return value.end - value.begin + 1;
  };
  using Value = const ArenaValue &;
  std::optional<ArenaPlan> best = Sweep(values).run();
  auto tryOrder = [&](auto key) {
    improve(values, sortBy(values, key), least, best);
  };
  if (values.empty() || values.size() > kMaxOrdered)
    return best;
  tryOrder(
      [](Value value) { return std::make_pair(value.bytes, -value.begin); });
  tryOrder([&](Value value) {
    return std::make_pair(getLength(value), value.bytes);
  });
  tryOrder([&](Value value) { return double(value.bytes) * getLength(value); });
  return best;
}
