//===- DroppedValues.cpp - Values of Vars that have died ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/DroppedValues.h"

using namespace metaops;

void DroppedValues::add(Node *node) {
  std::lock_guard<std::mutex> lock(mutex);
  dropped.push_back(node);
  isAny = true;
}

void DroppedValues::releaseAll() {
  while (isAny) {
    std::vector<Node *> taken;
    {
      std::lock_guard<std::mutex> lock(mutex);
      taken.swap(dropped);
      isAny = false;
    }
    for (Node *node : taken)
      graph.releaseVar(node);
    graph.collect();
  }
}
