//===- RunControlFlow.cpp - Branches and loops of a run -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop's condition and body run with the carries' pointers set. After the
// body each carry's `next` becomes its `current`, and `next` whichever of the
// two places is free then: no value is copied but the last, where it has to lie
// in one of them. Rows are reached by pointers that move on after the body, by
// the bytes of a row.
//
//===----------------------------------------------------------------------===//

#include "StepRunner.h"

#include <algorithm>
#include <limits>

using namespace metaops;

llvm::Error StepRunner::runIf(const Step &step, const If &branches,
                              Place place) {
  const std::vector<ListPlan> &regions = place.list.regions[place.index];
  // A bool is a byte, of which kernels write 0 or 1.
  bool isTrue =
      path.empty() ? read<uint8_t>(step.buffers.front()) != 0 : resumeAt() != 0;
  return leave(isTrue ? runList(branches.onTrue, regions[0])
                      : runList(branches.onFalse, regions[1]),
               isTrue);
}

llvm::Error StepRunner::runWhile(const Step &step, const While &loop,
                                 Place place) {
  int64_t part = Condition;
  if (path.empty()) {
    beginCarries(loop.carries);
    trips.push_back(0);
  } else {
    part = resumeAt();
    trips.push_back(resumeAt());
  }
  loops.push_back(nullptr);
  llvm::Error error = runTrips(step, loop, place, part);
  loops.pop_back();
  error = leave(std::move(error), trips.pop_back_val());
  return leave(std::move(error), part);
}

/// From this part of the last trip on.
llvm::Error StepRunner::runTrips(const Step &step, const While &loop,
                                 Place place, int64_t &part) {
  const std::vector<ListPlan> &regions = place.list.regions[place.index];
  for (; part != Settling; ++trips.back()) {
    if (part == Condition) {
      // A loop of empty steps is to be stopped, too.
      if (mustStop())
        return llvm::make_error<Interrupted>();
      if (llvm::Error error = runList(loop.condition, regions[0]))
        return error;
      if (read<uint8_t>(step.buffers.front()) == 0)
        break;
      part = Body;
    }
    if (llvm::Error error = runList(loop.body, regions[1]))
      return error;
    handOn(loop.carries);
    part = Condition;
  }
  part = Settling;
  return settle(loop.carries);
}

llvm::Error StepRunner::runFor(const Step &step, const For &loop, Place place) {
  int64_t count;
  if (path.empty()) {
    // The number may be overwritten meanwhile.
    count = loop.trips.value_or(std::numeric_limits<int64_t>::max());
    if (!step.buffers.empty())
      count = std::min(count, read<int64_t>(step.buffers.front()));
    beginCarries(loop.carries);
    beginRows(loop, count);
    trips.push_back(0);
  } else {
    count = resumeAt();
    trips.push_back(resumeAt());
  }
  loops.push_back(&loop);
  llvm::Error error =
      runTrips(loop, place.list.regions[place.index].front(), count);
  loops.pop_back();
  error = leave(std::move(error), trips.pop_back_val());
  return leave(std::move(error), count);
}

/// From the last trip on; behind all of them what is left is to settle.
llvm::Error StepRunner::runTrips(const For &loop, const ListPlan &body,
                                 int64_t count) {
  for (; trips.back() < count; ++trips.back()) {
    // Else asked by the steps.
    if (loop.body.empty() && mustStop())
      return llvm::make_error<Interrupted>();
    if (llvm::Error error = runList(loop.body, body))
      return error;
    handOn(loop.carries);
    moveRows(loop, count);
  }
  return settle(loop.carries);
}

void StepRunner::beginCarries(llvm::ArrayRef<Carry> carries) {
  for (const Carry &carry : carries) {
    table[carry.current] = getAddress(carry.initial);
    if (!carry.isRow)
      table[carry.next] = getAddress(carry.even);
  }
}

/// Hands the values that this trip has made to the next one.
void StepRunner::handOn(llvm::ArrayRef<Carry> carries) {
  bool isEven = trips.back() % 2 == 0;
  for (const Carry &carry : carries) {
    table[carry.current] = table[carry.next];
    if (!carry.isRow)
      table[carry.next] = getAddress(isEven ? carry.odd : carry.even);
  }
}

/// Returns how far a row is from the one of the trip before.
static int64_t getStride(const ProgramData &program, const For &loop,
                         const LoopRows &rows) {
  int64_t bytes = program.pointers[rows.entry - program.getPointer(0)];
  return loop.isReverse ? -bytes : bytes;
}

void StepRunner::beginRows(const For &loop, int64_t count) {
  for (const LoopRows &rows : loop.rows) {
    int64_t stride = getStride(program, loop, rows);
    table[rows.entry] = getAddress(rows.whole);
    if (loop.isReverse && count > 0)
      table[rows.entry] -= stride * (count - 1);
  }
}

/// Behind the last trip there is no row.
void StepRunner::moveRows(const For &loop, int64_t count) {
  for (const LoopRows &rows : loop.rows)
    if (trips.back() + 1 < count)
      table[rows.entry] += getStride(program, loop, rows);
}

/// Copies the last values that have to lie in one place and are in the other.
llvm::Error StepRunner::settle(llvm::ArrayRef<Carry> carries) {
  for (const Carry &carry : carries) {
    if (!carry.settles)
      continue;
    char *place = getAddress(carry.even);
    if (table[carry.current] == place)
      continue;
    std::optional<int64_t> rest =
        copyBytes(place, table[carry.current], carry.even.bytes, threads,
                  shouldStop, resumeAt());
    if (rest)
      return stopAt(*rest);
    table[carry.current] = place;
  }
  return llvm::Error::success();
}
