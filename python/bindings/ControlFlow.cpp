//===- ControlFlow.cpp - Branches and loops of recorded bodies ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/ControlFlow.h"
#include "MetaOps/Runtime/Trace/VectorizingMap.h"

#include "Bindings.h"
#include "Function.h"
#include "llvm/ADT/StringSwitch.h"

using namespace metaops;
using namespace metaops::python;

static std::optional<int64_t> toNumberOrNone(py::handle number) {
  return number.is_none() ? std::nullopt
                          : std::optional(number.cast<int64_t>());
}

static ExampleRandomness toRandomness(const std::string &name) {
  return llvm::StringSwitch<ExampleRandomness>(name)
      .Case("different", ExampleRandomness::Different)
      .Case("same", ExampleRandomness::Same)
      .Default(ExampleRandomness::Error);
}

static void bindMapped(py::module_ &module) {
  define(
      module, "record_mapped(body, arguments, rows, extent, randomness)",
      [](const RecordedBody &body, py::handle arguments, py::handle rows,
         int64_t extent, const std::string &randomness) {
        py::list owner;
        std::vector<const Var *> given = toVars(arguments, owner);
        llvm::SmallBitVector areBatched = toFlags(rows);
        std::vector<MappedResult> mapped;
        {
          Entered entered;
          mapped = recordMapped(*entered, body, given, areBatched, extent,
                                toRandomness(randomness));
        }
        std::vector<Var> results;
        py::list isBatched;
        for (MappedResult &result : mapped) {
          results.push_back(std::move(result.var));
          isBatched.append(result.isBatched);
        }
        return py::make_tuple(toList(std::move(results)), isBatched);
      },
      "Records a body of one example for `extent` of them, of the rows of\n"
      "those arguments for which `rows` says so. Returns its results, and\n"
      "which of them have a dimension for the examples in front.");
}

void metaops::python::bindControlFlow(py::module_ &module) {
  bindMapped(module);
  py::class_<RecordedBody> body(
      module, "Body", "A branch, or a part of a loop, recorded once.");
  forbidConstruction(body);
  define(
      module, "record_if(condition, on_true, on_false, operands)",
      [](const Var &condition, const RecordedBody &onTrue,
         const RecordedBody &onFalse, py::handle operands) {
        py::list owner;
        std::vector<const Var *> given = toVars(operands, owner);
        std::vector<Var> results;
        {
          Entered entered;
          results = recordIf(*entered, condition, onTrue, onFalse, given);
        }
        return toList(std::move(results));
      },
      "Records one of two bodies of the operands, by a 0-d boolean.");
  define(
      module, "record_while(first, condition, body, max_trips)",
      [](py::handle first, const RecordedBody &condition,
         const RecordedBody &body, py::handle maxTrips) {
        py::list owner;
        std::vector<const Var *> given = toVars(first, owner);
        std::optional<int64_t> trips = toNumberOrNone(maxTrips);
        std::vector<Var> results;
        {
          Entered entered;
          results = recordWhile(*entered, given, condition, body, trips);
        }
        return toList(std::move(results));
      },
      "Records trips of a body, from first values on, as long as the\n"
      "condition returns true: at most `max_trips`, if that is a number.");
  define(
      module, "record_counted(count, lower, first, body, max_trips)",
      [](const Var &count, const Var &lower, py::handle first,
         const RecordedBody &body, py::handle maxTrips) {
        py::list owner;
        std::vector<const Var *> given = toVars(first, owner);
        std::optional<int64_t> trips = toNumberOrNone(maxTrips);
        std::vector<Var> results;
        {
          Entered entered;
          results = recordCounted(*entered, {count, lower, trips}, given, body);
        }
        return toList(std::move(results));
      },
      "Records trips of a body, from first values on, numbered from `lower`:\n"
      "as many as the 0-d int64 `count` says, at most `max_trips`, if that is\n"
      "a number.");
  define(
      module, "record_scan(trips, reverse, unroll, first, rows, body)",
      [](int64_t trips, bool reverse, int64_t unroll, py::handle first,
         py::handle rows, const RecordedBody &body) {
        py::list owner, ownerOfRows;
        std::vector<const Var *> given = toVars(first, owner);
        std::vector<const Var *> givenRows = toVars(rows, ownerOfRows);
        std::vector<Var> results;
        {
          Entered entered;
          results = recordScan(*entered, {trips, reverse, unroll}, given,
                               givenRows, body);
        }
        return toList(std::move(results));
      },
      "Records trips of a body, from first values on, over rows; the last row\n"
      "first if `reverse` is set. An iteration makes `unroll` trips, or as "
      "many\n"
      "as is best for 0.");
}
