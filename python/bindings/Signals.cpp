//===- Signals.cpp - Ctrl-C while C++ code runs ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signals.h"

#include "MetaOps/Runtime/Queue/Queue.h"

#include <chrono>

using namespace metaops;
using namespace metaops::python;
namespace py = pybind11;

using Clock = std::chrono::steady_clock;

static unsigned long mainThread = 0;
/// These belong to the main thread.
static bool hasFoundInterrupt = false;
static Clock::time_point lastLook;

static bool isMainThread() { return PyThread_get_thread_ident() == mainThread; }

void metaops::python::initSignals() {
  mainThread = py::module_::import("threading")
                   .attr("main_thread")()
                   .attr("ident")
                   .cast<unsigned long>();
}

bool metaops::python::isInterruptPending() {
  if (!isMainThread())
    return false;
  Clock::time_point now = Clock::now();
  if (hasFoundInterrupt || now - lastLook < Queue::kAskingPeriod)
    return hasFoundInterrupt;
  lastLook = now;
  py::gil_scoped_acquire acquire;
  // Asking takes the signal away; it is put back.
  if (PyOS_InterruptOccurred()) {
    PyErr_SetInterrupt();
    hasFoundInterrupt = true;
  }
  return hasFoundInterrupt;
}

void metaops::python::callSignalHandlers() {
  if (isMainThread())
    hasFoundInterrupt = false;
  if (PyErr_CheckSignals() < 0)
    throw py::error_already_set();
}

bool SignalWatch::operator()() {
  if (error || !isMainThread())
    return error.has_value();
  py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() < 0)
    error.emplace();
  return error.has_value();
}

void SignalWatch::raise() {
  if (error)
    throw *std::exchange(error, std::nullopt);
}
