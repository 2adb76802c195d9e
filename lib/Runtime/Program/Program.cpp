//===- Program.cpp - Both steps of a run ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/Program.h"

#include <chrono>

using namespace metaops;

char Interrupted::ID = 0;
char KernelFailure::ID = 0;

double KernelInfo::predictSeconds(const mlir::metaop::MachineFigures &machine,
                                  int64_t threads) const {
  mlir::metaop::KernelWork work;
  work.bytesRead = bytesRead;
  work.bytesWritten = bytesWritten;
  work.flops = flops;
  for (auto [to, from] : llvm::zip(work.instructions, instructions))
    to = from;
  threads = std::min(threads, maxThreads);
  return std::max(mlir::metaop::predictSeconds(work, machine, threads),
                  double(routineWork) * 1e-12 / double(threads));
}

int64_t metaops::readClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

llvm::Error Program::run(llvm::ArrayRef<BufferRef> arguments,
                         llvm::SmallVectorImpl<BufferRef> &results,
                         Allocator &memory, ThreadPool &threads) {
  BufferRef scratch;
  llvm::Expected<ProgramRun> run = prepare(arguments, memory, scratch);
  if (!run)
    return run.takeError();
  if (llvm::Error error = execute(*run, threads))
    return error;
  for (const RunRef &result : run->results)
    results.push_back(result.get());
  return llvm::Error::success();
}
