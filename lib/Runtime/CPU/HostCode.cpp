//===- HostCode.cpp - Code of a user's in a shared library ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CPU/HostCode.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <mutex>

using namespace metaops;

/// The longest text of an error.
static constexpr int64_t kMessageBytes = 4096;

/// Parts of a range for each thread: they may take different times.
static constexpr int64_t kPartsPerThread = 4;

namespace {
class HostCodeLauncher : public KernelLauncher {
public:
  explicit HostCodeLauncher(HostCodeFunction function) : function(function) {}

  llvm::Error launch(const KernelCall &call,
                     llvm::ArrayRef<KernelBuffer> buffers, unsigned numInputs,
                     ThreadPool &threads,
                     LaunchMeasures *measures) const override;

private:
  HostCodeFunction function;
};
} // namespace

/// Parts that begin behind a failure are left out.
llvm::Error HostCodeLauncher::launch(const KernelCall &call,
                                     llvm::ArrayRef<KernelBuffer> buffers,
                                     unsigned numInputs, ThreadPool &threads,
                                     LaunchMeasures *measures) const {
  llvm::SmallVector<void *, 16> pointers;
  for (KernelBuffer buffer : buffers)
    pointers.push_back(buffer.data());
  std::atomic<bool> hasFailed{false};
  std::mutex mutex;
  std::string problem;
  auto run = [&](int64_t begin, int64_t end) {
    if (hasFailed.load(std::memory_order_relaxed))
      return;
    char message[kMessageBytes];
    if (function(pointers.data(), call.scalars.data(), begin, end, message,
                 kMessageBytes) == 0)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (!hasFailed.exchange(true))
      problem = message;
  };
  if (call.parallelRange == 1)
    run(0, 1);
  else
    threads.parallelFor(
        call.parallelRange,
        std::max<int64_t>(
            call.parallelRange / (threads.getThreads() * kPartsPerThread), 1),
        run);
  // The bytes that are thrown may be no text, or cut within a character.
  if (hasFailed)
    return llvm::createStringError(llvm::json::fixUTF8(problem));
  return llvm::Error::success();
}

llvm::Expected<std::shared_ptr<const Kernel>>
metaops::loadHostCode(llvm::StringRef name, llvm::StringRef library,
                      llvm::StringRef symbol,
                      std::shared_ptr<const KernelSource> source) {
  auto fail = [] {
    const char *problem = dlerror();
    return llvm::createStringError(problem ? problem : "nobody knows why");
  };
  void *handle = dlopen(library.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail();
  void *address = dlsym(handle, symbol.str().c_str());
  if (!address)
    return fail();
  auto function = reinterpret_cast<HostCodeFunction>(address);
  return std::make_shared<const Kernel>(
      Kernel{nullptr, name.str(), std::make_shared<HostCodeLauncher>(function),
             std::move(source)});
}
