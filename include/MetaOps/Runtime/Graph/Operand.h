//===- Operand.h - What an operator takes -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_OPERAND_H
#define METAOPS_RUNTIME_GRAPH_OPERAND_H

#include "MetaOps/Runtime/Graph/Promotion.h"

namespace metaops {

struct Node;

/// A value of a graph, or a number whose type follows the values beside it.
class Operand {
public:
  Operand(Node *node) : node(node), number(Number::ofInt(0)) {}
  Operand(Number number) : number(number) {}

  bool isNumber() const { return !node; }
  /// Null for a number.
  Node *getNode() const { return node; }
  Number getNumber() const { return number; }

private:
  Node *node = nullptr;
  Number number;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_OPERAND_H
