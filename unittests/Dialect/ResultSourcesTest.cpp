//===- ResultSourcesTest.cpp - What each result is made of ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ResultSources.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

using Texts = std::vector<std::string>;

/// The last operation of a function of %a to %e, tensors of two floats.
class Parsed {
public:
  explicit Parsed(StringRef body) : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<MetaOpDialect, func::FuncDialect, scf::SCFDialect>();
    std::string text = "func.func @f(%p: i1, %n: tensor<i64>";
    for (char name = 'a'; name <= 'e'; ++name)
      text += std::string(", %") + name + ": tensor<2xf64>";
    text += ") {\n" + body.str() + "\nreturn\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "does not parse:\n" << text;
      return;
    }
    function = *module->getOps<func::FuncOp>().begin();
    op = function.getBody().front().getTerminator()->getPrevNode();
  }

  /// Returns, by result, the arguments that it is made of.
  Texts findSources(TripsTaken trips = TripsTaken::Own) {
    SmallVector<Value> inputs(op->getOperands());
    llvm::append_range(inputs, findCaptures(op));
    Texts texts;
    for (const llvm::SmallBitVector &of : findResultSources(op, trips).inputs) {
      std::string text;
      for (char name = 'a'; name <= 'e'; ++name)
        for (unsigned number : of.set_bits())
          if (inputs[number] == function.getArgument(name - 'a' + 2)) {
            text += name;
            break;
          }
      texts.push_back(text);
    }
    return texts;
  }

  /// Returns, by result, the numbers of those that it is made of.
  Texts findSiblings() {
    Texts texts;
    for (const llvm::SmallBitVector &of : findResultSources(op).siblings) {
      texts.emplace_back();
      for (unsigned number : of.set_bits())
        texts.back() += std::to_string(number);
    }
    return texts;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Operation *op = nullptr;
};

/// A scan that carries three values, which begin as %a, %b and %c.
std::string carry(int64_t trips, StringRef body) {
  return "%r:3 = metaop.scan " + std::to_string(trips) +
         " carries(%x = %a : tensor<2xf64>, %y = %b : tensor<2xf64>, %z = %c : "
         "tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {\n" +
         body.str() + "}";
}

std::string yield(StringRef values) {
  return ("metaop.scan_yield " + values +
          " : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>\n")
      .str();
}

/// Each carry takes the value of the next one, the last %d.
std::string shift(int64_t trips) { return carry(trips, yield("%y, %z, %d")); }

TEST(ResultSources, AnOperationIsMadeOfAllThatItTakes) {
  Parsed sum("%r = metaop.add %a, %c : tensor<2xf64>");
  EXPECT_EQ(sum.findSources(), Texts{"ac"});
  EXPECT_TRUE(sum.findSiblings().empty());
  EXPECT_EQ(Parsed("%r = metaop.stop_grad %a : tensor<2xf64>").findSources(),
            Texts{""});
  EXPECT_EQ(Parsed("%r:2 = metaop.barrier %a, %b : tensor<2xf64>, "
                   "tensor<2xf64> -> tensor<2xf64>, tensor<2xf64>")
                .findSources(),
            (Texts{"a", "b"}));
}

TEST(ResultSources, IntegersAreMadeOfNothing) {
  Parsed less("%r = metaop.cmp lt %a, %b : tensor<2xf64> -> tensor<2xi1>");
  EXPECT_EQ(less.findSources(), Texts{""});
  Parsed through("%r = scf.execute_region -> tensor<2xf64> {\n"
                 "  %i = metaop.cmp lt %a, %b : tensor<2xf64> -> tensor<2xi1>\n"
                 "  %s = metaop.select %i, %c, %d : tensor<2xi1>, "
                 "tensor<2xf64>\n"
                 "  scf.yield %s : tensor<2xf64>\n}");
  EXPECT_EQ(through.findSources(), Texts{"cd"});
}

TEST(ResultSources, BranchesAreMadeOfWhatEitherIs) {
  Parsed branch("%r:2 = scf.if %p -> (tensor<2xf64>, tensor<2xf64>) {\n"
                "  %s = metaop.exp %a : tensor<2xf64>\n"
                "  %t = metaop.mul %s, %b : tensor<2xf64>\n"
                "  scf.yield %s, %t : tensor<2xf64>, tensor<2xf64>\n} else {\n"
                "  %s = metaop.exp %c : tensor<2xf64>\n"
                "  %t = metaop.exp %s : tensor<2xf64>\n"
                "  scf.yield %t, %s : tensor<2xf64>, tensor<2xf64>\n}");
  EXPECT_EQ(branch.findSources(), (Texts{"ac", "abc"}));
  EXPECT_EQ(branch.findSiblings(), (Texts{"1", "0"}));
}

TEST(ResultSources, SiblingsAreFoundThroughRegionsInside) {
  Parsed nested(
      "%r:3 = scf.execute_region -> (tensor<2xf64>, tensor<2xf64>, "
      "tensor<2xf64>) {\n"
      "  %s:2 = scf.execute_region -> (tensor<2xf64>, tensor<2xf64>) {\n"
      "    %t = metaop.exp %a : tensor<2xf64>\n"
      "    %u = metaop.exp %t : tensor<2xf64>\n"
      "    scf.yield %t, %u : tensor<2xf64>, tensor<2xf64>\n  }\n"
      "  %v = metaop.exp %s#1 : tensor<2xf64>\n"
      "  %w = metaop.stop_grad %s#0 : tensor<2xf64>\n"
      "  scf.yield %s#0, %v, %w : tensor<2xf64>, tensor<2xf64>, "
      "tensor<2xf64>\n}");
  EXPECT_EQ(nested.findSources(), (Texts{"a", "a", ""}));
  EXPECT_EQ(nested.findSiblings(), (Texts{"", "0", ""}));
}

TEST(ResultSources, TripsMoveWhatIsCarried) {
  EXPECT_EQ(Parsed(shift(0)).findSources(), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Parsed(shift(1)).findSources(), (Texts{"b", "c", "d"}));
  EXPECT_EQ(Parsed(shift(2)).findSources(), (Texts{"c", "d", "d"}));
  EXPECT_EQ(Parsed(shift(3)).findSources(), (Texts{"d", "d", "d"}));
  EXPECT_EQ(Parsed(shift(1000)).findSources(), (Texts{"d", "d", "d"}));
}

TEST(ResultSources, WhatIsExchangedGoesOnForEver) {
  std::string body = yield("%y, %x, %z");
  for (int64_t trips : {1, 2, 63, 64, 65, 100, 1001}) {
    Parsed loop(carry(trips, body));
    Texts expected = trips % 2 ? Texts{"b", "a", "c"} : Texts{"a", "b", "c"};
    EXPECT_EQ(loop.findSources(), expected) << trips;
    EXPECT_EQ(findTripBounds(loop.op), SmallVector<int64_t>{0});
  }
}

TEST(ResultSources, RowsAreMadeOfWhatAnyTripBeginsWith) {
  auto rows = [](int64_t trips) {
    std::string number = std::to_string(trips);
    return "%r:3 = metaop.scan " + number +
           " carries(%x = %a : tensor<2xf64>, %y = %b : tensor<2xf64>) -> "
           "(tensor<2xf64>, tensor<2xf64>, tensor<" +
           number +
           "x2xf64>) {\n"
           "  metaop.scan_yield %y, %c, %x : tensor<2xf64>, tensor<2xf64>, "
           "tensor<2xf64>\n}";
  };
  EXPECT_EQ(Parsed(rows(1)).findSources(), (Texts{"b", "c", "a"}));
  EXPECT_EQ(Parsed(rows(2)).findSources(), (Texts{"c", "c", "ab"}));
  EXPECT_EQ(Parsed(rows(3)).findSources(), (Texts{"c", "c", "abc"}));
  EXPECT_EQ(Parsed(rows(90)).findSources(), (Texts{"c", "c", "abc"}));
  EXPECT_EQ(findTripBounds(Parsed(rows(1)).op), SmallVector<int64_t>{3});
}

TEST(ResultSources, SquaringMakesTheTripsThatStepsMake) {
  // A ring of carries, each of which adds what is its own.
  auto ring = [](int64_t trips) {
    return carry(trips, "%s = metaop.add %z, %e : tensor<2xf64>\n" +
                            yield("%s, %x, %y"));
  };
  EXPECT_EQ(Parsed(ring(62)).findSources(), Parsed(ring(65)).findSources());
  EXPECT_EQ(Parsed(ring(64)).findSources(), Parsed(ring(67)).findSources());
  EXPECT_EQ(Parsed(ring(64)).findSources(), (Texts{"ce", "ae", "be"}));
}

TEST(ResultSources, TripsThatAreNotKnownAreAnyNumber) {
  Parsed counted(
      "%r:2 = metaop.scan %n carries(%x = %a : tensor<2xf64>, %y = %b : "
      "tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {\n"
      "  metaop.scan_yield %y, %c : tensor<2xf64>, tensor<2xf64>\n}");
  EXPECT_EQ(counted.findSources(), (Texts{"abc", "bc"}));
  EXPECT_TRUE(findTripBounds(counted.op).empty());
  Parsed loop(
      "%r:2 = scf.while (%x = %a, %y = %b) : (tensor<2xf64>, tensor<2xf64>) -> "
      "(tensor<2xf64>, tensor<2xf64>) {\n"
      "  %s = metaop.mul %x, %d : tensor<2xf64>\n"
      "  scf.condition(%p) %s, %y : tensor<2xf64>, tensor<2xf64>\n} do {\n"
      "^bb0(%x: tensor<2xf64>, %y: tensor<2xf64>):\n"
      "  %s = metaop.exp %y : tensor<2xf64>\n"
      "  %t = metaop.exp %s : tensor<2xf64>\n"
      "  scf.yield %s, %t : tensor<2xf64>, tensor<2xf64>\n}");
  EXPECT_EQ(loop.findSources(), (Texts{"abd", "b"}));
  EXPECT_EQ(loop.findSiblings(), (Texts{"", "0"}));
}

TEST(ResultSources, FromWhichNumberOnTripsChangeNothing) {
  Parsed shifted(shift(1));
  SmallVector<int64_t> bounds = findTripBounds(shifted.op);
  EXPECT_EQ(bounds, SmallVector<int64_t>{3});
  EXPECT_EQ(shifted.findSources(TripsTaken::Many), (Texts{"d", "d", "d"}));
  EXPECT_EQ(classifyTrips(shifted.op, bounds), SmallVector<int64_t>{1});
  EXPECT_TRUE(classifyTrips(Parsed(shift(3)).op, bounds).empty());
  // Each carry keeps what it was.
  Parsed sum(carry(1, "%s = metaop.add %x, %d : tensor<2xf64>\n" +
                          yield("%s, %y, %z")));
  EXPECT_TRUE(findTripBounds(sum.op).empty());
  EXPECT_EQ(sum.findSources(), (Texts{"ad", "b", "c"}));
}

TEST(ResultSources, TripsOfLoopsInLoopsCount) {
  auto nest = [](int64_t outer, int64_t inner) {
    return "%r = metaop.scan " + std::to_string(outer) +
           " carries(%w = %e : tensor<2xf64>) -> tensor<2xf64> {\n" +
           carry(inner, yield("%y, %z, %w")) +
           "\n  metaop.scan_yield %r#0 : tensor<2xf64>\n}";
  };
  Parsed once(nest(5, 1)), twice(nest(5, 2)), many(nest(5, 3));
  EXPECT_EQ(once.findSources(), Texts{"b"});
  EXPECT_EQ(twice.findSources(), Texts{"c"});
  EXPECT_EQ(many.findSources(), Texts{"e"});
  SmallVector<int64_t> bounds = findTripBounds(once.op);
  EXPECT_EQ(bounds, (SmallVector<int64_t>{3, 1}));
  // The bound of the outer loop is for many trips of the inner one.
  EXPECT_EQ(classifyTrips(once.op, bounds), (SmallVector<int64_t>{1, 5}));
  EXPECT_EQ(classifyTrips(twice.op, bounds), (SmallVector<int64_t>{2, 5}));
  EXPECT_TRUE(classifyTrips(many.op, bounds).empty());
}

TEST(ResultSources, FunctionsSayWhatTheirArgumentsAreReadBy) {
  Parsed custom(
      "%v = metaop.exp %a : tensor<2xf64>\n"
      "%r = metaop.custom_derivative \"F\" values(%v : tensor<2xf64>)\n"
      "    arguments(%a, %b, %c : tensor<2xf64>, tensor<2xf64>, "
      "tensor<2xf64>) -> tensor<2xf64> {\n"
      "  ^bb0(%g: tensor<2xf64>):\n"
      "    %x = metaop.mul %g, %d : tensor<2xf64>\n"
      "    %y = metaop.exp %e : tensor<2xf64>\n"
      "    metaop.custom_yield %x, %y, %g : tensor<2xf64>, tensor<2xf64>, "
      "tensor<2xf64>\n}");
  EXPECT_EQ(custom.findSources(), Texts{"ac"});
}

} // namespace
