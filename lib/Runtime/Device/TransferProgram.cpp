//===- TransferProgram.cpp - From one device's memory to another's --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Device/TransferProgram.h"

#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Program/Copy.h"

using namespace metaops;

/// Somebody who waits for more bytes than this, 20 ms' worth, may want to stop.
static constexpr int64_t kLongBytes = int64_t(100) << 20;

TransferProgram::TransferProgram(int64_t bytes) : bytes(bytes) {
  info.metaOps = 1;
  KernelInfo &call = info.calls.emplace_back();
  call.name = "transfer";
  call.isKernel = false;
  call.operators = {"transfer"};
  call.nodes = {0};
  call.bytesRead = call.bytesWritten = bytes;
  call.maxThreads = getMaxCopyThreads(bytes);
}

llvm::Expected<ProgramRun>
TransferProgram::prepare(llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
                         BufferRef &scratch) {
  ProgramRun run;
  run.arguments.assign(arguments.begin(), arguments.end());
  run.results.push_back(memory.allocate(bytes));
  return run;
}

bool TransferProgram::isLong(unsigned threads) const {
  return bytes > kLongBytes;
}

llvm::Error TransferProgram::execute(ProgramRun &run, ThreadPool &threads,
                                     StopCheck shouldStop,
                                     std::vector<CallTime> *times) {
  const RunRef &from = run.arguments.front(), &to = run.results.front();
  int64_t start = times ? readClock() : 0;
  if (from->getDeviceMemory() || to->getDeviceMemory()) {
    to->copyFrom(*from.get());
  } else {
    llvm::SmallVector<int64_t, 0> &path = run.progress.path;
    std::optional<int64_t> stopped =
        copyBytes(to->data(), from->data(), bytes, threads, shouldStop,
                  path.empty() ? 0 : path.front());
    path.clear();
    if (stopped) {
      path.push_back(*stopped);
      return llvm::make_error<Interrupted>();
    }
  }
  if (times) {
    times->resize(1);
    times->front().add(start, readClock());
  }
  return llvm::Error::success();
}
