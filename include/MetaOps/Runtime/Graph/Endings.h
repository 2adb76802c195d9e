//===- Endings.h - Histories that updates end -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_ENDINGS_H
#define METAOPS_RUNTIME_GRAPH_ENDINGS_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace metaops {

/// Values and histories that go with values which are written over.
struct Endings {
  /// Values that are not computed, and never can be.
  std::vector<Node *> lost;
  /// Values, in the order of recording, through which no gradient can pass: it
  /// would need what is lost.
  std::vector<Node *> ended;
};

/// Finds what goes with the values. Outputs of the program that is about to run
/// count as computed.
Endings findEndings(Graph &graph, llvm::ArrayRef<Node *> overwritten);

/// Those of the values that a gradient of something that a Var holds, by
/// something that a Var holds, can still need when histories have ended at
/// nodes that are marked so (Node::isEnding).
std::vector<Node *> findReadable(Graph &graph, llvm::ArrayRef<Node *> values);

/// Ends histories that need the values, which updates have written over.
void endHistoriesBy(Graph &graph, llvm::ArrayRef<Node *> overwritten);

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_ENDINGS_H
