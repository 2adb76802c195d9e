//===- Donation.cpp - What a program may write over -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program may write over a value if nobody can see it any more: no Var
// holds it, NumPy does not see it, no value that a Var or a fetch holds, and
// that this program does not compute, is made of it, and no gradient can read
// it.
//
// The value that an update replaces may be written over, too, where gradients
// could read it: their histories end there (Endings.cpp), and asking for them
// is an error that names the update.
//
// Values that a call of a recorded function was given for that may be, too.
//
// All that may be written over is gone, whether or not the program makes use of
// it: it may keep what only its kernels see there.
//
// A value that a Var holds and nobody has asked for yet (a loss that is kept
// for later) would keep all that it is made of, so the program of the updates
// computes it along where it is smaller than the parameters that it keeps, and
// than what the program would keep for it.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Endings.h"
#include "MetaOps/Runtime/Plan/ProgramPlanner.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace metaops;

/// Returns whether nobody but history, and what has been recorded, sees the
/// value.
static bool isUnseen(const Node *leaf) {
  return leaf->vars == 0 && leaf->pins == 0 && !leaf->isScalar &&
         !leaf->isReadAgain && !leaf->buffer->isShared() &&
         leaf->buffer->mayBeWritten();
}

/// The values that Vars or fetches hold, that the program does not keep, and
/// that are part of the slice or made of its values, in the order of recording.
std::vector<Node *> ProgramPlanner::findWaiting() const {
  std::vector<Node *> waiting, worklist;
  llvm::copy_if(slice.leaves, std::back_inserter(worklist), isUnseen);
  llvm::copy_if(slice.shared, std::back_inserter(worklist),
                [](const Node *node) { return !node->operands.empty(); });
  llvm::SmallPtrSet<Node *, 16> seen;
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    if (node->isOutput)
      continue;
    for (Node *user : graph.getUsers(node)) {
      if (user->isLeaf() || user->isOutput || slice.contains(user) ||
          !seen.insert(user).second)
        continue;
      if (user->vars > 0 || user->pins > 0)
        waiting.push_back(user);
      worklist.push_back(user);
    }
  }
  llvm::copy_if(slice.held, std::back_inserter(waiting),
                [](Node *node) { return !node->isOutput; });
  llvm::sort(waiting, [](Node *a, Node *b) { return a->order < b->order; });
  return waiting;
}

void ProgramPlanner::addWaitingValues() {
  markOutputs(true);
  std::vector<Node *> keeping = slice.leaves;
  llvm::erase_if(keeping, std::not_fn(isUnseen));
  llvm::copy_if(slice.shared, std::back_inserter(keeping),
                [](Node *node) { return node->vars == 0 && !node->isOutput; });
  std::vector<Node *> waiting = findWaiting();
  // Those in the slice are kept by a rule of their own.
  llvm::erase_if(waiting, [&](Node *node) { return slice.contains(node); });
  for (Node *node : waiting) {
    // Values that depend on the updates of this program can be computed by it,
    // too, if it keeps old values.
    bool isOfNext = node->generation > updates.getFlushes();
    if (node->generation > updates.getFlushes() + 1 ||
        node->device != slice.device)
      continue;
    uint32_t needed = markNeeded(graph, node);
    int64_t kept = 0;
    for (Node *source : keeping)
      if (source->epoch == needed && (source->isLeaf() || !isOfNext))
        kept += getNumBytes(source->shape(), source->dtype);
    if (getNumBytes(node->shape(), node->dtype) >= kept)
      continue;
    keep(node, KeptFor::Update);
    node->isOutput = true;
  }
  markOutputs(false);
  // Also where none is added, as the walks have taken the marks of the slice.
  if (!waiting.empty())
    traceSlice(graph, std::vector<Node *>(slice.outputs), slice);
}

void ProgramPlanner::setGiven(std::vector<NodeRef> values, Location line) {
  given = std::move(values);
  givenAt = line;
}

bool ProgramPlanner::isGiven(const Node *leaf) const {
  return llvm::any_of(given,
                      [&](const NodeRef &ref) { return ref.get() == leaf; });
}

void ProgramPlanner::findDonatable(RunKind kind) {
  donatable.assign(slice.leaves.size(), false);
  bool isOfUpdates = kind == RunKind::Updates;
  // A sweep of derivatives may be about to read anything.
  if ((!isOfUpdates && given.empty()) || graph.isSwept())
    return;
  markOutputs(true);
  std::vector<Node *> replaced, others;
  uint32_t needed = markNeeded(graph, findWaiting());
  for (auto [leaf, mayWrite] : llvm::zip_equal(slice.leaves, donatable)) {
    bool isOfCall = isGiven(leaf);
    mayWrite =
        (isOfUpdates || isOfCall) && leaf->epoch != needed && isUnseen(leaf);
    if (mayWrite)
      (isOfCall || updates.replace(leaf) ? replaced : others).push_back(leaf);
  }
  keepReadable(replaced, others);
  markOutputs(false);
}

/// Has the program write over none of the values that gradients can read when
/// the histories of those that are replaced have ended.
void ProgramPlanner::keepReadable(llvm::ArrayRef<Node *> replaced,
                                  llvm::ArrayRef<Node *> others) {
  if (others.empty())
    return;
  Endings endings = findEndings(graph, replaced);
  for (Node *node : endings.ended)
    node->isEnding = true;
  std::vector<Node *> readable = findReadable(graph, others);
  llvm::SmallPtrSet<Node *, 16> isReadable(readable.begin(), readable.end());
  for (Node *node : endings.ended)
    node->isEnding = false;
  for (auto [leaf, mayWrite] : llvm::zip_equal(slice.leaves, donatable))
    mayWrite = mayWrite && !isReadable.contains(leaf);
}

void ProgramPlanner::recordDonations() {
  llvm::DenseMap<const Buffer *, Node *> replacing;
  for (const auto &[number, old] : updates.findReplaced(slice.outputs))
    replacing[old.get()] = slice.outputs[number];
  for (auto [leaf, mayWrite] : llvm::zip_equal(slice.leaves, donatable)) {
    if (!mayWrite)
      continue;
    Node *update = replacing.lookup(leaf->buffer.get());
    graph.setDonated(
        leaf, isGiven(leaf)
                  ? *givenAt
                  : (update ? update : slice.outputs.front())->op->getLoc());
    overwritten.emplace_back(leaf);
  }
}

void ProgramPlanner::endOverwrittenHistories() {
  std::vector<Node *> present;
  for (const NodeRef &ref : overwritten)
    if (Node *leaf = ref.get())
      present.push_back(leaf);
  overwritten.clear();
  if (!present.empty())
    endHistoriesBy(graph, present);
}
