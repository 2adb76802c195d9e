//===- Streams.cpp - Streams and events of an emulated driver -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stream is its last operation. An event that is recorded, or waited for, is
// an operation that does nothing: what is behind it comes behind all before it.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace metaops;
using namespace metaops::emulated;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Stream *Machine::findStream(DriverHandle handle) {
  if (reinterpret_cast<uintptr_t>(handle) > kLegacyStream)
    return find(streams, handle, "stream");
  Context *context = getCurrent();
  if (!context)
    fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  return context ? &context->legacy : nullptr;
}

/// Lists what the next operation of a stream comes behind.
std::vector<OperationRef> Machine::listLast(const Stream &stream) const {
  std::vector<OperationRef> last{stream.last};
  Context &context = *stream.context;
  if (&stream != &context.legacy && stream.isBlocking)
    last.push_back(context.legacy.last);
  if (&stream != &context.legacy)
    return last;
  llvm::append_range(last, context.ends);
  for (const auto &[handle, other] : streams)
    if (other->context == &context && other->isBlocking)
      last.push_back(other->last);
  return last;
}

DriverResult Machine::failOrder(const Operation &second,
                                const Operation &first) {
  return fail(ERROR_LAUNCH_FAILED,
              second.description + " and " + first.description +
                  " use the same bytes, and nothing orders them");
}

DriverResult Machine::enqueue(Stream &stream, const OperationRef &operation,
                              OperationRef behind) {
  std::vector<OperationRef> before = listLast(stream);
  before.push_back(std::move(behind));
  if (OperationRef other = schedule.add(operation, before))
    return failOrder(*operation, *other);
  stream.last = operation;
  return SUCCESS;
}

DriverResult Machine::wait(const OperationRef &operation) {
  if (operation)
    schedule.complete(operation);
  return hasFaults() ? ERROR_LAUNCH_FAILED : SUCCESS;
}

DriverResult Machine::query(const OperationRef &operation) {
  if (!operation || operation->isDone)
    return wait(operation);
  // A host that asks again and again sees that it goes on.
  schedule.runOne();
  return hasFaults() ? ERROR_LAUNCH_FAILED : ERROR_NOT_READY;
}

DriverResult Machine::createStream(DriverHandle *handle, unsigned flags) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  auto stream = std::make_shared<Stream>(
      Stream{context, (flags & kNonBlocking) == 0, nullptr});
  *handle = stream.get();
  streams[*handle] = std::move(stream);
  return SUCCESS;
}

DriverResult Machine::destroyStream(DriverHandle handle) {
  Stream *stream = find(streams, handle, "stream");
  if (!stream)
    return ERROR_INVALID_HANDLE;
  // Its work goes on.
  std::vector<OperationRef> &ends = stream->context->ends;
  llvm::erase_if(ends, [](const OperationRef &end) { return end->isKnown; });
  if (stream->isBlocking && stream->last)
    ends.push_back(stream->last);
  streams.erase(handle);
  return SUCCESS;
}

DriverResult Machine::waitForStream(DriverHandle handle) {
  Stream *stream = findStream(handle);
  return stream ? wait(stream->last) : int(ERROR_INVALID_HANDLE);
}

DriverResult Machine::queryStream(DriverHandle handle) {
  Stream *stream = findStream(handle);
  return stream ? query(stream->last) : int(ERROR_INVALID_HANDLE);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

DriverResult Machine::createEvent(DriverHandle *handle, unsigned) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  auto event = std::make_shared<Event>(Event{context, nullptr});
  *handle = event.get();
  events[*handle] = std::move(event);
  return SUCCESS;
}

DriverResult Machine::destroyEvent(DriverHandle handle) {
  if (!find(events, handle, "event"))
    return ERROR_INVALID_HANDLE;
  events.erase(handle);
  return SUCCESS;
}

DriverResult Machine::recordEvent(DriverHandle handle, DriverHandle into) {
  Event *event = find(events, handle, "event");
  Stream *stream = findStream(into);
  if (!event || !stream)
    return ERROR_INVALID_HANDLE;
  auto place = std::make_shared<Operation>();
  place->description = "an event";
  event->recorded = place;
  return enqueue(*stream, place);
}

DriverResult Machine::enqueueWait(DriverHandle into, DriverHandle handle,
                                  unsigned) {
  Stream *stream = findStream(into);
  // Of an event of another GPU, too.
  auto event = events.find(handle);
  if (!stream || event == events.end())
    return fail(ERROR_INVALID_HANDLE, "there is no such event or stream");
  auto place = std::make_shared<Operation>();
  place->description = "a wait for an event";
  return enqueue(*stream, place, event->second->recorded);
}

DriverResult Machine::waitForEvent(DriverHandle handle) {
  Event *event = find(events, handle, "event");
  return event ? wait(event->recorded) : int(ERROR_INVALID_HANDLE);
}

DriverResult Machine::queryEvent(DriverHandle handle) {
  Event *event = find(events, handle, "event");
  return event ? query(event->recorded) : int(ERROR_INVALID_HANDLE);
}

DriverResult Machine::getElapsedTime(float *milliseconds, DriverHandle begin,
                                     DriverHandle end) {
  Event *first = find(events, begin, "event");
  Event *last = find(events, end, "event");
  if (!first || !last || !first->recorded || !last->recorded)
    return ERROR_INVALID_HANDLE;
  if (!first->recorded->isKnown || !last->recorded->isKnown)
    return ERROR_NOT_READY;
  std::chrono::duration<float, std::milli> passed =
      last->recorded->time - first->recorded->time;
  *milliseconds = passed.count();
  return SUCCESS;
}
