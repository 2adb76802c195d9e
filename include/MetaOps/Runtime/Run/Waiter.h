//===- Waiter.h - Waiting for runs, or stopping them ------------*- C++ -*-===//
//-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_WAITER_H
#define METAOPS_RUNTIME_RUN_WAITER_H

#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/Graph/TensorData.h"
#include "MetaOps/Runtime/Plan/SuspendedRuns.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "MetaOps/Runtime/Threads/StopCheck.h"

#include <functional>
#include <memory>
#include <utility>

namespace metaops {

/// Waits for what is in the queues of devices, and tells of runs that have
/// failed. Session.h says what each function throws.
class Waiter {
public:
  Waiter(Devices &devices, const SuspendedRuns &suspended)
      : devices(devices), suspended(suspended) {}

  // From any thread, without the session's scope
  void wait(const Tickets &tickets, StopCheck shouldStop);
  void wait(const TensorData &data, StopCheck shouldStop);
  void waitForRoom(StopCheck shouldStop);
  bool drain(StopCheck shouldStop);
  void cancel();
  void throwFailure();
  /// A run has failed.
  void note(const Queue &queue, std::shared_ptr<const RunFailure> failure) {
    failures.add(queue, std::move(failure));
  }

  // In the session's scope: the caller's question is asked.
  void setStopCheck(std::function<bool()> check) {
    stopCheck = std::move(check);
  }
  StopCheck getStopCheck() {
    return stopCheck ? StopCheck(stopCheck) : StopCheck();
  }
  void waitInside(const Tickets &tickets) { wait(tickets, getStopCheck()); }
  void drainInside();

private:
  [[noreturn]] void stop();

  Devices &devices;
  const SuspendedRuns &suspended;
  FailureNotes failures;
  std::function<bool()> stopCheck;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_WAITER_H
