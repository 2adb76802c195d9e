//===- PoisonedDevice.h - Memory that the host cannot read ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pages of a buffer are mapped twice: where its address says, for nobody to
// read or write, and at a fixed distance from there, for the backend. So who
// looks into a buffer as if it were the host's ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_POISONEDDEVICE_H
#define METAOPS_UNITTESTS_RUNTIME_POISONEDDEVICE_H

#include "SessionFixture.h"

#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace metaops {

class PoisonedMemory : public MemorySource {
public:
  static constexpr size_t kBytes = size_t(64) << 20;

  PoisonedMemory() {
    int file = memfd_create("poisoned", 0);
    bool isThere = ftruncate(file, kBytes) == 0;
    // One range of addresses, of which the second half is the backend's.
    base = map(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    isThere &= map(base, kBytes, PROT_NONE, MAP_SHARED | MAP_FIXED, file) &&
               map(base + kBytes, kBytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED, file);
    used = isThere ? 0 : kBytes;
    close(file);
  }
  ~PoisonedMemory() override { munmap(base, 2 * kBytes); }

  /// Where the backend finds what is at an address.
  static void *translate(const void *address) {
    return const_cast<char *>(static_cast<const char *>(address)) + kBytes;
  }

  void *take(size_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    if (used + bytes > kBytes)
      return nullptr;
    used += bytes;
    return base + used - bytes;
  }
  void giveBack(void *, size_t) override {}
  bool isHost() const override { return false; }
  void upload(void *to, const void *from, size_t bytes) override {
    std::memcpy(translate(to), from, bytes);
  }
  void download(void *to, const void *from, size_t bytes) override {
    std::memcpy(to, translate(from), bytes);
  }
  void copy(void *to, const void *from, size_t bytes) override {
    std::memcpy(translate(to), translate(from), bytes);
  }

private:
  static char *map(char *at, size_t bytes, int access, int flags, int file) {
    void *mapped = mmap(at, bytes, access, flags, file, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
  }

  char *base = nullptr;
  std::mutex mutex;
  /// All of it where there is none.
  size_t used = 0;
};

/// Runs programs of the other compiler in such memory.
class PoisonedCompiler : public DonatingCompiler {
public:
  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override {
    auto inner =
        DonatingCompiler::compile(slice, donatable, options, shouldStop);
    if (!inner)
      return inner.takeError();
    return std::make_shared<Translating>(std::move(*inner));
  }

private:
  struct Translating : WrappedProgram {
    using WrappedProgram::WrappedProgram;

    llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                        StopCheck shouldStop,
                        std::vector<CallTime> *times) override {
      ProgramRun translated;
      auto translate = [](const RunRef &buffer) {
        return RunRef(Buffer::wrap(PoisonedMemory::translate(buffer->data()),
                                   buffer->bytes(), {}));
      };
      for (const RunRef &argument : run.arguments)
        translated.arguments.push_back(translate(argument));
      for (const RunRef &result : run.results)
        translated.results.push_back(translate(result));
      return inner->execute(translated, threads, shouldStop, times);
    }
  };
};

inline DeviceKind makePoisonedKind() {
  return {"poisoned", 2, std::make_shared<PoisonedCompiler>(),
          [] { return std::make_shared<PoisonedMemory>(); }};
}

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_POISONEDDEVICE_H
