//===- Requests.cpp - Asking for values -----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever asks for values gets tickets to wait for, of runs that are in queues
// when the call returns. Pending updates that the values depend on are run
// before, and what else is asked for goes along with them (Updates.cpp). So it
// does where it shares operations with them: a loss that is asked for after the
// step, and metrics of what it was made of, are computed by the step's program.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Walk.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "llvm/ADT/ScopeExit.h"

using namespace metaops;

/// The caller will wait for these values, which are there or on their way.
void SessionImpl::ask(llvm::ArrayRef<Node *> nodes) {
  launcher.resumeFor(nodes);
  for (Node *node : nodes)
    asked.add(node->ready);
}

/// Returns whether updates that are pending come before what is asked for, or
/// are made of the same operations.
bool SessionImpl::belongsToUpdates(llvm::ArrayRef<Node *> asked) {
  if (updates.empty())
    return false;
  bool belongs = false;
  Walk walk(graph);
  for (Node *root : asked) {
    belongs |= !root->isLeaf() && updates.precede(root);
    walk.run(root, [&](Node *node) {
      const SignatureInfo &info = graph.getInfo(node);
      belongs |= !node->isLeaf() && updates.need(node) && !info.isView &&
                 !info.isCheck && !info.isGenerator && !node->operands.empty();
    });
  }
  return belongs;
}

void SessionImpl::sync(llvm::ArrayRef<Node *> asked) {
  if (belongsToUpdates(asked))
    flushUpdates(asked);
  runner.compute(asked, RunKind::Asked);
  ask(asked);
  graph.collect();
}

void SessionImpl::syncAll() {
  flushUpdates();
  std::vector<Node *> held = graph.getWaiting();
  llvm::erase_if(held, [](Node *node) { return node->vars == 0; });
  sync(held);
  launcher.resume([](Ticket) { return true; });
  for (const std::unique_ptr<Device> &each : devices.getMade())
    asked.add(each->getQueue().getLast());
}

TensorData SessionImpl::getData(Node *node) {
  if (!node->isLeaf())
    sync(node);
  if (node->isDonated)
    failOverwritten(node);
  ask(node);
  TensorData data = transfers.read(node);
  asked.add(data.ready);
  return data;
}

void SessionImpl::prepareHeld(Node *node) {
  if (!node->device)
    node->device = &devices.getCurrent();
  if (!settings.isLazy)
    runEagerly(node);
}

void SessionImpl::runEagerly(Node *node) {
  if (updates.precede(node))
    flushUpdates();
  if (node->isLeaf())
    return;
  Slice slice;
  traceSlice(graph, node, slice);
  // A program is an operator, and says nothing about loops.
  llvm::scope_exit restore([this] { runner.setDepthStep(1); });
  runner.setDepthStep(0);
  // A value that one of them computes beside is there when it is met.
  for (Node *op : slice.ops)
    runner.compute(op, RunKind::Asked);
  waiter.waitInside(node->ready);
}

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

uint64_t SessionImpl::fetch(llvm::ArrayRef<Node *> nodes) {
  // Taking a number's memory may be refused: now, and not when all is done.
  for (Node *node : nodes)
    if (node->isScalar)
      memory.bufferOf(node);
  uint64_t identity = fetches.add(nodes.vec());
  runner.completeFetches();
  return identity;
}
