//===- Endings.cpp - Histories that updates end ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An update writes its result over the value that it replaces, if no Var holds
// that. A gradient that needs the old value can then not be asked for any more:
//
// 1. A value that is made of the old one, and is not in memory, is lost as the
//    old one is.
// 2. An operation that reads what is lost, and whose derivative reads its
//    operands, ends the history of its result: no gradient passes it. A linear
//    one passes gradients on, as to the other terms of a sum.
//
// The history of a loss therefore ends with the step that has used it, and lets
// go of the step's values. What a gradient can still read after that is not
// written over by any program: of a value between two programs, that is one
// from which operations that have not ended lead to a value that a Var holds,
// and that one of them has made of something that carries (History.cpp).
//
// The cost is that of the histories that read the values.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Endings.h"

#include "MetaOps/Runtime/Graph/Slice.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace metaops;

static bool isBefore(const Node *a, const Node *b) {
  return a->order < b->order;
}

/// Returns whether the value is in memory, or will be when the next program has
/// run.
static bool isComputed(const Node *node) {
  return node->buffer || node->isScalar || node->isOutput;
}

Endings metaops::findEndings(Graph &graph, llvm::ArrayRef<Node *> overwritten) {
  Endings endings;
  std::vector<Node *> worklist(overwritten.begin(), overwritten.end());
  uint32_t lostMark = graph.startTraversal();
  for (Node *node : overwritten)
    node->epoch = lostMark;
  while (!worklist.empty()) {
    Node *lost = worklist.back();
    worklist.pop_back();
    for (Node *user : graph.getUsers(lost)) {
      bool passes = graph.getInfo(user).isLinear && isFloat(lost->dtype);
      if (graph.isFlowing(user) && !passes && !user->isEnding) {
        user->isEnding = true;
        endings.ended.push_back(user);
      }
      if (!isComputed(user) && user->epoch != lostMark) {
        user->epoch = lostMark;
        endings.lost.push_back(user);
        worklist.push_back(user);
      }
    }
  }
  for (Node *node : endings.ended)
    node->isEnding = false;
  llvm::sort(endings.ended, isBefore);
  return endings;
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Returns whether a gradient passes from the node to its operands.
static bool passesGradients(const Graph &graph, const Node *node) {
  return graph.isFlowing(node) && !node->isEnding;
}

/// The nodes through which gradients of held values pass that are made of the
/// values: those that lead to a value that a Var holds.
static std::vector<Node *> findReaders(Graph &graph,
                                       llvm::ArrayRef<Node *> values) {
  std::vector<Node *> made, worklist(values.begin(), values.end());
  uint32_t mark = graph.startTraversal();
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    for (Node *user : graph.getUsers(node)) {
      // Indices and conditions pass no gradients, but are computed for them.
      bool passes = passesGradients(graph, user);
      if (user->epoch == mark || (!passes && isComputed(user)))
        continue;
      user->epoch = mark;
      user->answer = passes && user->vars > 0;
      made.push_back(user);
      worklist.push_back(user);
    }
  }
  llvm::sort(made, isBefore);
  for (Node *node : llvm::reverse(made))
    for (Node *operand : node->operands)
      if (node->answer && operand->epoch == mark)
        operand->answer = true;
  llvm::erase_if(made, [&](Node *node) {
    return !node->answer || !passesGradients(graph, node);
  });
  return made;
}

/// Says in `answer`, of the nodes and all that they are made of, who carries
/// when histories have ended. Returns the mark of those.
static uint32_t markCarrying(Graph &graph, llvm::ArrayRef<Node *> nodes) {
  std::vector<Node *> below, worklist(nodes.begin(), nodes.end());
  uint32_t mark = graph.startTraversal();
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    if (node->epoch == mark)
      continue;
    node->epoch = mark;
    node->answer = node->vars > 0 && isFloat(node->dtype);
    below.push_back(node);
    if (node->carries && !node->answer && passesGradients(graph, node))
      llvm::append_range(worklist, node->operands);
  }
  llvm::sort(below, isBefore);
  for (Node *node : below)
    if (node->carries && !node->answer && passesGradients(graph, node))
      node->answer = llvm::any_of(
          node->operands, [](Node *operand) { return operand->answer; });
  return mark;
}

std::vector<Node *> metaops::findReadable(Graph &graph,
                                          llvm::ArrayRef<Node *> values) {
  std::vector<Node *> readers = findReaders(graph, values);
  std::vector<Node *> sources;
  for (Node *reader : readers)
    llvm::append_range(sources, reader->operands);
  markCarrying(graph, sources);
  llvm::erase_if(readers, [](Node *reader) {
    return llvm::none_of(reader->operands,
                         [](Node *operand) { return operand->answer; });
  });
  sources.clear();
  for (Node *reader : readers)
    llvm::append_range(sources, reader->operands);
  uint32_t mark = markNeeded(graph, sources);
  std::vector<Node *> readable(values.begin(), values.end());
  llvm::erase_if(readable, [&](Node *node) { return node->epoch != mark; });
  return readable;
}

//===----------------------------------------------------------------------===//
// Ending
//===----------------------------------------------------------------------===//

void metaops::endHistoriesBy(Graph &graph, llvm::ArrayRef<Node *> overwritten) {
  Endings endings = findEndings(graph, overwritten);
  // Each is lost with an operand, and with the line of that.
  auto findLine = [](const Node *node) -> LocationAttr {
    for (const Node *operand : node->operands)
      if (operand->overwrittenAt)
        return operand->overwrittenAt;
    return nullptr;
  };
  llvm::sort(endings.lost, isBefore);
  for (Node *node : endings.lost)
    graph.setDonated(node, findLine(node));
  for (Node *node : endings.ended)
    if (!node->isDonated)
      node->overwrittenAt = findLine(node);
  graph.endHistoriesAt(endings.ended);
}
