//===- Device.h - Where programs run ----------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_DEVICE_DEVICE_H
#define METAOPS_RUNTIME_DEVICE_DEVICE_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"

#include <memory>
#include <string>

namespace metaops {

/// Memory, threads and a queue, for programs of one backend. What runs on one
/// device is in order; devices run side by side.
class Device {
public:
  Device(std::string name, std::shared_ptr<Compiler> backend,
         std::shared_ptr<MemorySource> source);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// Kind and ordinal: "cpu:1".
  const std::string &getName() const { return name; }
  /// Devices of one kind share it, and so what it has compiled.
  Compiler &getBackend() const { return *backend; }
  Allocator &getMemory() { return memory; }
  /// Returns whether the host reads and writes its buffers.
  bool hasHostMemory() const { return source->isHost(); }
  ThreadPool &getThreads() { return threads; }
  Queue &getQueue() { return queue; }

  /// Intermediate values of the runs in the queue. Used in the session's scope.
  BufferRef scratch;

private:
  const std::string name;
  std::shared_ptr<Compiler> backend;
  std::shared_ptr<MemorySource> source;
  Allocator memory;
  ThreadPool threads;
  /// Runs what is left before the rest goes.
  Queue queue;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_DEVICE_DEVICE_H
