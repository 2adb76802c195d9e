//===- ValueMemory.h - The memory of values ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_VALUEMEMORY_H
#define METAOPS_RUNTIME_RUN_VALUEMEMORY_H

#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/Graph/DroppedValues.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Run/MemoryHolders.h"
#include "MetaOps/Runtime/Run/Waiter.h"
#include "llvm/ADT/ArrayRef.h"

namespace metaops {

/// Memory of values; makes room for more.
class ValueMemory {
public:
  ValueMemory(Graph &graph, Devices &devices, DroppedValues &dropped,
              Programs &programs, Waiter &waiter)
      : graph(graph), devices(devices), dropped(dropped), programs(programs),
        waiter(waiter) {}

  /// The memory of a 0-d tensor of these bits.
  BufferRef makeScalar(uint64_t bits, Device &on);
  /// Of a leaf, for a program of the device.
  BufferRef bufferOf(Node *leaf, Device &on);
  /// The same on the leaf's own device, or the current one.
  BufferRef bufferOf(Node *leaf);

  /// The value is there when `ready` has run, and with it what it is a view of.
  /// What is free of a device is on `on` from here on.
  void store(Node *output, BufferRef buffer, Ticket ready, uint32_t depth,
             Device &on);

  /// Calls `allocate`, which takes memory; where there is none, makes room but
  /// for `kept`, and calls it again.
  template <typename Allocate>
  auto take(Allocate allocate, llvm::ArrayRef<Node *> kept = {}) {
    return takeMemory(graph, [&] { makeRoom(kept); }, allocate);
  }

private:
  void makeRoom(llvm::ArrayRef<Node *> kept);

  Graph &graph;
  Devices &devices;
  DroppedValues &dropped;
  Programs &programs;
  Waiter &waiter;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_VALUEMEMORY_H
