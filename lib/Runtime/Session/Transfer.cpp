//===- Transfer.cpp - Values of several devices ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value belongs to the device of what it is made of, and else to the one that
// was current when a Var came to hold it. What is made of numbers alone, in the
// middle of a formula, is free: each device computes it where it needs it.
//
// A program runs on one device. A transfer is what is asked of another: its
// operand is computed there, by a program of its own, and copied by a run of
// that device's queue, into memory of the device that it goes to. Programs that
// read it wait for that run. Nobody waits for what is put into a queue later,
// so devices do not wait for each other in a circle.
//
// Runs hold memory of their own device and, as copies, what they write. Whoever
// uses that has waited for the copy, so a queue's references to buffers say
// nothing to another queue (Buffer::isShared).
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Device/TransferProgram.h"
#include "MetaOps/Runtime/Session/MemoryReport.h"
#include "SessionImpl.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace metaops;

Device &SessionImpl::getDevice(llvm::StringRef name) {
  if (Device *found = devices.find(name))
    return *found;
  fail(ErrorKind::Value, "there is no device '" + name + "'; there are " +
                             devices.describeNames());
}

//===----------------------------------------------------------------------===//
// Between a device and the host
//===----------------------------------------------------------------------===//

Allocator &SessionImpl::getHostMemory() {
  Device &host = device->hasHostMemory() ? *device : devices.getFirst();
  return host.getMemory();
}

Var SessionImpl::give(DType dtype, llvm::ArrayRef<int64_t> shape,
                      BufferRef buffer) {
  if (!device->hasHostMemory()) {
    BufferRef own = takeMemory(
        *this, [this] { makeRoom(); },
        [&] { return device->getMemory().allocate(buffer->bytes()); });
    own->copyFrom(*buffer);
    buffer = std::move(own);
  }
  return wrap(recorder.buffer(dtype, shape, std::move(buffer)));
}

/// A value that is there or on its way, in the host's memory.
TensorData SessionImpl::read(Node *node) {
  TensorData data{bufferOf(node), node->dtype, node->shape().vec(),
                  node->ready};
  if (!data.buffer->getDeviceMemory())
    return data;
  BufferRef copied = takeMemory(
      *this, [this] { makeRoom(); },
      [&] {
        return devices.getFirst().getMemory().allocate(data.buffer->bytes());
      });
  data.ready =
      copy(node, copied, devices.getFirst().getName(), node->op->getLoc());
  data.buffer = std::move(copied);
  return data;
}

//===----------------------------------------------------------------------===//
// Between two devices
//===----------------------------------------------------------------------===//

Node *SessionImpl::transfer(Node *node, Device &to) {
  if (!node->device)
    node->device = device;
  return node->device == &to
             ? node
             : recorder.transfer(node, node->device->getName(), to.getName());
}

/// What a program that brings a value over is reported as.
static std::string writeTransfer(const Node &node, llvm::StringRef to) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "func.func @main(%x: " << node.type() << ") -> " << node.type()
     << " {\n  %y = metaop.transfer %x from \"" << node.device->getName()
     << "\" to \"" << to << "\" : " << node.type() << " loc(\"node\":0:0)\n"
     << "  return %y : " << node.type() << "\n}\n";
  return text;
}

/// Has the value's device copy it.
Ticket SessionImpl::copy(Node *source, BufferRef to, llvm::StringRef name,
                         Location location) {
  Device &on = *source->device;
  auto cached = std::make_shared<CachedProgram>();
  cached->program = std::make_shared<TransferProgram>(to->bytes());
  cached->slice = writeTransfer(*source, name);
  cached->compiler = &getCompiler(on);
  auto record = std::make_shared<RunRecord>();
  record->cached = std::move(cached);
  record->device = &on;
  record->locations.push_back(location);
  auto queued = std::make_unique<QueuedRun>();
  queued->run.arguments.push_back(bufferOf(source, on));
  queued->run.results.push_back(to);
  queued->await(source->ready, on.getQueue());
  queued->record = std::move(record);
  return launch(std::move(queued), RunKind::Transferred);
}

void SessionImpl::startTransfer(Node *node) {
  Node *source = node->operands.front();
  if (source->isDonated)
    failOverwritten(source);
  resumeFor(source);
  BufferRef buffer = takeMemory(
      *this, [this] { makeRoom(); },
      [&] {
        return node->device->getMemory().allocate(
            countBytes(node->shape(), node->dtype));
      });
  Ticket ticket =
      copy(source, buffer, node->device->getName(), node->op->getLoc());
  store(node, std::move(buffer), ticket, source->depth);
}

/// Brings values over, each with all that it needs of whichever device.
void SessionImpl::computeTransfers(std::vector<Node *> nodes) {
  llvm::SmallVector<Node *> sources;
  for (Node *node : nodes)
    if (Node *source = node->operands.front(); !source->isLeaf())
      sources.push_back(source);
  for (Node *node : nodes)
    graph.pin(node);
  llvm::scope_exit unpin([&] {
    for (Node *node : nodes)
      graph.unpin(node);
  });
  if (!sources.empty())
    compute(sources, RunKind::Transferred);
  for (Node *node : nodes)
    if (node->isAwaitedTransfer())
      startTransfer(node);
}
