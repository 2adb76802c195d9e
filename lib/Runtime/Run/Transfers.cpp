//===- Transfers.cpp - Values of several devices --------------------------===//
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

#include "MetaOps/Runtime/Run/Transfers.h"

#include "MetaOps/Runtime/Device/TransferProgram.h"
#include "MetaOps/Runtime/Graph/Slice.h"

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Between a device and the host
//===----------------------------------------------------------------------===//

Allocator &Transfers::getHostMemory() {
  Device &current = devices.getCurrent();
  Device &host = current.hasHostMemory() ? current : devices.getFirst();
  return host.getMemory();
}

BufferRef Transfers::bringOver(BufferRef buffer) {
  Device &current = devices.getCurrent();
  if (current.hasHostMemory())
    return buffer;
  BufferRef own = memory.take(
      [&] { return current.getMemory().allocate(buffer->bytes()); });
  own->copyFrom(*buffer);
  return own;
}

TensorData Transfers::read(Node *node) {
  TensorData data{memory.bufferOf(node), node->dtype, node->shape().vec(),
                  node->ready};
  if (!data.buffer->getDeviceMemory())
    return data;
  Device &host = devices.getFirst();
  BufferRef copied = memory.take(
      [&] { return host.getMemory().allocate(data.buffer->bytes()); });
  data.ready = copy(node, copied, host.getName(), node->op->getLoc());
  data.buffer = std::move(copied);
  return data;
}

//===----------------------------------------------------------------------===//
// Between two devices
//===----------------------------------------------------------------------===//

/// Writes the report of a program that brings a value over.
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
Ticket Transfers::copy(Node *source, BufferRef to, llvm::StringRef name,
                       Location location) {
  Device &on = *source->device;
  auto cached = std::make_shared<CachedProgram>();
  cached->program = std::make_shared<TransferProgram>(to->bytes());
  cached->slice = writeTransfer(*source, name);
  cached->compiler = &programs.getCompiler(on);
  auto record = std::make_shared<RunRecord>();
  record->cached = std::move(cached);
  record->device = &on;
  record->locations.push_back(location);
  ProgramRun run;
  run.arguments.push_back(memory.bufferOf(source, on));
  run.results.push_back(to);
  auto queued = std::make_unique<QueuedRun>(std::move(run));
  queued->await(source->ready, on.getQueue());
  queued->record = std::move(record);
  return launcher.launch(std::move(queued), /*isAwaited=*/false);
}

void Transfers::start(Node *node) {
  Node *source = node->operands.front();
  if (source->isDonated)
    failOverwritten(source);
  launcher.resumeFor(source);
  Device &to = *node->device;
  BufferRef buffer = memory.take([&] {
    return to.getMemory().allocate(getNumBytes(node->shape(), node->dtype));
  });
  Ticket ticket = copy(source, buffer, to.getName(), node->op->getLoc());
  memory.store(node, std::move(buffer), ticket, source->depth, to);
}
