//===- Memory.cpp - Memory and copies of an emulated driver ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies read and write the host's memory when they run, which is as late as it
// may be, also where that memory is not pinned. Those that are not enqueued
// wait for themselves.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace metaops;
using namespace metaops::emulated;

static uint64_t getAddress(const void *memory) {
  return reinterpret_cast<uint64_t>(memory);
}
static void *getMemory(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

static std::string formatBytes(uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DriverResult Machine::getFreeMemory(size_t *free, size_t *total) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  *free = memory.getFree(context->device);
  *total = options.memory;
  return SUCCESS;
}

DriverResult Machine::allocate(DevicePointer *address, size_t bytes) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  if (bytes == 0)
    return ERROR_INVALID_VALUE;
  *address = memory.take(bytes, context->device, /*isPinned=*/false);
  if (*address)
    return SUCCESS;
  return fail(ERROR_OUT_OF_MEMORY,
              "GPU " + std::to_string(context->device) + " has " +
                  formatBytes(memory.getFree(context->device)) + " left of " +
                  formatBytes(options.memory));
}

DriverResult Machine::allocateHost(void **address, size_t bytes, unsigned) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  if (bytes == 0)
    return ERROR_INVALID_VALUE;
  *address = getMemory(memory.take(bytes, context->device, /*isPinned=*/true));
  return *address ? SUCCESS : ERROR_OUT_OF_MEMORY;
}

DriverResult Machine::free(DevicePointer address) {
  return address ? release(address, /*isPinned=*/false) : int(SUCCESS);
}

DriverResult Machine::freeHost(void *address) {
  return release(getAddress(address), /*isPinned=*/true);
}

DriverResult Machine::release(uint64_t address, bool isPinned) {
  const Block *block = memory.find(address);
  if (!getCurrent())
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  if (!block || block->begin != address || block->isPinned != isPinned)
    return fail(ERROR_INVALID_VALUE,
                "what is freed is " + memory.describe(address));
  OperationRef user = schedule.completeUses(block->begin, block->getEnd());
  std::string description = block->str();
  memory.giveBack(address);
  if (!user)
    return hasFaults() ? ERROR_LAUNCH_FAILED : SUCCESS;
  return fail(ERROR_LAUNCH_FAILED, description + " are freed while " +
                                       user->description +
                                       ", which uses them, may not be done");
}

DriverResult Machine::checkDevice(const std::string &what, uint64_t begin,
                                  uint64_t bytes) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  const Block *block = memory.find(begin);
  std::string wrong =
      what + " uses " + formatBytes(bytes) + " at " + memory.describe(begin);
  if (!block || block->isPinned)
    return fail(ERROR_INVALID_VALUE, wrong);
  if (bytes > block->getEnd() - begin)
    return fail(ERROR_INVALID_VALUE, wrong + ", which are not as many");
  if (block->device != context->device)
    return fail(ERROR_INVALID_VALUE, wrong + ", in a context of GPU " +
                                         std::to_string(context->device));
  return SUCCESS;
}

DriverResult Machine::checkHost(const std::string &what, uint64_t begin,
                                uint64_t bytes) {
  const Block *block = memory.find(begin);
  bool isHost = block ? block->isPinned && bytes <= block->getEnd() - begin
                      : !memory.wasFreed(begin);
  if (isHost)
    return SUCCESS;
  return fail(ERROR_INVALID_VALUE, what + " uses " + formatBytes(bytes) +
                                       " of the host's at " +
                                       memory.describe(begin));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

DriverResult Machine::enqueueOn(DriverHandle handle,
                                const OperationRef &operation) {
  Stream *stream = findStream(handle);
  return stream ? enqueue(*stream, operation) : int(ERROR_INVALID_HANDLE);
}

DriverResult Machine::enqueueToDevice(DevicePointer to, const void *from,
                                      size_t bytes, DriverHandle stream) {
  std::string what = "a copy of " + formatBytes(bytes) + " to a GPU";
  if (bytes == 0)
    return SUCCESS;
  if (DriverResult result = checkDevice(what, to, bytes))
    return result;
  if (DriverResult result = checkHost(what, getAddress(from), bytes))
    return result;
  return enqueueOn(stream, makeCopy(what, getMemory(to), from, bytes));
}

DriverResult Machine::enqueueToHost(void *to, DevicePointer from, size_t bytes,
                                    DriverHandle stream) {
  std::string what = "a copy of " + formatBytes(bytes) + " from a GPU";
  if (bytes == 0)
    return SUCCESS;
  if (DriverResult result = checkDevice(what, from, bytes))
    return result;
  if (DriverResult result = checkHost(what, getAddress(to), bytes))
    return result;
  return enqueueOn(stream, makeCopy(what, to, getMemory(from), bytes));
}

DriverResult Machine::enqueueCopy(DevicePointer to, DevicePointer from,
                                  size_t bytes, DriverHandle stream) {
  std::string what = "a copy of " + formatBytes(bytes) + " on a GPU";
  if (bytes == 0)
    return SUCCESS;
  for (DevicePointer end : {to, from})
    if (DriverResult result = checkDevice(what, end, bytes))
      return result;
  return enqueueOn(stream,
                   makeCopy(what, getMemory(to), getMemory(from), bytes));
}

DriverResult Machine::enqueueFill(DevicePointer to, unsigned char value,
                                  size_t bytes, DriverHandle handle) {
  std::string what = "a fill of " + formatBytes(bytes);
  if (bytes == 0)
    return SUCCESS;
  if (DriverResult result = checkDevice(what, to, bytes))
    return result;
  return enqueueOn(handle, makeFill(what, getMemory(to), value, bytes));
}

DriverResult Machine::copyToDevice(DevicePointer to, const void *from,
                                   size_t bytes) {
  DriverResult result = enqueueToDevice(to, from, bytes, nullptr);
  return result || bytes == 0 ? result : waitForStream(nullptr);
}

DriverResult Machine::copyToHost(void *to, DevicePointer from, size_t bytes) {
  DriverResult result = enqueueToHost(to, from, bytes, nullptr);
  return result || bytes == 0 ? result : waitForStream(nullptr);
}
