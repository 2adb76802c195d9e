//===- Fetch.cpp - Callbacks with values ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread of the Python package calls the callbacks: it asks for the next
// fetch whose values are computed, and says when the callback has returned. So
// a callback may do what any Python code may, computing included, while the
// queue runs on.
//
//===----------------------------------------------------------------------===//

#include "Function.h"

#include <condition_variable>
#include <deque>
#include <thread>
#include <unordered_map>

using namespace metaops;
using namespace metaops::python;

namespace {
/// Fetches on their way to their callbacks, in order.
class Delivery {
public:
  void add(std::vector<CompletedFetch> fetches) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      undelivered += fetches.size();
      for (CompletedFetch &fetch : fetches)
        waiting.push_back(std::move(fetch));
    }
    changed.notify_all();
  }

  /// The next one, when there is one; nothing after `stop`.
  std::optional<CompletedFetch> next() {
    std::unique_lock<std::mutex> lock(mutex);
    receiver = std::this_thread::get_id();
    changed.wait(lock, [&] { return isStopped || !waiting.empty(); });
    if (waiting.empty())
      return std::nullopt;
    CompletedFetch fetch = std::move(waiting.front());
    waiting.pop_front();
    return fetch;
  }

  /// The callback of the last `next` has returned.
  void finish() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      --undelivered;
    }
    changed.notify_all();
  }

  void drain(StopCheck shouldStop) {
    std::unique_lock<std::mutex> lock(mutex);
    // A callback cannot wait for itself, and nobody for what comes after the
    // end.
    if (std::this_thread::get_id() == receiver)
      return;
    while (undelivered > 0 && !isStopped) {
      changed.wait_for(lock, Queue::kAskingPeriod);
      lock.unlock();
      bool stops = shouldStop();
      lock.lock();
      if (stops)
        return;
    }
  }

  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isStopped = true;
    }
    changed.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<CompletedFetch> waiting;
  size_t undelivered = 0;
  bool isStopped = false;
  std::thread::id receiver;
};

struct State {
  Delivery delivery;
  // These are used with the GIL held.
  std::unordered_map<uint64_t, py::function> callbacks;
  /// An exception of the first callback that nobody was told of.
  py::object failure;
};
} // namespace

static State &getState() {
  static auto *state = new State;
  return *state;
}

void metaops::python::deliver(std::vector<CompletedFetch> fetches) {
  if (!fetches.empty())
    getState().delivery.add(std::move(fetches));
}

void metaops::python::waitForCallbacks() {
  State &state = getState();
  SignalWatch watch;
  {
    ReleasedGIL release;
    state.delivery.drain(watch);
  }
  watch.raise();
  raiseCallbackFailure();
}

void metaops::python::raiseCallbackFailure() {
  State &state = getState();
  if (!state.failure)
    return;
  py::object failure = std::exchange(state.failure, py::object());
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(failure.ptr())),
                  failure.ptr());
  throw py::error_already_set();
}

static void fetchVars(const py::tuple &args) {
  if (args.size() == 0 || !PyCallable_Check(args[args.size() - 1].ptr()))
    fail(ErrorKind::Type,
         "fetch: the last argument has to be the callback to call");
  py::list owner;
  std::vector<const Var *> vars;
  for (size_t index = 0; index + 1 < args.size(); ++index)
    vars = toVars(args[index], owner);
  auto callback = py::reinterpret_borrow<py::function>(args[args.size() - 1]);
  EnteredSession session;
  uint64_t id = session->fetch(vars);
  getState().callbacks.emplace(id, std::move(callback));
  deliver(session->takeCompletedFetches());
}

/// A callback has returned, or thrown `failure`.
static void finishCallback(py::handle failure) {
  State &state = getState();
  if (!failure.is_none() && !state.failure)
    state.failure = py::reinterpret_borrow<py::object>(failure);
  state.delivery.finish();
}

/// Returns when the values are there; false if their runs were stopped. Then
/// the fetch comes back when these are started again.
static bool waitForValues(CompletedFetch &fetch) {
  Session &session = getSession();
  for (;;) {
    for (const TensorData &value : fetch.values)
      value.ready.wait();
    if (llvm::none_of(fetch.values, [&](const TensorData &value) {
          return session.wasStopped(value);
        }))
      return true;
    if (!session.refresh(fetch))
      return false;
  }
}

/// The next callback and the arrays to call it with, or None when there will
/// be no more.
static py::object receive() {
  State &state = getState();
  for (;;) {
    std::optional<CompletedFetch> fetch;
    bool isComputed = true, isThere = true;
    {
      ReleasedGIL release;
      fetch = state.delivery.next();
      if (!fetch)
        break;
      isThere = waitForValues(*fetch);
      for (const TensorData &value : fetch->values)
        isComputed &= !value.buffer->failure;
    }
    if (!isThere) {
      state.delivery.finish();
      continue;
    }
    auto found = state.callbacks.extract(fetch->id);
    if (!isComputed || found.empty()) {
      // The next sync tells of the failed run.
      state.delivery.finish();
      continue;
    }
    try {
      py::tuple arrays(fetch->values.size());
      for (auto [index, value] : llvm::enumerate(fetch->values))
        arrays[index] = toNumPy(value, /*copy=*/true);
      return py::make_tuple(std::move(found.mapped()), std::move(arrays));
    } catch (py::error_already_set &error) {
      // NumPy has no memory. That is told as what the callback throws.
      finishCallback(error.value());
    }
  }
  return py::none();
}

/// Waits for all runs that are on their way: the memory that a child sees is to
/// be whole. Callbacks may go on, and wait for the thread that forks. Ctrl-C
/// stops the runs; its handler is called afterwards.
static void drainQueue() {
  if (!hasSession() || isSessionInherited())
    return;
  ReleasedGIL release;
  Session &session = getSession();
  if (!session.drain(&isInterruptPending))
    session.cancel();
  session.drain();
}

/// Waits for all runs and callbacks that are on their way; no callback is
/// called afterwards, and the thread that calls them ends.
static void stopDelivery() {
  if (isSessionInherited())
    return;
  drainQueue();
  {
    ReleasedGIL release;
    getState().delivery.drain(&isInterruptPending);
  }
  getState().delivery.stop();
}

/// Keeps all other threads out from now on. Returns the message of a failure
/// that nobody was told of.
static py::object shutDown() {
  if (isSessionInherited())
    return py::none();
  stopOtherThreads();
  try {
    if (hasSession())
      getSession().throwFailure();
  } catch (const SessionError &error) {
    return py::str(error.what());
  }
  if (getState().failure)
    return py::repr(std::exchange(getState().failure, py::object()));
  return py::none();
}

void metaops::python::bindFetch(py::module_ &module) {
  define(module, "fetch(*args)", &fetchVars);
  define(module, "receive()", &receive);
  define(module, "finish_callback(failure)", &finishCallback);
  define(module, "drain_queue()", &drainQueue);
  define(module, "stop_delivery()", &stopDelivery);
  define(module, "shut_down()", &shutDown);
}
