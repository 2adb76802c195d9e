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
#include "MetaOps/Dialect/MetaOp/Analysis/CountFlops.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpOps.h"
#include "MetaOps/Runtime/Trace/ControlFlow.h"

#include "Bindings.h"
#include "Callable.h"
#include "Function.h"
#include "llvm/ADT/MapVector.h"

using namespace metaops;
using namespace metaops::python;

/// Counts the operations on floats of an operation, those of a loop for each
/// trip. One whose number nobody knows counts as one trip.
static int64_t countFlops(mlir::Operation &op) {
  if (op.getNumRegions() == 0)
    return mlir::metaop::countFlops(&op).value_or(0);
  auto scan = llvm::dyn_cast<mlir::metaop::ScanOp>(op);
  int64_t trips = scan ? int64_t(scan.getTrips().value_or(1)) : 1, total = 0;
  for (mlir::Region &region : op.getRegions())
    for (mlir::Operation &inner : region.getOps())
      total += trips * countFlops(inner);
  return total;
}

/// The trace that this thread records in, and those around it.
static thread_local std::vector<std::shared_ptr<Trace>> traces;

Trace *metaops::python::getTrace() {
  return traces.empty() ? nullptr : traces.back().get();
}

void metaops::python::keepInTraces(
    const std::shared_ptr<const RecordedFunction> &function) {
  for (const std::shared_ptr<Trace> &trace : traces)
    if (trace)
      trace->keep(function);
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
  /// Behind its values it has what is kept for the gradient. Without results,
  /// it has no function.
  RecordedBody body;
  /// Which values those that a caller has to know are: the results, what these
  /// were before, and what is rebound to. A value may be several.
  std::vector<size_t> places;
  /// By result, how many values it had before.
  std::vector<size_t> numFormer;
  struct Rebound {
    Var *var;
    size_t numValues;
    bool isUpdate;
  };
  std::vector<Rebound> rebound;
  /// Pairs of values the first of which repeats the other one (Node::repeated).
  std::vector<std::pair<size_t, size_t>> repeated;
  size_t numKept = 0;
  /// Keep the Vars that are rebound.
  std::vector<py::object> owners;

  /// Returns the results, of the session that is entered, and rebinds.
  std::vector<Var> record() const {
    std::vector<Var> results;
    if (!body.function)
      return results;
    Entered entered;
    std::vector<Var> made = recordCheckpoint(*entered, body, numKept);
    Graph &graph = entered->getRecorder().getGraph();
    for (auto [value, earlier] : repeated)
      graph.setRepeated(made[value].getNode(), made[earlier].getNode());
    for (size_t place : places)
      results.push_back(entered->wrap(made[place].getNode()));
    llvm::MutableArrayRef<Var> values(results);
    values = values.drop_front(numFormer.size());
    for (auto [number, count] : llvm::enumerate(numFormer)) {
      for (const Var &former : values.take_front(count))
        entered->addFormer(results[number], former.getNode());
      values = values.drop_front(count);
    }
    for (const Rebound &each : rebound) {
      rebind(*entered, each, values.take_front(each.numValues));
      values = values.drop_front(each.numValues);
    }
    results.resize(numFormer.size());
    return results;
  }

  /// Notes places of the Vars' values, and returns a Var of each value.
  std::vector<const Var *> merge(RecordingSession &session,
                                 llvm::ArrayRef<const Var *> vars) {
    llvm::MapVector<Node *, const Var *> merged;
    for (const Var *var : vars) {
      auto [found, isNew] = merged.try_emplace(session.getNode(*var), var);
      places.push_back(found - merged.begin());
    }
    for (auto [number, node] : llvm::enumerate(llvm::make_first_range(merged)))
      if (node->getRepeated())
        if (auto *found = merged.find(node->getRepeated()->value.get());
            found != merged.end())
          repeated.emplace_back(number, found - merged.begin());
    auto kept = llvm::make_second_range(merged);
    return {kept.begin(), kept.end()};
  }

private:
  /// Rebinds a Var to the last of its values. A gradient may be by another one.
  static void rebind(RecordingSession &session, const Rebound &each,
                     llvm::ArrayRef<Var> values) {
    llvm::ArrayRef<Var> former = values.drop_back(each.isUpdate ? 0 : 1);
    auto rebindTo = [&](const Var &value) {
      if (each.isUpdate)
        session.update(*each.var, value);
      else
        session.assign(*each.var, session.getNode(value));
    };
    // A function that is recorded does in its calls all that it does.
    if (python::getTrace())
      for (const Var &value : former)
        session.assign(*each.var, session.getNode(value));
    rebindTo(values.back());
    if (!python::getTrace())
      for (const Var &value : former)
        session.addFormer(*each.var, session.getNode(value));
    if (each.isUpdate)
      session.getRecorder().getGraph().setRepeated(
          session.getNode(*each.var), session.getNode(values.back()));
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

  /// Counts the operations on floats of all that has been recorded, of which
  /// that before the last one counted is known.
  int64_t countFlops() {
    Entered entered(*trace);
    mlir::Block &block = entered->getRecorder().getGraph().getBlock();
    mlir::Block::iterator first = block.end();
    while (first != block.begin() && &*std::prev(first) != lastCounted)
      --first;
    // It may have been erased since.
    if (first == block.begin())
      numFlops = 0;
    for (mlir::Operation &op : llvm::make_range(first, block.end()))
      numFlops += ::countFlops(op);
    lastCounted = block.empty() ? nullptr : &block.back();
    return numFlops;
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

  /// Returns the function without tangents, that of the tangents, how many
  /// values that takes of the other one, and the captured Vars.
  py::tuple finishLinear(py::handle outputs, py::handle moved,
                         size_t firstTangent) {
    auto values = std::make_unique<Callable>(),
         tangents = std::make_unique<Callable>();
    py::list ownerOfOutputs, ownerOfMoved;
    std::vector<const Var *> ofValues = toVars(outputs, ownerOfOutputs),
                             ofTangents = toVars(moved, ownerOfMoved);
    Trace::Linearized parts;
    {
      Entered entered(*trace);
      parts = trace->finishLinear(ofValues, ofTangents, firstTangent);
    }
    values->function = std::move(parts.values);
    tangents->function = std::move(parts.tangents);
    RecordedBody body;
    addCaptured(body);
    close();
    return py::make_tuple(std::move(values), std::move(tangents),
                          parts.numResiduals, toList(std::move(body.captured)));
  }

  /// Returns what a checkpoint is made of, with what it rebinds.
  std::unique_ptr<RecordedCheckpoint> finishCheckpoint(py::handle outputs,
                                                       py::handle given) {
    auto made = std::make_unique<RecordedCheckpoint>();
    made->numKept = py::len(given);
    made->owners = captured;
    py::list owner, ownerOfKept;
    std::vector<const Var *> vars, kept;
    if (py::len(outputs) > 0)
      vars = toVars(outputs, owner);
    if (made->numKept > 0)
      kept = toVars(given, ownerOfKept);
    std::vector<Trace::Rebound> rebound;
    std::vector<Var> former;
    {
      Entered entered(*trace);
      rebound = trace->getRebound();
      for (const Var *var : vars) {
        std::vector<Var> values = trace->getFormer(*var);
        made->numFormer.push_back(values.size());
        std::move(values.begin(), values.end(), std::back_inserter(former));
      }
    }
    for (const Var &value : former)
      vars.push_back(&value);
    for (const Trace::Rebound &each : rebound) {
      made->rebound.push_back({each.var, each.values.size(), each.isUpdate});
      for (const Var &value : each.values)
        vars.push_back(&value);
    }
    if (vars.empty() && kept.empty()) {
      close();
      return made;
    }
    {
      Entered entered(*trace);
      vars = made->merge(*entered, vars);
      llvm::append_range(vars, kept);
      made->body.function = trace->finish(vars);
    }
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
  /// The last operation that was counted, and the sum up to it.
  const mlir::Operation *lastCounted = nullptr;
  int64_t numFlops = 0;
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
      module, "begin_body(like, rows)",
      [](py::handle like, py::handle rows) {
        return std::make_unique<Recording>(like, Trace::Kind::Body,
                                           toFlags(rows));
      },
      "Returns a trace of a branch, or of a part of a loop. It is given a row\n"
      "of each Var for which `rows` says so, and the others as they are.");
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
      recording, "finish_linear(self, outputs, moved, first_tangent)",
      [](Recording &self, py::handle outputs, py::handle moved,
         int64_t firstTangent) {
        return self.finishLinear(outputs, moved, firstTangent);
      },
      "Returns two functions: one of the arguments and captured Vars, with\n"
      "the outputs and what the tangents are made of for results; and one of\n"
      "this and the arguments from a tangent on. Then the number of these\n"
      "values, and the captured Vars.");
  define(
      recording, "finish_checkpoint(self, outputs, kept)",
      [](Recording &self, py::handle outputs, py::handle kept) {
        return self.finishCheckpoint(outputs, kept);
      },
      "Returns what has been recorded as a checkpoint to be, with what it has\n"
      "captured and rebinds, and what its gradient does not compute again. "
      "Where the trace was begun is entered.");
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
      recording, "count_flops(self)",
      [](Recording &self) { return self.countFlops(); },
      "Returns the number of operations on floats that have been recorded,\n"
      "those of loops as often as they are known to run.");
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
