//===- RepeatedValues.cpp - Values that are the same to Python ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Var that a call, or a checkpoint, rebinds has behind it the last value that
// it had inside, without the history of that: a value of its own, which repeats
// the other one. A gradient by it is by both. Where what else is made of the
// other one has lost its history (History.cpp), that gradient would be a part
// of itself: so whoever repeats a value knows the chains that it was lost in,
// also when it is gone.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Graph.h"

using namespace metaops;

void Graph::addLostChains(Node *node, uint64_t chains) {
  node->addLostChains(chains);
  if (!node->isRepeated)
    return;
  for (const NodeRef &ref : repeating.lookup(node))
    if (Node *later = ref.get(); later && later->getRepeated())
      later->past->repeated->lostChains |= chains;
}

void Graph::setRepeated(Node *node, Node *earlier) {
  node->getPast().repeated.emplace(
      RepeatedValue{NodeRef(earlier), earlier->getLostChains()});
  earlier->isRepeated = true;
  repeating[earlier].emplace_back(node);
}
