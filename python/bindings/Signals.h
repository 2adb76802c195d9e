//===- Signals.h - Ctrl-C while C++ code runs -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python calls the handlers of signals on its main thread, between two of its
// instructions. A thread that is long in C++ code has to look itself.
//
// Handlers are Python code, which may use the session. So they are called only
// where it is not entered (SignalWatch). Inside of it, Ctrl-C is looked for but
// left where it is (isInterruptPending): the call is stopped, leaves the
// session, has the handler called, and is made again if that has not raised.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_SIGNALS_H
#define METAOPS_PYTHON_BINDINGS_SIGNALS_H

#include <optional>
#include <pybind11/pybind11.h>

namespace metaops::python {

/// Returns whether Ctrl-C waits for its handler. To be asked often, on any
/// thread, with or without the GIL: it looks every 50 ms. Once true it stays
/// that.
bool isInterruptPending();

/// Calls the handlers of signals that have arrived, and throws what they raise.
/// With the GIL held and the session not entered.
void callSignalHandlers();

/// A StopCheck for a thread that waits outside of the session, without the GIL:
/// calls the handlers, and stops where one raises.
class SignalWatch {
public:
  bool operator()();
  /// Throws what a handler has raised, if one has. With the GIL held.
  void raise();

private:
  std::optional<pybind11::error_already_set> error;
};

/// Finds out which thread is Python's main one.
void initSignals();

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_SIGNALS_H
