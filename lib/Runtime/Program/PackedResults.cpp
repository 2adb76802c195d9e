//===- PackedResults.cpp - What programs keep from run to run -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call that packs weights makes the same of the same weights. What it reads
// is known by numbers (Buffer::getContents), which change with the contents
// and are not used twice. Of a result that may be kept,
//
//   1. the first run on some contents notes their numbers;
//   2. the second one finds them again, takes memory for a copy, and has the
//      call write there instead of into the arena;
//   3. later ones find the copy, and leave the call out.
//
// So weights that change in each run cost a comparison. Runs are prepared in
// the order in which they are executed, and a run that overwrites an argument
// gives it a new number when it is prepared: what a later run finds equal is
// equal when it is executed. Whether the copy is written by then is asked when
// the run comes to the call, since the run that was to write it may have
// failed.
//
// A copy is let go of when a buffer that it was made of dies or is written (the
// buffer sees to that), when the arguments are other ones, and when the program
// goes or memory is short. In the last case it is not made again of these
// contents: else each run would take the memory that the next one lacks.
//
//===----------------------------------------------------------------------===//

#include "PackedResults.h"

#include "MetaOps/Runtime/Memory/PackedCopy.h"

#include <cassert>

using namespace metaops;

/// The contents of a result's arguments; empty where they may change unnoticed.
static llvm::SmallVector<uint64_t, 2>
getContents(llvm::ArrayRef<unsigned> arguments, const ProgramRun &run) {
  llvm::SmallVector<uint64_t, 2> contents;
  for (unsigned argument : arguments) {
    contents.push_back(run.arguments[argument]->getContents());
    if (contents.back() == 0)
      return {};
  }
  return contents;
}

/// The memory of a copy for one more result; null where there is none.
static BufferRef tryAllocate(Allocator &memory, int64_t bytes) {
  try {
    return memory.allocate(bytes, MemoryUse::Packed);
  } catch (const OutOfMemory &) {
    return nullptr;
  }
}

/// Plans the use that `use` would make.
PackedUse PackedResults::plan(const Result &result, bool isSeen,
                              Allocator &model) const {
  bool isKept = result.copy && result.copy->getMemory();
  if (!isSeen || result.isRefused || isKept)
    return {};
  return {nullptr, tryAllocate(model, result.bytes)};
}

PackedUse PackedResults::use(Result &result, const ProgramRun &run,
                             Allocator &memory) {
  llvm::SmallVector<uint64_t, 2> contents = getContents(result.arguments, run);
  bool isSeen = !contents.empty() && contents == result.seen;
  if (memory.isModel())
    return plan(result, isSeen, memory);
  if (!isSeen) {
    if (result.copy)
      result.copy->drop();
    result.copy.reset();
    result.seen = std::move(contents);
    result.isRefused = false;
    return {};
  }
  if (result.isRefused)
    return {};
  if (!result.copy) {
    BufferRef taken = tryAllocate(memory, result.bytes);
    result.isRefused = !taken;
    if (!taken)
      return {};
    result.copy = std::make_shared<PackedCopy>(std::move(taken));
    for (unsigned argument : result.arguments)
      Allocator::attachCopy(*run.arguments[argument].get(), result.copy);
  }
  // Dropping it changes the contents as well.
  assert(result.copy->getMemory() && "a copy of contents that have changed");
  return {result.copy, result.copy->getMemory()};
}

void PackedResults::choose(ProgramRun &run, Allocator &memory) {
  run.packed.clear();
  for (Result &result : results)
    run.packed.push_back(use(result, run, memory));
}

void PackedResults::drop(bool isShort) {
  for (Result &result : results) {
    if (!result.copy)
      continue;
    result.copy->drop();
    result.copy.reset();
    result.isRefused = isShort;
  }
}
