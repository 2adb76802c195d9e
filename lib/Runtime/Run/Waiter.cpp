//===- Waiter.cpp - Waiting for runs, or stopping them --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A caller that waits is asked now and then whether it wants to go on. If not,
// the runs up to the one that it waits for are cancelled, and the call throws
// (ErrorKind::Interrupted). A cancelled run stops at its next look at the
// queue, wherever it is, and goes on from there when somebody needs what it
// writes; see SuspendedRuns.h. So to all others a run has all of its effect or
// none.
//
// A compilation that is stopped leaves the session as it was. Kernels that it
// has finished stay in the cache.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/Waiter.h"

using namespace mlir;
using namespace metaops;

void Waiter::cancel() {
  for (const std::unique_ptr<Device> &each : devices.getMade())
    each->getQueue().getLast().cancel();
}

/// Stops all devices: what is waited for may wait for any of them.
void Waiter::stop() {
  cancel();
  fail(ErrorKind::Interrupted, "interrupted while values were computed");
}

void Waiter::wait(const Tickets &tickets, StopCheck shouldStop) {
  if (!tickets.wait(shouldStop))
    stop();
  if (std::shared_ptr<const RunFailure> found = failures.take(tickets))
    fail(found->kind, found->message);
}

void Waiter::throwFailure() {
  Tickets all;
  for (const std::unique_ptr<Device> &each : devices.getMade())
    all.add(each->getQueue().getLast());
  if (std::shared_ptr<const RunFailure> found = failures.take(all))
    fail(found->kind, found->message);
}

void Waiter::wait(const TensorData &data, StopCheck shouldStop) {
  wait(data.ready, shouldStop);
  if (suspended.wasStopped(data.ready))
    fail(ErrorKind::Interrupted,
         "the computation of a value was interrupted; ask for it again");
  // Another thread may have been told of it.
  if (data.buffer->failure)
    fail(data.buffer->failure->kind, data.buffer->failure->message);
}

void Waiter::waitForRoom(StopCheck shouldStop) {
  for (const std::unique_ptr<Device> &each : devices.getMade())
    if (!each->getQueue().waitForRoom(shouldStop))
      stop();
}

bool Waiter::drain(StopCheck shouldStop) {
  return llvm::all_of(devices.getMade(), [&](const auto &each) {
    return each->getQueue().drain(shouldStop);
  });
}

void Waiter::drainInside() {
  if (!drain(getStopCheck()))
    stop();
}
