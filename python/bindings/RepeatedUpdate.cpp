//===- RepeatedUpdate.cpp - Steps of optimisers that are repeated ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RepeatedUpdate.h"

#include "Bindings.h"
#include "Function.h"

using namespace metaops;
using namespace metaops::python;

namespace {
/// Vars of two lists, which live as long as it does.
struct Values {
  py::list owners[2];
  std::vector<const Var *> targets, operands;

  Values(py::handle targets, py::handle operands)
      : targets(toVars(targets, owners[0])),
        operands(toVars(operands, owners[1])) {}

  UpdateValues get() const { return {targets, operands}; }
};
} // namespace

static std::vector<Number> toNumbers(py::handle list) {
  std::vector<Number> numbers;
  for (py::handle number : py::reinterpret_borrow<py::iterable>(list))
    numbers.push_back(expectNumber(number, "a number of the step"));
  return numbers;
}

static bool repeat(py::handle self, py::handle targets, py::handle operands,
                   py::handle given, py::handle outcome) {
  auto read = [](py::handle list) {
    return py::reinterpret_borrow<py::iterable>(list);
  };
  // Arrays are made Vars of where the step is recorded.
  if (!llvm::all_of(read(operands),
                    [](py::handle item) { return asVar(item); }))
    return false;
  Values values(targets, operands);
  std::vector<Number> numbers = toNumbers(given);
  auto &update = self.cast<RepeatedUpdate &>();
  auto told = outcome.cast<StepOutcomeRef>();
  // Ctrl-C may have this called again when it has been done.
  bool isDone = false;
  return runWithoutGIL([&](Session &session) {
    isDone =
        isDone || session.repeatUpdate(update, values.get(), numbers, told);
    return isDone;
  });
}

static bool begin(py::handle self, py::handle targets, py::handle operands) {
  auto &update = self.cast<RepeatedUpdate &>();
  Values values(targets, operands);
  return runWithoutGIL([&](Session &session) {
    return session.beginUpdate(update, values.get());
  });
}

static void end(py::handle self, py::handle targets, py::handle numbers,
                int64_t count) {
  auto &update = self.cast<RepeatedUpdate &>();
  Values values(targets, numbers);
  runWithoutGIL([&](Session &session) {
    session.endUpdate(update, values.targets, values.operands, count);
    return 0;
  });
}

void metaops::python::bindRepeatedUpdate(py::module_ &module) {
  py::class_<RepeatedUpdate> cls(
      module, "RepeatedUpdate",
      "A step of an optimiser that need not be recorded again.");
  forbidConstruction(cls);
  define(
      module, "make_repeated_update()",
      [] { return std::make_unique<RepeatedUpdate>(); },
      "A step that has not been run yet.");
  define(cls, "begin(self, targets, operands)", &begin,
         "Notes the Vars that a step is to update, and those that it reads,\n"
         "if it may be repeated.");
  define(cls, "end(self, targets, numbers, count)", &end,
         "Runs the step, which has been recorded since `begin`; `numbers`\n"
         "are what it took as 0-d Vars, `count` in each dtype.");
  define(
      cls, "repeat(self, targets, operands, numbers, outcome)", &repeat,
      "Runs the step again on what the Vars hold now, and other numbers, and\n"
      "has the outcome told of it. False if that cannot be: it is to be\n"
      "recorded.");
}

static void setNumbers(StepOutcome &self, py::handle given) {
  std::vector<CountedNumbers> groups;
  for (py::handle item : py::reinterpret_borrow<py::iterable>(given)) {
    auto [earlier, rows] = item.cast<std::pair<py::list, py::list>>();
    CountedNumbers &group = groups.emplace_back();
    for (py::handle outcome : earlier)
      group.earlier.push_back(outcome.cast<StepOutcomeRef>());
    for (py::handle row : rows)
      group.byFailures.push_back(toNumbers(row));
  }
  self.setNumbers(std::move(groups));
}

static void watchUpdates(py::handle self, py::handle numbers, int64_t count) {
  auto outcome = self.cast<StepOutcomeRef>();
  py::list owner;
  std::vector<const Var *> vars = toVars(numbers, owner);
  Entered session;
  if (outcome->mayChangeNumbers())
    for (auto [index, var] : llvm::enumerate(vars))
      outcome->setPlace(NodeRef(var->getNode()),
                        {unsigned(index % count), var->dtype()});
  session->watchUpdates(outcome);
}

void metaops::python::bindStepOutcome(py::module_ &module) {
  py::class_<StepOutcome, StepOutcomeRef> cls(
      module, "StepOutcome",
      "Tells whether the updates of a step have been made, which a failure of "
      "their\n"
      "program may prevent when the step has long been recorded.");
  forbidConstruction(cls);
  define(
      module, "make_step_outcome()",
      [] { return std::make_shared<StepOutcome>(); },
      "The outcome of no step yet.");
  define(
      cls, "set_numbers(self, groups)", &setNumbers,
      "Gives the step's numbers by what becomes of earlier steps: of each\n"
      "group the outcomes of these, and lists of its numbers for none, one,\n"
      "... that have failed.");
  define(cls, "watch_updates(self, numbers, count)", &watchUpdates,
         "Has it told of the updates that are pending; `numbers` are what the\n"
         "step took as 0-d Vars, `count` in each dtype.");
  define(
      cls, "is_known(self)",
      [](const StepOutcome &self) { return self.isKnown(); },
      "Returns whether it is known what has become of the step.");
  define(
      cls, "failed(self)",
      [](const StepOutcome &self) { return self.failed(); },
      "Returns whether the step has not been taken.");
}
