//===- CallSteps.cpp - Calls that run side by side ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel whose loop cannot be shared among threads (a sum of everything), or
// is too short for it, leaves the other threads idle. Independent parts of a
// program have such calls at the same time: two branches of a network, the
// statistics of many tensors. So the first call that is left, if it is of this
// kind, takes later ones of this kind along. A later call may come forward when
// it shares no memory that either writes with any call that it passes or joins;
// the arena's places are memory like any other.
//
// All that lies between is gathered as one set of ranges, so that a candidate
// is compared once with all of it, and not with each call of the window. Ranges
// of rows that are apart, the parts of one tensor, lie between each other's
// rows: these are compared one by one.
//
// The steps depend on the program alone, so they are the same in every run, and
// results do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#include "CallSteps.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace metaops;

/// Less work than this is done before another thread has taken it over: 4 us in
/// picoseconds.
static constexpr int64_t kMinWork = 4'000'000;

/// Steps by which a call may come forward.
static constexpr unsigned kWindow = 32;

/// Returns whether two ranges have bytes in common. Rows of one pitch are told
/// apart by where they begin.
static bool haveCommonBytes(const MemoryRange &a, const MemoryRange &b) {
  if (a.object != b.object || a.begin >= b.end || b.begin >= a.end)
    return false;
  if (a.pitch == 0 || a.pitch != b.pitch)
    return true;
  // From the beginning of a row of `a` to that of the next row of `b`.
  int64_t distance = (b.begin - a.begin) % a.pitch;
  if (distance < 0)
    distance += a.pitch;
  return distance < a.row || a.pitch - distance < b.row;
}

namespace {
/// A union of ranges.
class Memory {
public:
  void add(llvm::ArrayRef<MemoryRange> added) {
    for (const MemoryRange &range : added)
      if (range.pitch != 0)
        inRows.push_back(range);
      else
        add(range);
  }
  bool overlaps(llvm::ArrayRef<MemoryRange> others) const {
    return llvm::any_of(others, [&](const MemoryRange &range) {
      auto it = findFirst(range);
      bool overlapsWhole =
          it != ends.end() && it->first.first == range.object &&
          it->first.second < range.end && range.begin < it->second;
      return overlapsWhole ||
             llvm::any_of(inRows, [&](const MemoryRange &other) {
               return haveCommonBytes(other, range);
             });
    });
  }

private:
  using Ranges = std::map<std::pair<int64_t, int64_t>, int64_t>;

  /// The first range that does not end before `range`.
  Ranges::const_iterator findFirst(const MemoryRange &range) const {
    auto it = ends.upper_bound({range.object, range.begin});
    if (it != ends.begin()) {
      auto before = std::prev(it);
      if (before->first.first == range.object && before->second > range.begin)
        return before;
    }
    return it;
  }

  void add(MemoryRange range) {
    if (range.begin >= range.end)
      return;
    auto it = findFirst(range);
    while (it != ends.end() && it->first.first == range.object &&
           it->first.second < range.end) {
      range.begin = std::min(range.begin, it->first.second);
      range.end = std::max(range.end, it->second);
      it = ends.erase(it);
    }
    ends[{range.object, range.begin}] = range.end;
  }

  /// Ranges that do not overlap: where they end, by where they begin.
  Ranges ends;
  llvm::SmallVector<MemoryRange, 2> inRows;
};

/// The memory of several calls.
struct CallMemory {
  Memory reads, writes;

  void add(const CallFacts &call) {
    reads.add(call.reads);
    writes.add(call.writes);
  }
  bool conflictsWith(const CallFacts &call) const {
    return writes.overlaps(call.writes) || writes.overlaps(call.reads) ||
           reads.overlaps(call.writes);
  }
};
} // namespace

static bool wantsCompany(const CallFacts &call) {
  return !call.isSplit && call.work >= kMinWork;
}

std::vector<CallStep> metaops::planSteps(llvm::ArrayRef<CallFacts> calls) {
  std::vector<CallStep> steps;
  std::vector<bool> isPlaced(calls.size(), false);
  for (unsigned first = 0; first < calls.size(); ++first) {
    if (isPlaced[first])
      continue;
    CallStep &step = steps.emplace_back(1, first);
    if (!wantsCompany(calls[first]))
      continue;
    // Of the calls that join the step or are passed; all others are placed.
    CallMemory between;
    between.add(calls[first]);
    unsigned end = std::min<size_t>(calls.size(), first + kWindow);
    for (unsigned next = first + 1; next < end; ++next) {
      if (isPlaced[next])
        continue;
      if (wantsCompany(calls[next]) && !between.conflictsWith(calls[next])) {
        step.push_back(next);
        isPlaced[next] = true;
      }
      between.add(calls[next]);
    }
  }
  return steps;
}
