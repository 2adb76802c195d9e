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
// The calling thread only waits, and asks whether to go on: a code generator
// cannot be stopped in the middle of a function, however long it takes. A
// thread that has been told to stop and does not is left alone, with all that
// it needs.
//
//===----------------------------------------------------------------------===//

#include "CompileKernels.h"
#include "MetaOps/Runtime/Cache/DiskKey.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
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

namespace {
/// Kernels that are being compiled. Threads own it together.
class Compilation {
public:
  Compilation(std::vector<BoundKernel> kernels,
              std::shared_ptr<const KernelBackend> backend)
      : kernels(std::move(kernels)), backend(std::move(backend)),
        codes(this->kernels.size()) {}

  /// Compiles what no thread has begun.
  void work();
  /// Starts threads; fewer than `most` where the process may have no more.
  static std::vector<std::thread>
  start(const std::shared_ptr<Compilation> &compilation, size_t most);
  /// Waits until no thread works, or for so long.
  bool wait(std::chrono::milliseconds most);

  void stop() { isStopped = true; }
  std::vector<CompiledCode> takeCodes() { return std::move(codes); }

private:
  /// Counts a thread that has ended.
  void end();

  std::vector<BoundKernel> kernels;
  std::shared_ptr<const KernelBackend> backend;
  std::vector<CompiledCode> codes;
  std::atomic<size_t> next = 0;
  std::atomic<bool> isStopped = false;
  std::mutex mutex;
  std::condition_variable ended;
  /// Threads that have been counted and have not ended; below 0 while those
  /// that have ended have not been counted.
  int64_t working = 0;
};
} // namespace

void Compilation::work() {
  auto stops = [this] { return isStopped.load(); };
  std::unique_ptr<KernelWorker> worker;
  for (size_t i = next++; i < kernels.size() && !stops(); i = next++) {
    if (!worker)
      worker = backend->createWorker();
    codes[i] = worker->compile(kernels[i], stops);
  }
}

void Compilation::end() {
  std::lock_guard<std::mutex> lock(mutex);
  --working;
  ended.notify_one();
}

std::vector<std::thread>
Compilation::start(const std::shared_ptr<Compilation> &compilation,
                   size_t most) {
  std::vector<std::thread> threads;
  try {
    while (threads.size() < most) {
      threads.emplace_back([compilation] {
        compilation->work();
        compilation->end();
      });
    }
  } catch (const std::system_error &) {
    // Those that are there do all the work.
  }
  std::lock_guard<std::mutex> lock(compilation->mutex);
  compilation->working += threads.size();
  return threads;
}

bool Compilation::wait(std::chrono::milliseconds most) {
  std::unique_lock<std::mutex> lock(mutex);
  return ended.wait_for(lock, most, [this] { return working == 0; });
}

CompiledKernels compileKernels(std::vector<BoundKernel> kernels,
                               std::shared_ptr<const KernelBackend> backend,
                               unsigned threads, StopCheck shouldStop) {
  constexpr std::chrono::milliseconds betweenChecks(5), untilLeft(1000);
  size_t count = kernels.size(), most = std::min<size_t>(threads, count);
  auto compilation =
      std::make_shared<Compilation>(std::move(kernels), std::move(backend));
  std::vector<std::thread> workers = Compilation::start(compilation, most);
  if (workers.empty())
    compilation->work();
  bool wasStopped = false, hasEnded = true;
  while (!compilation->wait(betweenChecks))
    if (shouldStop && shouldStop()) {
      compilation->stop();
      wasStopped = true;
      hasEnded = compilation->wait(untilLeft);
      break;
    }
  for (std::thread &worker : workers)
    hasEnded ? worker.join() : worker.detach();
  return {hasEnded ? compilation->takeCodes()
                   : std::vector<CompiledCode>(count),
          wasStopped};
}

} // namespace metaops
