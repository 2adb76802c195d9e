//===- RegionNodesTest.cpp - Tests of nodes with regions ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionFixture.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"

using namespace mlir;
using namespace metaops;

namespace {

class RegionNodesTest : public RegionFixture {};

//===----------------------------------------------------------------------===//
// What lives
//===----------------------------------------------------------------------===//

TEST_F(RegionNodesTest, CapturesAreOperandsBehindTheOperandsProper) {
  // %c is used in the condition, before the body; %b is used twice.
  Node *node = record("%r = scf.while (%x = %a) : (tensor<4xf32>) -> "
                      "tensor<4xf32> {\n%t = tensor.extract %e[] : tensor<i1>\n"
                      "scf.condition(%t) %c : tensor<4xf32>\n} do {\n"
                      "^bb0(%u: tensor<4xf32>):\n" +
                      ifOf("%w = metaop.add %b, %b" + vec + yield("w"),
                           "%w = metaop.add %a, %c" + vec + yield("w")) +
                      "\n}");
  llvm::SmallVector<Node *> expected = {leaves[0], leaves[4], leaves[2],
                                        leaves[1], leaves[0]};
  EXPECT_TRUE(llvm::equal(node->operands, expected));
  EXPECT_EQ(metaop::findCaptures(node->op).size(), 4u);
  // As often as among these.
  EXPECT_EQ(graph.getUsers(leaves[0]).size(), 2u);
  EXPECT_EQ(graph.getUsers(leaves[1]).size(), 1u);
  EXPECT_EQ(graph.getUsers(leaves[2]).size(), 1u);
  EXPECT_EQ(graph.getUsers(leaves[3]).size(), 0u);
}

TEST_F(RegionNodesTest, OperandsCarryForWhatIsMadeOfThem) {
  // A branch is made of what each of its arms is; %e only says which.
  Node *branch = record(
      regionOf(ifOf("%w = metaop.mul %b, %b" + vec + yield("w"), yield("c"))));
  EXPECT_EQ(branch->operands.size(), 4u);
  EXPECT_EQ(branch->numCarrying, 2u);
  EXPECT_TRUE(branch->carries);
  graph.releaseVar(leaves[0]);
  EXPECT_EQ(branch->numCarrying, 2u);
  graph.releaseVar(leaves[1]);
  EXPECT_EQ(branch->numCarrying, 1u);
  graph.releaseVar(leaves[2]);
  EXPECT_EQ(branch->numCarrying, 0u);
  EXPECT_FALSE(branch->carries);
  graph.retainVar(leaves[1]);
  EXPECT_EQ(branch->numCarrying, 1u);
  EXPECT_TRUE(branch->carries);
}

TEST_F(RegionNodesTest, LoopsAreMadeOfWhatTheyHandOn) {
  // The condition hands %c on, whatever the body has made.
  auto loopOf = [&](llvm::StringRef handedOn) {
    return record(("%r = scf.while (%x = %a) : (tensor<4xf32>) -> "
                   "tensor<4xf32> {\n%t = tensor.extract %e[] : tensor<i1>\n"
                   "scf.condition(%t) %" +
                   handedOn +
                   " : tensor<4xf32>\n} do {\n^bb0(%u: tensor<4xf32>):\n"
                   "%w = metaop.add %b, %c" +
                   vec + yield("w") + "\n}")
                      .str());
  };
  EXPECT_EQ(loopOf("c")->numCarrying, 1u);
  // Its first value, and both that the body makes the next one of.
  EXPECT_EQ(loopOf("x")->numCarrying, 3u);
}

TEST_F(RegionNodesTest, ResultsCarryForThemselves) {
  Node *first =
      record("%r:2 = scf.execute_region -> (tensor<4xf32>, tensor<4xf32>) {\n"
             "%p = metaop.neg %a" +
             vec + "%q = metaop.mul %b, %c" + vec +
             "scf.yield %p, %q : tensor<4xf32>, tensor<4xf32>\n}");
  Node *second = first->nextResult;
  EXPECT_EQ(first->numCarrying, 1u);
  EXPECT_EQ(second->numCarrying, 2u);
  graph.retainVar(first);
  graph.retainVar(second);
  // Of the one a gradient may be asked for by %a: the operation stays, and with
  // it all that a gradient of either reads.
  graph.releaseVar(leaves[1]);
  graph.releaseVar(leaves[2]);
  EXPECT_EQ(second->numCarrying, 0u);
  graph.setComputed(first, Buffer::wrap(nullptr, 0, {}), 1);
  graph.setComputed(second, Buffer::wrap(nullptr, 0, {}), 1);
  graph.collect();
  EXPECT_EQ(first->op->getNumRegions(), 1u);
  EXPECT_EQ(first->op, second->op);
  EXPECT_EQ(first->operands.size(), 3u);
  graph.releaseVar(leaves[0]);
  EXPECT_TRUE(isa<metaop::BufferOp>(first->op));
  EXPECT_TRUE(isa<metaop::BufferOp>(second->op));
}

TEST_F(RegionNodesTest, CapturesLiveAsLongAsTheirUsers) {
  Node *sum = makeSum(leaves[0], leaves[1]);
  std::vector<Node *> given = leaves;
  given[0] = sum;
  Node *node = record(
      "%r = scf.execute_region -> tensor<4xf32> {\n" +
          ifOf("%w = metaop.neg %a" + vec + yield("w"), yield("c")) + "\n}",
      given);
  graph.retainVar(node);
  for (Node *leaf : leaves)
    graph.releaseVar(leaf);
  graph.release(sum);
  graph.collect();
  // The operation, the sum, and the leaves %a, %b, %c and %e.
  EXPECT_EQ(graph.size(), 6u);
  graph.releaseVar(node);
  graph.collect();
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_TRUE(graph.getBlock().empty());
}

TEST_F(RegionNodesTest, ComputedValuesLetGoOfCaptures) {
  Node *sum = makeSum(leaves[0], leaves[1]);
  std::vector<Node *> given = leaves;
  given[0] = sum;
  Node *node = record(regionOf(add + yield("s")), given);
  graph.retainVar(node);
  size_t before = graph.size();
  // A Var that a gradient may be asked for by keeps the history.
  graph.setComputed(node, Buffer::wrap(nullptr, 0, {}), 1);
  graph.collect();
  EXPECT_EQ(graph.size(), before);
  EXPECT_EQ(node->op->getNumRegions(), 1u);
  for (Node *leaf : leaves)
    graph.releaseVar(leaf);
  graph.collect();
  EXPECT_TRUE(isa<metaop::BufferOp>(node->op));
  EXPECT_EQ(graph.size(), 1u);
}

TEST_F(RegionNodesTest, ResultsGoTogether) {
  std::string text =
      "%r:2 = scf.execute_region -> (tensor<4xf32>, tensor<2xf32>) {\n"
      "%k = metaop.constant dense<1.0>" +
      vec +
      "%l = metaop.constant dense<2.0> : tensor<2xf32>\n"
      "scf.yield %k, %l : tensor<4xf32>, tensor<2xf32>\n}";
  Node *first = record(text);
  Node *second = first->nextResult;
  ASSERT_NE(first, second);
  EXPECT_EQ(second->nextResult, first);
  EXPECT_TRUE(first->operands.empty());
  EXPECT_EQ(trace({second, first}).ops.size(), 1u);
  graph.retainVar(first);
  graph.retainVar(second);
  size_t before = graph.size();
  graph.setComputed(first, Buffer::wrap(nullptr, 0, {}), 1);
  EXPECT_EQ(graph.size(), before);
  // Nobody needs the one that is computed, or the other one's operation.
  graph.setComputed(second, Buffer::wrap(nullptr, 0, {}), 1);
  EXPECT_TRUE(isa<metaop::BufferOp>(first->op));
  EXPECT_EQ(graph.size(), before + 1);
  graph.releaseVar(first);
  graph.releaseVar(second);
  graph.collect();
  EXPECT_EQ(graph.size(), before - 1);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

TEST_F(RegionNodesTest, SlicesAreCutAtCaptures) {
  Node *sum = makeSum(leaves[0], leaves[1]);
  std::vector<Node *> given = leaves;
  given[0] = sum;
  Node *node = record(
      "%r = scf.execute_region -> tensor<4xf32> {\n" +
          ifOf("%w = metaop.neg %a" + vec + yield("w"), yield("c")) + "\n}",
      given);
  auto printShort = [&] {
    auto module = parseSourceString<ModuleOp>(writeSlice(graph, trace(node)),
                                              ParserConfig(&context));
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    return text;
  };
  EXPECT_EQ(printShort(), R"(module {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<4xf32>) -> tensor<4xf32> {
    %0 = metaop.add %arg1, %arg2 : tensor<4xf32>
    %1 = scf.execute_region -> tensor<4xf32> {
      %extracted = tensor.extract %arg0[] : tensor<i1>
      %2 = scf.if %extracted -> (tensor<4xf32>) {
        %3 = metaop.neg %0 : tensor<4xf32>
        scf.yield %3 : tensor<4xf32>
      } else {
        scf.yield %arg3 : tensor<4xf32>
      }
      scf.yield %2 : tensor<4xf32>
    }
    return %1 : tensor<4xf32>
  }
}
)");
  // What is computed is an argument.
  graph.setComputed(sum, Buffer::wrap(nullptr, 0, {}), 1);
  EXPECT_EQ(printShort(), R"(module {
  func.func @main(%arg0: tensor<i1>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
    %0 = scf.execute_region -> tensor<4xf32> {
      %extracted = tensor.extract %arg0[] : tensor<i1>
      %1 = scf.if %extracted -> (tensor<4xf32>) {
        %2 = metaop.neg %arg1 : tensor<4xf32>
        scf.yield %2 : tensor<4xf32>
      } else {
        scf.yield %arg2 : tensor<4xf32>
      }
      scf.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}
)");
}

TEST_F(RegionNodesTest, SlicesSayNothingOfLines) {
  Node *one = record(regionOf(ifOf(yield("a"), yield("b"))));
  Node *other = record("\n\n" + regionOf("\n" + ifOf(yield("a"), yield("b"))));
  EXPECT_EQ(writeSlice(graph, trace(one)), writeSlice(graph, trace(other)));
}

//===----------------------------------------------------------------------===//
// What cannot be recorded
//===----------------------------------------------------------------------===//

TEST_F(RegionNodesTest, RefusesWhatIsNoNode) {
  size_t before = graph.size();
  EXPECT_EQ(errorOf("scf.execute_region {\nscf.yield\n}"),
            "'scf.execute_region' has no result; expected one or more");
  EXPECT_EQ(errorOf("%r = scf.execute_region -> i1 {\n"
                    "%t = tensor.extract %e[] : tensor<i1>\n"
                    "scf.yield %t : i1\n}"),
            "result 0 of 'scf.execute_region' is i1, expected a tensor of a "
            "static shape");
  EXPECT_EQ(errorOf("%r = scf.execute_region -> tensor<?xf32> {\n"
                    "%t = tensor.cast %a : tensor<4xf32> to tensor<?xf32>\n"
                    "scf.yield %t : tensor<?xf32>\n}"),
            "result 0 of 'scf.execute_region' is tensor<?xf32>, expected a "
            "tensor of a static shape");
  EXPECT_EQ(errorOf(regionOf("%s = metaop.buffer" + vec + yield("s"))),
            "'metaop.buffer' in a region has effects on memory, or may have; "
            "expected operations that compute their results and do nothing "
            "else");
  EXPECT_EQ(errorOf(regionOf("%s = func.call @g(%a) : (tensor<4xf32>) -> "
                             "tensor<4xf32>\n" +
                             yield("s"))),
            "'func.call' in a region has effects on memory, or may have; "
            "expected operations that compute their results and do nothing "
            "else");
  EXPECT_EQ(graph.size(), before);
  EXPECT_EQ(graph.getBlock().getOperations().size(), before);
}

TEST_F(RegionNodesTest, RefusesWhatIsInvalid) {
  std::string error = errorOf(regionOf(add + yield("d", "8xf32")));
  EXPECT_NE(error.find("tensor<8xf32>"), std::string::npos) << error;
  error = errorOf(regionOf("%s = metaop.neg %w" + vec + "%w = metaop.neg %a" +
                           vec + yield("s")));
  EXPECT_NE(error.find("does not dominate this use"), std::string::npos)
      << error;
}

TEST_F(RegionNodesTest, RefusesValuesThatAreNotRecorded) {
  OpBuilder &builder = graph.getBuilder();
  Location unknown = UnknownLoc::get(&context);
  size_t before = graph.size();
  auto values = llvm::map_to_vector(
      leaves, [](Node *node) -> Value { return node->value(); });
  values[1] = metaop::NegOp::create(builder, unknown, values[0]);
  Operation *op = buildFromText(builder, regionOf(add + yield("s")), values);
  EXPECT_THROW(graph.adopt(op), SessionError);
  graph.collectAll();
  EXPECT_EQ(graph.getBlock().getOperations().size(), before);
}

} // namespace
