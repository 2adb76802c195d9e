//===- ValueMemory.cpp - The memory of values -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/ValueMemory.h"

#include "llvm/ADT/ScopeExit.h"

using namespace metaops;

BufferRef ValueMemory::makeScalar(uint64_t bits, Device &on) {
  BufferRef buffer = on.getMemory().allocate(sizeof(bits));
  buffer->write(&bits, sizeof(bits));
  return buffer;
}

BufferRef ValueMemory::bufferOf(Node *leaf, Device &on) {
  // A number that is free of a device may have been used on another.
  if (!leaf->buffer || (leaf->isScalar && !on.getMemory().owns(*leaf->buffer)))
    leaf->buffer = makeScalar(leaf->scalar, on);
  return leaf->buffer;
}

BufferRef ValueMemory::bufferOf(Node *leaf) {
  return bufferOf(leaf, leaf->device ? *leaf->device : devices.getCurrent());
}

void ValueMemory::store(Node *output, BufferRef buffer, Ticket ready,
                        uint32_t depth, Device &on) {
  llvm::SmallVector<Node *, 4> viewed{output};
  while (graph.getInfo(viewed.back()).isView) {
    Node *source = viewed.back()->viewed();
    if (source->isLeaf())
      break;
    viewed.push_back(source);
  }
  for (Node *node : viewed) {
    node->ready = ready;
    if (!node->device)
      node->device = &on;
    graph.setComputed(node, buffer, depth);
  }
}

void ValueMemory::makeRoom(llvm::ArrayRef<Node *> kept) {
  llvm::for_each(kept, [&](Node *node) { graph.pin(node); });
  llvm::scope_exit unpin(
      [&] { llvm::for_each(kept, [&](Node *node) { graph.unpin(node); }); });
  dropped.release();
  waiter.drainInside();
  for (const std::unique_ptr<Device> &each : devices.getMade())
    each->scratch.reset();
  programs.dropPacked(/*isShort=*/true);
}
