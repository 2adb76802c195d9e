//===- Program.cpp - Both steps of a run ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Program.h"

#include <algorithm>
#include <chrono>

using namespace metaops;

char Interrupted::ID = 0;
char KernelFailure::ID = 0;
char MemoryFailure::ID = 0;
char CheckFailure::ID = 0;
char MatrixFailure::ID = 0;

void CallStatistics::add(const CallStatistics &other) {
  if (other.runs == 0)
    return;
  min = runs ? std::min(min, other.min) : other.min;
  max = std::max(max, other.max);
  total += other.total;
  runs += other.runs;
  if (other.counts)
    counts = other.counts;
}

void CallTime::add(int64_t from, int64_t to) {
  begin = statistics.runs ? begin : from;
  end = to;
  statistics.add(to - from);
}

int64_t metaops::readClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

llvm::Error Program::run(llvm::ArrayRef<BufferRef> arguments,
                         llvm::SmallVectorImpl<BufferRef> &results,
                         Allocator &memory, ThreadPool &threads,
                         std::vector<CallTime> *times) {
  BufferRef scratch;
  llvm::Expected<ProgramRun> run = prepare(arguments, memory, scratch);
  if (!run)
    return run.takeError();
  if (llvm::Error error = execute(*run, threads, nullptr, times))
    return error;
  for (const RunRef &result : run->results)
    results.push_back(result.get());
  return llvm::Error::success();
}
