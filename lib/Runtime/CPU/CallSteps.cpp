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
// The steps depend on the program alone, so they are the same in every run, and
// results do not depend on the number of threads.
//
//===----------------------------------------------------------------------===//

#include "CallSteps.h"
#include "llvm/ADT/STLExtras.h"

using namespace metaops;

/// Less work than this is done before another thread has taken it over: 4 us in
/// picoseconds.
static constexpr int64_t kMinWork = 4'000'000;

/// How far a call may come forward.
static constexpr unsigned kWindow = 32;

static bool overlap(llvm::ArrayRef<MemoryRange> lhs,
                    llvm::ArrayRef<MemoryRange> rhs) {
  return llvm::any_of(lhs, [&](const MemoryRange &range) {
    return llvm::any_of(
        rhs, [&](const MemoryRange &other) { return range.overlaps(other); });
  });
}

static bool conflict(const CallFacts &lhs, const CallFacts &rhs) {
  return overlap(lhs.writes, rhs.writes) || overlap(lhs.writes, rhs.reads) ||
         overlap(lhs.reads, rhs.writes);
}

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
    // Every call before `next` has been placed, joins the step or is passed.
    unsigned end = std::min<size_t>(calls.size(), first + kWindow);
    for (unsigned next = first + 1; next < end; ++next) {
      if (isPlaced[next] || !wantsCompany(calls[next]))
        continue;
      bool isFree = true;
      for (unsigned other = first; other < next && isFree; ++other)
        isFree = (isPlaced[other] && !llvm::is_contained(step, other)) ||
                 !conflict(calls[other], calls[next]);
      if (!isFree)
        continue;
      step.push_back(next);
      isPlaced[next] = true;
    }
  }
  return steps;
}
