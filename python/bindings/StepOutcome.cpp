//===- StepOutcome.cpp - What has become of steps of optimisers -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Plan/StepOutcome.h"

#include "Bindings.h"
#include "Function.h"

using namespace metaops;
using namespace metaops::python;

static void setNumbers(StepOutcome &self, py::handle given) {
  std::vector<CountedNumbers> groups;
  for (py::handle item : py::reinterpret_borrow<py::iterable>(given)) {
    auto [earlier, rows] = item.cast<std::pair<py::list, py::list>>();
    CountedNumbers &group = groups.emplace_back();
    for (py::handle outcome : earlier)
      group.earlier.push_back(outcome.cast<StepOutcomeRef>());
    for (py::handle row : rows)
      group.byFailures.push_back(toNumbers(row, "a number of the step"));
  }
  self.setNumbers(std::move(groups));
}

static void watchUpdates(py::handle self, py::handle numbers, int64_t count) {
  auto outcome = self.cast<StepOutcomeRef>();
  py::list owner;
  std::vector<const Var *> vars = toVars(numbers, owner);
  EnteredSession session;
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
