//===- CompileKernels.cpp - Code of several kernels -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are independent, so they are compiled side by side. Threads share
// nothing but the list of kernels: each has a worker of its own, and gets a
// kernel as bytecode. The threads live as long as the list; beside the tens of
// milliseconds that one kernel takes, starting them costs nothing, and a forked
// child finds none missing.
//
//===----------------------------------------------------------------------===//

#include "CompileKernels.h"
#include "MetaOps/Runtime/Cache/DiskKey.h"

#include <system_error>
#include <thread>

namespace metaops {

std::string getKernelName(llvm::StringRef key) {
  // Names stand for keys, also with those of other processes.
  return "kernel_" + toHex(DiskKeyBuilder().add(key).finish());
}

std::string getKernelEntry(llvm::StringRef key) {
  // As metaop-kernel-entry names it.
  return getKernelName(key) + "_entry";
}

std::vector<CompiledCode> compileKernels(llvm::ArrayRef<BoundKernel> kernels,
                                         const KernelBackend &backend,
                                         unsigned threads, StopCheck shouldStop,
                                         std::atomic<bool> &isStopped) {
  std::vector<CompiledCode> codes(kernels.size());
  std::atomic<size_t> next = 0;
  auto workUntil = [&](StopCheck stops) {
    std::unique_ptr<KernelWorker> worker;
    for (size_t i = next++; i < kernels.size() && !stops(); i = next++) {
      if (!worker)
        worker = backend.createWorker();
      codes[i] = worker->compile(kernels[i], stops);
    }
  };
  auto work = [&] { workUntil([&] { return isStopped.load(); }); };
  std::vector<std::thread> others;
  try {
    for (size_t i = 1; i < std::min<size_t>(threads, kernels.size()); ++i)
      others.emplace_back(work);
  } catch (const std::system_error &) {
    // The process may have no more threads; those there are do all the work.
  }
  workUntil([&] {
    if (!isStopped && shouldStop && shouldStop())
      isStopped = true;
    return isStopped.load();
  });
  for (std::thread &thread : others)
    thread.join();
  return codes;
}

} // namespace metaops
