//===- Updates.cpp - Updates of parameters, and fetches -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `p.update(v)` rebinds p to u = stop_grad(v) and notes u as pending. Pending
// updates run together, as the outputs of one program, when
//
// * a Var whose value depends on a pending update is updated again: the next
//   iteration has come to where the last one was. So the slices of a loop
//   repeat, whatever its updates read from each other (momentum, moving
//   averages), and the block does not grow with the number of iterations; or
// * a value that depends on one of them is asked for, or all are. What else is
//   asked for at once is computed along: a batch norm's result, and the moments
//   that it has moved, are one program.
//
// `SessionImpl::flushes` counts these runs. A value's generation is the count
// at which all updates it depends on are done; it depends on a pending one if
// that is more than the present count.
//
// The program may write into the buffer of a parameter's old value if nobody
// can see that value any more but history, that is: no Var holds it, NumPy does
// not see it, and no value that a Var or a fetch holds, and that this program
// does not compute, is made of it. The old value's node is then marked, and
// gradients through it are errors that name the update.
//
// A program that cannot start, since what it needs is not there, leaves every
// parameter as it was: what it would have written over keeps its value, and new
// memory gets a copy of it.
//
// A value that a Var holds and nobody has asked for yet (a loss that is kept
// for later) would keep all that it is made of, so the program of the updates
// computes it along where it is smaller than the parameters that it keeps.
//
// A loop's first iteration is to be the same program as the next ones, so
// parameters and optimisers' states that are still unevaluated (random numbers,
// zeros) are computed when they are first differentiated by, or updated.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "SessionImpl.h"

using namespace mlir;
using namespace metaops;

static void checkUpdate(const Var &x, const Node &value) {
  if (x.shape() != value.shape())
    fail(ErrorKind::Value,
         "update: the value has shape " + formatShape(value.shape()) +
             ", expected the Var's shape " + formatShape(x.shape()));
  if (x.dtype() != value.dtype)
    fail(ErrorKind::Type, "update: the value is " + nameOf(value.dtype) +
                              ", expected the Var's " + nameOf(x.dtype()));
  const Device *on = x.getNode()->device;
  if (value.device && value.device != on)
    fail(ErrorKind::Value, "update: the value is on " +
                               value.device->getName() +
                               ", expected the Var's device " + on->getName());
}

void SessionImpl::update(Var &x, Operand value) {
  if (!value.isNumber())
    checkUpdate(x, *value.getNode());
  if (x.node->generation > flushes)
    flushUpdates();
  computeInitialValues(x.node);
  Node *updated = recorder.stopGrad(
      value.isNumber() ? recorder.full(x.shape(), value, x.dtype())
                       : value.getNode());
  updated->device = x.node->device;
  updated->generation = flushes + 1;
  updated->isPendingUpdate = true;
  pendingUpdates.insert(updated);
  if (x.node->buffer)
    replaced[updated] = RunRef(x.node->buffer);
  x.node->replacedBy = flushes + 1;
  assign(x, updated);
}

std::vector<Node *> SessionImpl::findDue(llvm::ArrayRef<Node *> along) const {
  llvm::SmallSetVector<Node *, 16> due(pendingUpdates.begin(),
                                       pendingUpdates.end());
  // What depends on the updates comes after them, in a program of its own that
  // is the same whichever updates came before.
  for (Node *node : along)
    if (!node->isLeaf() && node->generation <= flushes)
      due.insert(node);
  return std::vector<Node *>(due.begin(), due.end());
}

void SessionImpl::flushUpdates(llvm::ArrayRef<Node *> along) {
  if (pendingUpdates.empty())
    return;
  compute(findDue(along), RunKind::Updates);
  for (Node *node : pendingUpdates)
    node->isPendingUpdate = false;
  pendingUpdates.clear();
  replaced.clear();
  ++flushes;
  graph.collect();
}

//===----------------------------------------------------------------------===//
// Donation
//===----------------------------------------------------------------------===//

/// Whether nobody but history, and what has been recorded, sees the value.
static bool isUnseen(const Node *leaf) {
  return leaf->vars == 0 && leaf->pins == 0 && !leaf->isScalar &&
         !leaf->buffer->isShared() && leaf->buffer->mayBeWritten();
}

std::vector<Node *> SessionImpl::findWaiting() {
  std::vector<Node *> waiting = graph.getWaiting();
  llvm::erase_if(waiting, [](Node *node) { return node->isOutput; });
  return waiting;
}

void SessionImpl::markOutputs(bool areOutputs) {
  for (Node *output : slice.outputs)
    output->isOutput = areOutputs;
}

void SessionImpl::addWaitingValues() {
  markOutputs(true);
  bool isAdded = false;
  for (Node *node : findWaiting()) {
    // What depends on the updates of this program can be computed by it, too.
    if (node->generation > flushes + 1 || node->device != slice.device)
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

void SessionImpl::findDonatable(RunKind kind) {
  donatable.assign(slice.leaves.size(), false);
  if (kind != RunKind::Updates)
    return;
  markOutputs(true);
  uint32_t needed = markNeeded(graph, findWaiting());
  markOutputs(false);
  for (auto [leaf, mayWrite] : llvm::zip_equal(slice.leaves, donatable))
    mayWrite = leaf->epoch != needed && isUnseen(leaf);
}

ReplacedValues SessionImpl::findReplaced() const {
  ReplacedValues values;
  for (auto [number, output] : llvm::enumerate(slice.outputs))
    if (auto found = replaced.find(output); found != replaced.end())
      values.emplace_back(number, found->second);
  return values;
}

void SessionImpl::recordDonations(const ProgramRun &run) {
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
    Node *source = output;
    while (!source->isLeaf() && graph.getInfo(source).isView)
      source = source->operands.front();
    if (source != leaf)
      graph.setDonated(leaf, output->op->getLoc());
  }
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

bool SessionImpl::isInitialValue(const Node *node) const {
  return !node->isLeaf() && node->isInitial && node->generation <= flushes;
}

void SessionImpl::computeInitialValues(llvm::ArrayRef<Node *> targets) {
  llvm::SmallSetVector<Node *, 16> nodes;
  for (Node *target : targets)
    if (isInitialValue(target))
      nodes.insert(target);
  if (nodes.empty())
    return;
  // All states of an optimiser at once. Random numbers may be a batch of data,
  // and what is made of a state belongs to the iteration.
  for (Node *node : graph.getWaiting())
    if (node->vars > 0 && !node->isRandom && !node->isDerived &&
        isInitialValue(node))
      nodes.insert(node);
  compute(nodes.getArrayRef(), RunKind::Initial);
}

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

uint64_t SessionImpl::fetch(llvm::ArrayRef<const Var *> vars) {
  Fetch entry{nextFetch, {}};
  for (const Var *var : vars)
    entry.nodes.push_back(var->node);
  // Of a value that cannot be computed it is told now, not at every later run.
  if (graph.getNumDonated() > 0)
    if (Node *overwritten = findOverwritten(graph, entry.nodes))
      failOverwritten(overwritten);
  // Taking a number's memory may be refused: now, and not when all is done.
  for (Node *node : entry.nodes)
    if (node->isScalar)
      bufferOf(node);
  for (Node *node : entry.nodes)
    graph.pin(node);
  fetches.push_back(std::move(entry));
  completeFetches();
  return nextFetch++;
}

void SessionImpl::completeFetches() {
  llvm::erase_if(fetches, [&](const Fetch &fetch) {
    if (!llvm::all_of(fetch.nodes, [](Node *node) { return node->isLeaf(); }))
      return false;
    CompletedFetch completed{fetch.id, {}};
    for (Node *node : fetch.nodes) {
      node->buffer->forbidWrites();
      completed.values.push_back(read(node));
      graph.unpin(node);
    }
    completedFetches.push_back(std::move(completed));
    return true;
  });
}

std::vector<CompletedFetch> SessionImpl::takeCompletedFetches() {
  return std::move(completedFetches);
}
