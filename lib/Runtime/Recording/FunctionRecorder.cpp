//===- FunctionRecorder.cpp - Calls with derivatives of their own ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. Walk from the results to what the function has read: a value that is older
//    than the call and no argument is a capture, if somebody could ask for a
//    gradient through it.
// 2. Of the values between, those that nobody holds any more, or what is made
//    of them, are marked as ones that no gradient flows through: so they keep
//    no history, and nothing is saved for gradients.
// 3. Record the operation that has the results, arguments and captures.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/FunctionRecorder.h"

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Recording/RecordingSession.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace metaops;

FunctionRecorder::FunctionRecorder(RecordingSession &session,
                                   llvm::ArrayRef<const Var *> given) {
  // A Var from outside of a trace has a placeholder from now on.
  for (const Var *var : given)
    arguments.emplace_back(session.getNode(*var));
  start = session.getRecorder().getGraph().getLastOrder();
}

std::optional<size_t>
FunctionRecorder::findRebound(RecordingSession &session,
                              llvm::ArrayRef<const Var *> given) {
  for (auto [number, var] : llvm::enumerate(given))
    if (arguments[number].get() != session.getNode(*var))
      return number;
  return std::nullopt;
}

void FunctionRecorder::findInside(Graph &graph,
                                  llvm::ArrayRef<Node *> results) {
  uint32_t mark = graph.startTraversal();
  for (const NodeRef &argument : arguments)
    argument.get()->epoch = mark;
  std::vector<Node *> stack;
  auto enter = [&](Node *node) {
    if (node->epoch == mark || !isFloat(node->dtype))
      return;
    node->epoch = mark;
    // A Var from outside of a trace is met when it is used first.
    if (node->order > start && !node->isPlaceholder)
      stack.push_back(node);
    else if (node->carries)
      captures.push_back(node);
  };
  llvm::for_each(results, enter);
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    inside.push_back(node);
    if (graph.isFlowing(node))
      graph.forEachFlowSource(node, enter);
  }
}

void FunctionRecorder::stopInside(Graph &graph,
                                  llvm::ArrayRef<Node *> givenUp) {
  // Users first.
  llvm::sort(inside, [](Node *a, Node *b) { return a->order > b->order; });
  llvm::SmallPtrSet<const Node *, 16> stopped;
  for (Node *node : inside) {
    auto handles = static_cast<uint32_t>(llvm::count(givenUp, node));
    bool isHeld = node->vars > handles || node->pins > 0;
    if (isHeld || !llvm::all_of(graph.getUsers(node), [&](Node *user) {
          return stopped.contains(user);
        }))
      continue;
    stopped.insert(node);
    graph.stop(node);
  }
}

std::vector<Var> FunctionRecorder::record(RecordingSession &session,
                                          llvm::ArrayRef<const Var *> given,
                                          llvm::ArrayRef<bool> areGivenUp,
                                          std::shared_ptr<FunctionCall> call,
                                          unsigned numRules,
                                          EmitRules emitRules) {
  Graph &graph = session.getRecorder().getGraph();
  llvm::SmallVector<Node *> results = session.getNodes(given), givenUp;
  for (auto [result, isGivenUp] : llvm::zip_equal(results, areGivenUp))
    if (isGivenUp)
      givenUp.push_back(result);
  findInside(graph, results);
  stopInside(graph, givenUp);
  auto valueOf = [](Node *node) { return node->value(); };
  auto values = llvm::map_to_vector(results, valueOf);
  auto ofArguments = llvm::map_to_vector(
      arguments, [](const NodeRef &ref) { return ref.get()->value(); });
  auto op = metaop::CustomDerivativeOp::create(
      graph.getBuilder(), session.getRecorder().getLine(),
      llvm::map_to_vector(results,
                          [](Node *node) -> Type { return node->type(); }),
      call->getName(), values, ofArguments,
      llvm::map_to_vector(captures, valueOf), numRules);
  if (emitRules)
    emitRules(op);
  Node *first = graph.adopt(op);
  call->start = start;
  graph.setCall(op, std::move(call));
  return session.wrapResults(first);
}
