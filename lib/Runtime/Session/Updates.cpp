//===- Updates.cpp - Updates of parameters --------------------------------===//
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
// * a Var whose value depends on a pending update is updated again (or one that
//   was updated by the last run, for which somebody asked): the next
//   iteration has come to where the last one was. So the slices of a loop
//   repeat, whatever its updates read from each other (momentum, moving
//   averages), and the block does not grow with the number of iterations. An
//   update of the same Var at another place of the program belongs to the same
//   step, unless it is made of other Vars' pending updates: a layer that is
//   called twice before the step has moved its statistics twice; or
// * a value that depends on one of them is asked for, or all are. What else is
//   asked for at once is computed along: a batch norm's result, and the moments
//   that it has moved, are one program.
//
// `PendingUpdates` counts these runs. A value's generation is the count at
// which all updates it depends on are done; it depends on a pending one if that
// is more than the present count.
//
// A program that cannot start, since what it needs is not there, leaves every
// parameter as it was: what it would have written over keeps its value, and new
// memory gets a copy of it.
//
// A loop's first iteration is to be the same program as the next ones, so
// parameters and optimisers' states that are still unevaluated (random numbers,
// zeros) are computed when they are first differentiated by, or updated.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"

using namespace mlir;
using namespace metaops;

Node *SessionImpl::update(const Var &x, Operand value, CallPlace place) {
  bool isOfSameStep = !value.isNumber() &&
                      updates.continueStep(x.getNode(), value.getNode(), place);
  if ((updates.precede(x.getNode()) && !isOfSameStep) || isOfNextStep(x, value))
    flushUpdates();
  computeInitialValues(x.getNode());
  if (!settings.isLazy)
    releaseFormer(x.getFormer());
  Node *updated = recorder.stopGrad(
      value.isNumber() ? recorder.full(x.shape(), value, x.dtype())
                       : value.getNode());
  updated->device = x.getNode()->device;
  Node *made = value.isNumber() ? nullptr : value.getNode();
  if (made && metaop::isCheckpoint(made->op) &&
      llvm::is_contained(made->operands, x.getNode()))
    x.getNode()->isReadAgain = true;
  updates.add(graph, updated, x.getNode(), place);
  return updated;
}

/// Gradients by the values are not asked for any more.
void SessionImpl::releaseFormer(llvm::ArrayRef<NodeRef> values) {
  for (const NodeRef &former : values)
    if (Node *node = former.get(); node && node->isReplaced)
      graph.setReplaced(node, false);
}

/// Returns whether an update belongs to the next step of a loop that asks for a
/// value between two updates of one step (statistics, a loss, parameters): it
/// depends on pending ones, and the last update of the Var has been run with
/// what was asked for then.
bool SessionImpl::isOfNextStep(const Var &x, Operand value) const {
  return flushedForAsked && !value.isNumber() &&
         updates.precede(value.getNode()) && x.getNode()->generation > 0 &&
         x.getNode()->generation == updates.getFlushes();
}

void SessionImpl::prepareUpdates(llvm::ArrayRef<Node *> targets) {
  if (llvm::any_of(targets, [&](Node *node) { return updates.precede(node); }))
    flushUpdates();
  computeInitialValues(targets);
}

void SessionImpl::flushUpdates(llvm::ArrayRef<Node *> along) {
  if (updates.empty())
    return;
  flushedForAsked = !along.empty();
  runner.compute(updates.findDue(along), RunKind::Updates);
  updates.finish();
  graph.collect();
  // Before anybody lets go of them for want of a Var: there is a line to tell.
  planner.endOverwrittenHistories();
  // Eager updates are run at once, as each operator is, and the values that
  // they replace stay until the next ones.
  std::vector<NodeRef> former = updates.takeFormer();
  if (settings.isLazy)
    releaseFormer(former);
  graph.collect();
  // A run that fails is one of updates that are not pending any more.
  runner.waitUnlessAsynchronous();
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

bool SessionImpl::isInitialValue(const Node *node) const {
  return !node->isLeaf() && node->isInitial && !updates.precede(node);
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
  runner.compute(nodes.getArrayRef(), RunKind::Initial);
}
