//===- Donation.cpp - What a program may write over -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program may write into the buffer of a parameter's old value if nobody
// can see that value any more but history, that is: no Var holds it, NumPy does
// not see it, and no value that a Var or a fetch holds, and that this program
// does not compute, is made of it. The old value's node is then marked, and
// gradients through it are errors that name the update.
//
// A value that a Var holds and nobody has asked for yet (a loss that is kept
// for later) would keep all that it is made of, so the program of the updates
// computes it along where it is smaller than the parameters that it keeps.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"

using namespace mlir;
using namespace metaops;

/// Whether nobody but history, and what has been recorded, sees the value.
static bool isUnseen(const Node *leaf) {
  return leaf->vars == 0 && leaf->pins == 0 && !leaf->isScalar &&
         !leaf->buffer->isShared() && leaf->buffer->mayBeWritten();
}

std::vector<Node *> Planner::findWaiting() const {
  std::vector<Node *> waiting = graph.getWaiting();
  llvm::erase_if(waiting, [](Node *node) { return node->isOutput; });
  return waiting;
}

void Planner::addWaitingValues() {
  markOutputs(true);
  bool isAdded = false;
  for (Node *node : findWaiting()) {
    // What depends on the updates of this program can be computed by it, too.
    if (node->generation > updates.getFlushes() + 1 ||
        node->device != slice.device)
      continue;
    uint32_t needed = markNeeded(graph, node);
    int64_t kept = 0;
    for (Node *leaf : slice.leaves)
      if (leaf->epoch == needed && isUnseen(leaf))
        kept += leaf->buffer->bytes();
    if (countBytes(node->shape(), node->dtype) >= kept)
      continue;
    slice.outputs.push_back(node);
    node->isOutput = isAdded = true;
  }
  markOutputs(false);
  if (isAdded)
    traceSlice(graph, std::vector<Node *>(slice.outputs), slice);
}

void Planner::findDonatable(RunKind kind) {
  donatable.assign(slice.leaves.size(), false);
  if (kind != RunKind::Updates)
    return;
  markOutputs(true);
  uint32_t needed = markNeeded(graph, findWaiting());
  markOutputs(false);
  for (auto [leaf, mayWrite] : llvm::zip_equal(slice.leaves, donatable))
    mayWrite = leaf->epoch != needed && isUnseen(leaf);
}

void Planner::recordDonations(const ProgramRun &run) {
  llvm::DenseMap<Buffer *, Node *> given;
  for (auto [leaf, argument, mayWrite] :
       llvm::zip_equal(slice.leaves, run.arguments, donatable))
    if (mayWrite)
      given.try_emplace(argument.get(), leaf);
  for (auto [output, result] : llvm::zip_equal(slice.outputs, run.results)) {
    Node *leaf = given.lookup(result.get());
    if (!leaf)
      continue;
    // A view of the leaf has its buffer, and has written nothing.
    if (graph.skipViews(output) != leaf)
      graph.setDonated(leaf, output->op->getLoc());
  }
}
