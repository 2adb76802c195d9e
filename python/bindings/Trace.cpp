//===- Trace.cpp - Functions that are recorded once -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that has entered a trace records in it, and other threads record
// where they did.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/Trace.h"
#include "MetaOps/Runtime/Trace/ControlFlow.h"

#include "Bindings.h"
#include "Callable.h"
#include "Function.h"

using namespace metaops;
using namespace metaops::python;

/// The trace that this thread records in, and those around it.
static thread_local std::vector<std::shared_ptr<Trace>> traces;

Trace *metaops::python::getTrace() {
  return traces.empty() ? nullptr : traces.back().get();
}

namespace {
/// Has this thread record in a trace, which is then closed.
class TraceScope {
public:
  explicit TraceScope(std::shared_ptr<Trace> trace) {
    traces.push_back(std::move(trace));
  }
  ~TraceScope() { traces.pop_back(); }
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;
};

/// The parts of a checkpoint.
struct RecordedCheckpoint {
  /// Its last results are what is rebound. Without results, it has no function.
  RecordedBody body;
  std::vector<Trace::Rebound> rebound;
  /// Keep the Vars that are rebound.
  std::vector<py::object> owners;

  /// Returns the other results, of the session that is entered, and rebinds.
  std::vector<Var> record() const {
    std::vector<Var> results;
    if (!body.function)
      return results;
    Entered entered;
    results = recordCheckpoint(*entered, body);
    for (const Trace::Rebound &each : llvm::reverse(rebound)) {
      Node *value = entered->getNode(results.back());
      if (each.isUpdate)
        entered->update(*each.var, value);
      else
        entered->assign(*each.var, value);
      results.pop_back();
    }
    return results;
  }
};

/// A trace as Python holds it, with the objects that it needs: the Vars that
/// stand for its arguments, and those from outside that it has captured.
class Recording {
public:
  /// `rows` says of which arguments the function is given rows; of none, if it
  /// is empty.
  Recording(py::handle like, Trace::Kind kind, llvm::SmallBitVector rows = {}) {
    std::vector<Var *> given = toArguments(like);
    rows.resize(given.size());
    // A body may be in a function that is recorded.
    std::shared_ptr<RecordingSession> host = getSharedSession();
    if (kind != Trace::Kind::Function && python::getTrace())
      host = traces.back();
    {
      Entered entered(*host);
      trace = std::make_shared<Trace>(host, kind);
    }
    std::vector<Var> made;
    {
      Entered entered(*trace);
      for (auto [number, var] : llvm::enumerate(given))
        made.push_back(trace->addArgument(*var, rows.test(number)));
    }
    sources = py::reinterpret_borrow<py::list>(like);
    for (Var &var : made)
      arguments.append(py::cast(std::move(var)));
    // An argument of a body is the value of a trip, and no Var outside is.
    std::vector<const Var *> known;
    if (kind == Trace::Kind::Function)
      known.assign(given.begin(), given.end());
    trace->setArguments(toArguments(arguments), known);
    trace->onCapture = [this](Var &var) { keep(var); };
  }

  ~Recording() { close(); }
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;

  const std::shared_ptr<Trace> &getTrace() const { return trace; }
  const py::list &getArguments() const { return arguments; }

  /// Returns the captured Vars.
  py::list getCaptured() const {
    py::list result;
    for (const py::object &object : captured)
      result.append(object);
    return result;
  }

  Var addNumber(py::handle dtype) {
    DType type = toDType(dtype);
    Entered entered(*trace);
    return trace->addNumber(type);
  }

  std::unique_ptr<Callable> finish(py::handle outputs) {
    auto made = std::make_unique<Callable>();
    made->function = finishFunction(outputs);
    close();
    return made;
  }

  std::unique_ptr<RecordedBody> finishBody(py::handle outputs) {
    auto body = std::make_unique<RecordedBody>();
    body->function = finishFunction(outputs);
    addCaptured(*body);
    close();
    return body;
  }

  /// Returns what a checkpoint is made of, with what it rebinds.
  std::unique_ptr<RecordedCheckpoint> finishCheckpoint(py::handle outputs) {
    auto made = std::make_unique<RecordedCheckpoint>();
    made->rebound = trace->getRebound();
    made->owners = captured;
    py::list owner;
    std::vector<const Var *> vars;
    if (py::len(outputs) > 0)
      vars = toVars(outputs, owner);
    for (const Trace::Rebound &each : made->rebound)
      vars.push_back(each.standIn);
    if (!vars.empty()) {
      Entered entered(*trace);
      made->body.function = trace->finish(vars);
    }
    if (!vars.empty())
      addCaptured(made->body);
    close();
    return made;
  }

  /// Lets go of all Vars of Python.
  void close() {
    if (!isOpen)
      return;
    isOpen = false;
    trace->close();
    releaseDropped();
    arguments = py::list();
    sources = py::list();
    captured.clear();
  }

private:
  /// Adds the captured Vars as they are now.
  void addCaptured(RecordedBody &body) {
    Entered entered;
    for (const Var *var : trace->getCaptured())
      body.captured.push_back(entered->wrap(entered->getNode(*var)));
  }

  std::shared_ptr<const RecordedFunction> finishFunction(py::handle outputs) {
    py::list owner;
    std::vector<const Var *> vars;
    if (!outputs.is_none() && py::len(outputs) > 0)
      vars = toVars(outputs, owner);
    Entered entered(*trace);
    return trace->finish(vars);
  }

  /// Called with the session entered: makes no Python object.
  void keep(Var &var) {
    py::handle object = py::detail::get_object_handle(
        &var, py::detail::get_type_info(typeid(Var)));
    if (object)
      captured.push_back(py::reinterpret_borrow<py::object>(object));
  }

  std::shared_ptr<Trace> trace;
  bool isOpen = true;
  py::list arguments, sources;
  std::vector<py::object> captured;
};
} // namespace

/// Calls the function with a list of Vars like the given ones, which have no
/// values, and returns what it has done with them.
static std::unique_ptr<Callable> recordFunction(py::handle function,
                                                py::handle like) {
  Recording recording(like, Trace::Kind::Function);
  {
    TraceScope scope(recording.getTrace());
    function(recording.getArguments());
  }
  if (!recording.getTrace()->getCaptured().empty())
    fail(ErrorKind::Runtime,
         "a function that is recorded once uses a Var that is none of its "
         "arguments; give it to the function as an argument");
  std::unique_ptr<Callable> recorded = recording.finish(py::none());
  if (!recorded->function->getConstants().empty())
    fail(ErrorKind::Runtime,
         "a function that is recorded once makes an array a value, which would "
         "stay as it is; make it before, and give it to the function as an "
         "argument");
  return recorded;
}

static void bindRecording(py::module_ &module) {
  py::class_<Recording> recording(
      module, "Trace", "What a function does, while it is recorded.");
  forbidConstruction(recording);
  define(
      module, "begin_trace(like)",
      [](py::handle like) {
        return std::make_unique<Recording>(like, Trace::Kind::Function);
      },
      "Returns a trace of a function of Vars like the given ones.");
  define(
      module, "begin_body(like)",
      [](py::handle like) {
        return std::make_unique<Recording>(like, Trace::Kind::Body);
      },
      "Returns a trace of a branch, or of a part of a loop.");
  define(
      module, "begin_checkpoint()",
      [] {
        return std::make_unique<Recording>(py::list(), Trace::Kind::Checkpoint);
      },
      "Returns a trace of a part whose gradient records it again.");
  define(
      module, "begin_example(like, rows)",
      [](py::handle like, py::handle rows) {
        return std::make_unique<Recording>(like, Trace::Kind::Example,
                                           toFlags(rows));
      },
      "Returns a trace of a function of one example. It is given a row of "
      "each\n"
      "Var for which `rows` says so, and the others as they are.");
  defineProperty(
      recording, "arguments",
      [](const Recording &self) { return self.getArguments(); },
      "The Vars that stand for the arguments. They have no values.");
  define(
      recording, "__enter__(self)",
      [](py::object self) {
        traces.push_back(self.cast<Recording &>().getTrace());
        return self;
      },
      "Has this thread record in the trace.");
  define(
      recording, "__exit__(self, *error)",
      [](const Recording &, const py::tuple &) { traces.pop_back(); },
      "Has this thread record where it did before.");
  define(
      recording, "number(self, dtype)",
      [](Recording &self, py::handle dtype) { return self.addNumber(dtype); },
      "Returns a 0-d Var for a number that each call is given anew.");
  define(
      recording, "captured(self)",
      [](const Recording &self) { return self.getCaptured(); },
      "Returns the Vars from outside that were used, in the order of their\n"
      "first use.");
  define(
      recording, "aliases(self)",
      [](const Recording &self) {
        py::list numbers;
        for (unsigned number : self.getTrace()->getMet())
          numbers.append(number);
        return numbers;
      },
      "Returns the numbers of the arguments whose Vars were used from\n"
      "outside, too: both are one variable.");
  define(
      recording, "finish(self, outputs)",
      [](Recording &self, py::handle outputs) { return self.finish(outputs); },
      "Returns the function that has been recorded, whose results are the\n"
      "given Vars. Its calls take arguments, captured Vars, and numbers.");
  define(
      recording, "finish_body(self, outputs)",
      [](Recording &self, py::handle outputs) {
        return self.finishBody(outputs);
      },
      "Returns what has been recorded as a region to be, with what it has\n"
      "captured. Where the trace was begun is entered.");
  define(
      recording, "finish_checkpoint(self, outputs)",
      [](Recording &self, py::handle outputs) {
        return self.finishCheckpoint(outputs);
      },
      "Returns what has been recorded as a checkpoint to be, with what it has\n"
      "captured and rebinds. Where the trace was begun is entered.");
  define(
      recording, "close(self)", [](Recording &self) { self.close(); },
      "Lets go of the Vars of a trace that is not finished.");
  define(
      recording, "held_lines(self)",
      [](Recording &self) {
        std::vector<std::string> lines;
        {
          Entered entered(*self.getTrace());
          lines = self.getTrace()->findHeld();
        }
        return strings(lines);
      },
      "Returns the lines of values that Vars still hold.");
  define(
      recording, "owns(self, x)",
      [](const Recording &self, const Var &x) {
        return x.getSession() == self.getTrace();
      },
      "Returns whether a Var is one of the trace.");
}

static void bindCheckpoint(py::module_ &module) {
  py::class_<RecordedCheckpoint> checkpoint(
      module, "Checkpoint", "A part whose gradient computes it again.");
  forbidConstruction(checkpoint);
  define(
      checkpoint, "record(self)",
      [](const RecordedCheckpoint &self) { return toList(self.record()); },
      "Records it, rebinds what is rebound inside, and returns the results.");
}

void metaops::python::bindTrace(py::module_ &module) {
  bindRecording(module);
  bindCheckpoint(module);
  define(
      module, "enter_session()", [] { traces.push_back(nullptr); },
      "Has this thread record on the session, and in no trace.");
  define(
      module, "leave_session()", [] { traces.pop_back(); },
      "Has this thread record where it did before.");
  define(
      module, "is_tracing()", [] { return getTrace() != nullptr; },
      "Returns whether this thread records a function.");
  define(module, "record_function(function, like)", &recordFunction,
         "Returns what a function does with a list of Vars like the given\n"
         "ones, some of which it updates.");
  define(
      module, "is_recorded(x)",
      [](const Var &x) { return x.getSession() != getSharedSession(); },
      "Returns whether the value is of a function that is, or was, recorded.");
}
