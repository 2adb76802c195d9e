//===- Callable.cpp - Recorded functions as Python calls them -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Callable.h"

#include "Bindings.h"
#include "Function.h"
#include "MetaOps/Runtime/Trace/Trace.h"

using namespace metaops;
using namespace metaops::python;

std::vector<Var *> metaops::python::toArguments(py::handle object) {
  std::vector<Var *> arguments;
  for (py::handle argument : py::reinterpret_borrow<py::list>(object)) {
    Var *var = asVar(argument);
    if (!var)
      fail(ErrorKind::Type, "a recorded function is given " +
                                describe(argument) + ", expected Vars");
    arguments.push_back(var);
  }
  return arguments;
}

namespace {
/// A call of a recorded function.
struct Call {
  std::shared_ptr<const RecordedFunction> function;
  std::vector<Var *> arguments;

  bool isTaken() const { return function->takes(arguments); }
};
} // namespace

/// Replays functions of Vars, which the lists keep. Returns false, and does
/// nothing, where one does not take its arguments.
static bool replay(py::handle functions, py::handle arguments) {
  std::vector<Call> calls;
  for (py::handle function : py::reinterpret_borrow<py::list>(functions))
    calls.push_back({function.cast<Callable &>().function, {}});
  auto lists = py::reinterpret_borrow<py::list>(arguments);
  if (lists.size() != calls.size())
    fail(ErrorKind::Value, "replay: " + llvm::Twine(calls.size()) +
                               " functions and " + llvm::Twine(lists.size()) +
                               " lists of arguments given");
  for (auto [call, list] : llvm::zip_equal(calls, lists))
    call.arguments = toArguments(list);
  if (!llvm::all_of(calls, [](const Call &call) { return call.isTaken(); }))
    return false;
  if (getTrace()) {
    for (const Call &call : calls)
      keepInTraces(call.function);
    Entered trace;
    for (const Call &call : calls)
      call.function->replay(*trace, call.arguments);
    return true;
  }
  bool isBegun = false;
  return runWithoutGIL([&](Session &session) {
    // Each operator is run by itself there.
    if (!session.isLazy())
      return false;
    if (isBegun)
      fail(ErrorKind::Runtime, "recorded functions were interrupted");
    // Updates may run the ones before them. Ctrl-C may stop that, and this is
    // called again; what follows runs nothing then.
    std::vector<const Var *> updated;
    for (const Call &call : calls)
      for (unsigned argument : call.function->getRebound())
        updated.push_back(call.arguments[argument]);
    session.prepareUpdates(updated);
    isBegun = true;
    for (const Call &call : calls)
      call.function->replay(session, call.arguments);
    return true;
  });
}

namespace {
/// The input of a call, as Python has it: Vars, numbers and
/// steps.
struct GivenCall {
  GivenCall(std::vector<Var *> arguments, py::handle givenNumbers,
            py::handle givenSteps)
      : arguments(std::move(arguments)),
        numbers(toNumbers(givenNumbers, "a number of a call")) {
    using Step = std::tuple<py::object, unsigned, unsigned, unsigned>;
    for (py::handle item : py::reinterpret_borrow<py::list>(givenSteps)) {
      auto [outcome, first, count, numInType] = item.cast<Step>();
      steps.push_back(
          {outcome.cast<StepOutcomeRef>(), first, count, numInType});
    }
  }

  bool isTakenBy(const RecordedFunction &function) const {
    return function.takes(arguments, numbers);
  }

  std::vector<Var *> arguments;
  std::vector<Number> numbers;
  std::vector<StepOfCall> steps;
};
} // namespace

/// Calls a function by `work`, whose results are there when the call is
/// recorded. Notes whether it counts: its updates are launched or pending.
/// Those of a program that could not be launched are neither.
static std::optional<std::vector<Var>>
callInSession(Callable &self, const GivenCall &given,
              llvm::function_ref<void(Session &, const CallRequest &,
                                      std::optional<std::vector<Var>> &)>
                  work) {
  CallRequest request{*self.function, given.arguments, given.numbers,
                      given.steps, self.donated};
  std::optional<std::vector<Var>> results;
  try {
    runWithoutGIL([&](Session &session) {
      // A call that Ctrl-C has stopped behind its recording or its launch, and
      // its handler lets go on, has been made.
      if (!results)
        work(session, request, results);
      if (results)
        session.finishCall();
      return 0;
    });
  } catch (const SessionError &) {
    self.counts = results && EnteredSession()->hasUpdates();
    throw;
  } catch (...) {
    // The handler of a signal has raised it while the call was waited for.
    self.counts = results.has_value();
    throw;
  }
  self.counts = results.has_value();
  return results;
}

/// Records a call in the trace of this thread.
static std::vector<Var>
callInTrace(const std::shared_ptr<const RecordedFunction> &recorded,
            const GivenCall &given) {
  const RecordedFunction &function = *recorded;
  keepInTraces(recorded);
  Entered trace;
  std::vector<Var> numbers = function.makeNumbers(*trace, given.numbers);
  std::vector<Var *> arguments = given.arguments;
  for (Var &number : numbers)
    arguments.push_back(&number);
  return function.replay(*trace, arguments, RecordedFunction::Mode::Call);
}

/// Calls a function where this thread records, and returns its results.
static py::list call(Callable &self, py::handle arguments, py::handle numbers,
                     py::handle steps) {
  self.counts = false;
  GivenCall given(toArguments(arguments), numbers, steps);
  if (!given.isTakenBy(*self.function))
    fail(ErrorKind::Value,
         "a recorded function is given Vars of other shapes or types than it "
         "was recorded of");
  if (getTrace())
    return toList(callInTrace(self.function, given));
  return toList(*callInSession(
      self, given,
      [&](Session &session, const CallRequest &request, auto &results) {
        session.call(request, self.repeated, results);
      }));
}

/// Calls a function of Vars in memory where nothing else would be in its
/// program. Returns false, and calls nothing, where that cannot be.
static bool callAlone(Callable &self, py::handle arguments, py::handle numbers,
                      py::handle steps) {
  self.counts = false;
  auto list = py::reinterpret_borrow<py::list>(arguments);
  if (!llvm::all_of(list, [](py::handle item) { return asVar(item); }))
    return false;
  GivenCall given(toArguments(arguments), numbers, steps);
  return given.isTakenBy(*self.function) &&
         callInSession(
             self, given,
             [&](Session &session, const CallRequest &request, auto &results) {
               session.callAlone(request, self.repeated, results);
             })
             .has_value();
}

/// Records what a function does of other arguments, which it rebinds none of.
/// Returns the results, or None where it does not take them.
static py::object recordCall(const Callable &self, py::handle arguments) {
  std::vector<Var *> given = toArguments(arguments);
  if (!self.function->takes(given))
    return py::none();
  keepInTraces(self.function);
  Entered session;
  return toList(self.function->replay(*session, given));
}

void metaops::python::bindCallable(py::module_ &module) {
  py::class_<Callable> function(
      module, "RecordedFunction",
      "A function of Vars that updates some of them, recorded once.");
  forbidConstruction(function);
  define(
      function, "num_operations(self)",
      [](const Callable &self) { return self.function->getNumOperations(); },
      "Returns how many operations a call records.");
  define(
      function, "takes(self, arguments)",
      [](const Callable &self, py::handle arguments) {
        return self.function->takes(toArguments(arguments));
      },
      "Returns whether the arguments are of the types that it was recorded\n"
      "of.");
  define(
      function, "call(self, arguments, numbers, steps)", &call,
      "Calls the function with Vars for arguments and captured Vars, and with\n"
      "numbers, and rebinds them as it does; returns the results. Of each\n"
      "step that the call takes: its outcome, the first of its numbers, how\n"
      "many it has, and how many there are in each dtype.");
  define(function, "call_alone(self, arguments, numbers, steps)", &callAlone,
         "Calls the function, as `call` does, where all that it reads is in\n"
         "memory and nothing else is in its program. Returns whether it was\n"
         "called.");
  define(function, "record(self, arguments)", &recordCall,
         "Records what the function does, which rebinds nothing, of other\n"
         "arguments, as calling it would. Returns the results; None where it "
         "does\n"
         "not take the arguments.");
  define(
      function, "donate(self, arguments)",
      [](Callable &self, py::handle arguments) {
        auto numbers = toIntegers(arguments, "arguments");
        self.donated.assign(numbers.begin(), numbers.end());
      },
      "Has calls take their values from arguments, by number: they may write\n"
      "over these.");
  define(
      function, "begin_call(self)", [](Callable &self) { self.counts = false; },
      "Says that no call counts until the next one does.");
  define(
      function, "counts(self)",
      [](const Callable &self) { return self.counts; },
      "Returns whether the updates of the last call are made, or pending "
      "until\n"
      "there is memory for them, say: also where it has raised.");
  define(
      function, "difference(self, other, extents=True)",
      [](const Callable &self, const Callable &other, bool extents) {
        Entered session(getSession());
        return self.function->findDifference(
            *other.function, extents ? RecordedFunction::Extents::Compared
                                     : RecordedFunction::Extents::Any);
      },
      "Returns what differs first from another recording, or in more than\n"
      "extents and counts of what is in tensors; '' if nothing.");
  define(
      module, "give_away(tensors)",
      [](py::handle tensors) {
        std::vector<Var *> vars = toArguments(tensors);
        Entered session;
        for (Var *var : vars)
          session->giveAway(*var);
      },
      "Takes their values from tensors, which are not to be used any more.");
  define(
      module, "is_given_away(x)", [](const Var &x) { return x.isGivenAway(); },
      "Returns whether a call was given the tensor to write over it.");
  define(
      module, "are_in_memory(tensors)",
      [](py::handle tensors) {
        Entered session;
        return llvm::all_of(py::reinterpret_borrow<py::list>(tensors),
                            [](py::handle item) {
                              const Var *var = asVar(item);
                              return var && var->getNode()->isLeaf();
                            });
      },
      "Returns whether all are Vars whose values are in memory, or are being\n"
      "computed.");
  define(module, "replay(functions, arguments)", &replay,
         "Records calls of functions, each of its list of arguments, in one\n"
         "go. False if one does not take them: nothing is recorded.");
}
