//===- Graph.cpp - The session's block of operations ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Graph.h"

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Device/Device.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace metaops;

/// Throws, with the line of each value.
[[noreturn]] static void failSeveralDevices(const Node &a, const Node &b) {
  auto describe = [](const Node &node) {
    return "of shape " + formatShape(node.shape()) + " on " +
           node.device->getName() + ", recorded at " +
           formatLine(node.op->getLoc());
  };
  fail(ErrorKind::Value,
       "values of two devices are used together: one " + describe(a) +
           ", and one " + describe(b) + "; bring one over with .to('" +
           b.device->getName() + "') or .to('" + a.device->getName() + "')");
}

NodeRef::NodeRef(Node *node) : node(node), order(node->order) {}

Node *NodeRef::get() const {
  return node->op && node->order == order ? node : nullptr;
}

Graph::Graph(MLIRContext *context, std::shared_ptr<SignatureTable> table)
    : builder(context), signatures(std::move(table)) {
  builder.setInsertionPointToEnd(&block);
}

Graph::~Graph() {
  // Uses first, then what they use.
  while (!block.empty())
    block.back().erase();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Node *Graph::createNode() {
  if (freeNodes.empty())
    return &storage.emplace_back();
  Node *node = freeNodes.back();
  freeNodes.pop_back();
  // A traversal's mark must not outlive the node that bore it.
  node->~Node();
  return new (node) Node();
}

Node *Graph::adopt(OpResult result, SignatureTable::Id signature,
                   llvm::ArrayRef<Node *> sources, Device *device) {
  Operation *op = result.getOwner();
  Node *node = createNode();
  node->op = op;
  node->number = result.getResultNumber();
  node->order = ++numRecorded;
  node->period = period;
  node->signature = signature;
  node->dtype = *fromElementType(node->type().getElementType());
  node->device = device;
  const SignatureInfo &info = getInfo(node);
  node->isScalar = info.isScalar;
  node->isTransfer = info.isTransfer;
  node->isInitial = !info.isBuffer;
  node->isRandom = info.isRandom;
  node->isStopped = stopsGradients;
  node->operands.assign(sources.begin(), sources.end());
  uint64_t endedChains = 0;
  // Results beside each other differ in what they are made of alone.
  const Node *first = result.getResultNumber() > 0 ? getNode(op) : nullptr;
  if (first) {
    node->generation = first->generation;
    node->isInitial = first->isInitial;
    node->isRandom = first->isRandom;
    node->isDerived = first->isDerived;
  }
  for (const Node *source : first ? llvm::ArrayRef<Node *>() : sources) {
    node->generation = std::max(node->generation, source->generation);
    node->isInitial &= source->isInitial && !source->buffer;
    node->isRandom |= source->isRandom;
    node->isDerived |= source->isDerived || source->vars > 0;
  }
  if (first && isFlowing(first))
    endedChains = first->endedChains;
  else
    for (const Node *source : sources)
      endedChains |= source->endedChains;
  // Of what another result of the operation is made of it needs nothing, but
  // where a gradient may be asked for by that result.
  if (info.isCustom || info.mayReadResults || info.sources.empty())
    for (const Node *source : sources)
      node->numCarrying += source->carries;
  else
    for (unsigned number : info.sources[node->number].set_bits())
      node->numCarrying += sources[number]->carries;
  nodes.try_emplace(result, node);
  if (isFlowing(node)) {
    node->carries = node->numCarrying > 0;
    node->endedChains = endedChains;
  }
  return node;
}

/// Returns the device of an operation's results: that of its operands.
Device *Graph::chooseDevice(Operation *op, SignatureTable::Id signature,
                            llvm::ArrayRef<Node *> sources) const {
  if (signatures->getInfo(signature).isTransfer)
    return findDevice ? findDevice(cast<metaop::TransferOp>(op).getTo())
                      : nullptr;
  Device *device = nullptr;
  for (const Node *source : sources) {
    if (source->device == device || !source->device)
      continue;
    if (device)
      failSeveralDevices(
          **llvm::find_if(sources,
                          [&](Node *node) { return node->device == device; }),
          *source);
    device = source->device;
  }
  return device;
}

Node *Graph::skipViews(Node *node) const {
  while (!node->isLeaf() && getInfo(node).isView)
    node = node->viewed();
  return node;
}

Node *Graph::adopt(Operation *op) {
  llvm::SmallVector<Node *, 4> sources = findSources(op);
  return adopt(op, sources, signatures->intern(op));
}

Node *Graph::adopt(Operation *op, llvm::ArrayRef<Node *> sources,
                   SignatureTable::Id signature) {
  Device *device = chooseDevice(op, signature, sources);
  ++numOps;
  Node *last = nullptr;
  for (OpResult result : op->getResults()) {
    Node *node = adopt(result, signature, sources, device);
    node->nextResult = last ? std::exchange(last->nextResult, node) : node;
    last = node;
  }
  return last->nextResult;
}

void Graph::adoptAfter(Operation *last) {
  Block::iterator it = last ? std::next(Block::iterator(last)) : block.begin();
  for (; it != block.end(); ++it)
    adopt(&*it);
}

void Graph::forEachNode(llvm::function_ref<void(Node *)> visit) {
  for (Operation &op : block)
    for (Value result : op.getResults())
      visit(getNode(result));
}

llvm::SmallVector<Node *, 4> Graph::getUsers(const Node *node) const {
  llvm::SmallVector<Node *, 4> users;
  // However often its regions use a value, an operation captures it once.
  llvm::SmallPtrSet<Operation *, 4> capturing;
  for (Operation *op : node->value().getUsers()) {
    bool isInside = op->getBlock() != &block;
    while (op->getBlock() != &block)
      op = op->getParentOp();
    if (!isInside || capturing.insert(op).second)
      llvm::append_range(users, resultsOf(getNode(op)));
  }
  return users;
}

//===----------------------------------------------------------------------===//
// Who needs a value
//===----------------------------------------------------------------------===//

void Graph::hold(Node *node) {
  if (node->isLeaf() || node->waitingPlace != 0)
    return;
  waiting.push_back(node);
  node->waitingPlace = waiting.size();
}

void Graph::letGo(Node *node) {
  if (node->vars == 0 && node->pins == 0)
    stopWaiting(node);
}

void Graph::stopWaiting(Node *node) {
  if (node->waitingPlace == 0)
    return;
  Node *last = waiting.back();
  waiting[node->waitingPlace - 1] = last;
  last->waitingPlace = node->waitingPlace;
  waiting.pop_back();
  node->waitingPlace = 0;
}

void Graph::retainVar(Node *node) {
  ++numVars;
  if (node->vars++ > 0)
    return;
  node->wasHeld = true;
  hold(node);
  changeHolders(node, /*wasHeld=*/node->heldViews > 0);
  if (isFloat(node->dtype) && (!node->carries || getInfo(node).mayReadResults))
    updateCarriesOf(node);
}

void Graph::releaseVar(Node *node) {
  --numVars;
  if (--node->vars > 0)
    return;
  letGo(node);
  changeHolders(node, /*wasHeld=*/true);
  if (!node->isLeaf() && node->period < period && !node->value().use_empty())
    rebound.emplace_back(node);
  if (node->isOverdue && !isHeldWithHistory(node))
    endHistories(node);
  if (node->carries &&
      (!node->value().use_empty() || getInfo(node).mayReadResults))
    updateCarriesOf(node);
  enqueue(node);
}

void Graph::pin(Node *node) {
  if (node->pins++ == 0)
    hold(node);
}

void Graph::unpin(Node *node) {
  if (--node->pins > 0)
    return;
  letGo(node);
  enqueue(node);
}

std::vector<Node *> Graph::getWaiting() const {
  std::vector<Node *> nodes;
  for (Node *node : waiting)
    if (!node->isLeaf())
      nodes.push_back(node);
  llvm::sort(nodes, [](Node *a, Node *b) { return a->order < b->order; });
  return nodes;
}

std::vector<Node *> Graph::prune(std::vector<NodeRef> &list,
                                 llvm::function_ref<bool(Node *)> isKept) {
  std::vector<Node *> nodes;
  llvm::erase_if(list, [&](const NodeRef &ref) {
    Node *node = ref.get();
    if (!node || !isKept(node))
      return true;
    nodes.push_back(node);
    return false;
  });
  return nodes;
}

/// Returns whether a pending value that a Var holds is made of the node.
bool Graph::leadsToHeld(const Node *node) const {
  llvm::SmallVector<const Node *> stack{node};
  llvm::SmallPtrSet<const Node *, 16> seen;
  while (!stack.empty())
    for (const Node *user : getUsers(stack.pop_back_val())) {
      if (user->isLeaf() || !seen.insert(user).second)
        continue;
      if (user->vars > 0)
        return true;
      stack.push_back(user);
    }
  return false;
}

std::vector<Node *> Graph::getRebound() {
  return prune(rebound, [this](Node *node) {
    return !node->isLeaf() && node->vars == 0 && leadsToHeld(node);
  });
}

void Graph::setTarget(Node *node) {
  if (node->isTarget)
    return;
  node->isTarget = true;
  // Those that are gone are looked for when the list would grow.
  if (targets.size() == targets.capacity())
    getTargets();
  targets.emplace_back(node);
}

std::vector<Node *> Graph::getTargets() {
  return prune(targets, [](Node *) { return true; });
}

bool Graph::isDead(const Node *node) const {
  return node->vars == 0 && node->pins == 0 && node->sweeps == 0 &&
         node->value().use_empty();
}

void Graph::enqueue(Node *node) {
  if (node->isQueued)
    return;
  node->isQueued = true;
  queue.push_back(node);
}

void Graph::enqueueOperands(Node *node) {
  for (Node *operand : node->operands)
    enqueue(operand);
}

void Graph::collect() {
  while (!queue.empty()) {
    Node *node = queue.back();
    queue.pop_back();
    node->isQueued = false;
    if (!node->op)
      continue; // gone with a result beside it
    auto results = resultsOf(node);
    auto alive = llvm::find_if(results, [&](Node *n) { return !isDead(n); });
    if (alive == results.end())
      erase(node);
    else if (isDead(node) && mayGo(*alive, /*keepsHistory=*/true))
      turnIntoLeaves(*alive);
  }
}

void Graph::collectAll() {
  // An operation without a node was being recorded when the call failed.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (Node *node = getNode(&op))
      enqueue(node);
    else if (op.use_empty())
      op.erase();
  collect();
}

/// Erases the operation of a node, and the nodes of all its results.
void Graph::erase(Node *node) {
  Operation *op = node->op;
  enqueueOperands(node);
  if (getInfo(node).isCustom)
    calls.erase(op);
  for (Node *result : resultsOf(node)) {
    if (result->isPendingUpdate && onUpdateErased)
      onUpdateErased(result);
    if (result->isDonated)
      --numDonated;
    if (result->isRepeated)
      repeating.erase(result);
    nodes.erase(result->value());
    historyBytes -= result->historyBytes;
    result->buffer.reset();
    result->op = nullptr;
    freeNodes.push_back(result);
  }
  --numOps;
  op->erase();
}
