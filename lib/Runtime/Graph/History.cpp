//===- History.cpp - How long a computed value keeps its operands ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A computed value stays in the block with the operation that made it, so that
// it may be differentiated. That is of use only while a gradient can flow from
// it to something a Var holds. `Node::carries` says so of each value:
//
//   carries(v) = v is a float, and a Var holds it (or has done so, until the
//                update that replaces it is run), or its operation is
//                differentiable, not stopped, and some operand carries.
//
// An operation with regions counts as differentiable. Of its operands those
// count that this result is made of (SignatureInfo::sources); all of them where
// it has derivatives of its own, or a result may be made of another one. Where
// it has no gradient, it keeps its history for a gradient through it to be an
// error.
//
// A computed value none of whose operands carries (or that is no float, or the
// result of stop_grad, or stopped) becomes a `metaop.buffer`: its operation and
// all that only it needed go. When the last Var of a value dies, what changes
// is carried forward along the uses, so that a chain x = f(x) does not grow in
// a loop. Stopped is what was recorded under Python's no_grad.
//
// An operation goes with all of its results: when each is computed and keeps no
// history, or needed by nobody. Until then those that are computed stay beside
// the others, so that a gradient of one finds the others in memory.
//
// A chain x = f(x, c) whose values are asked for as it grows, with c held,
// would keep the operations of all steps. So histories have a bound in bytes,
// past which the oldest end (HistoryBound.cpp). Values that were only saved for
// a gradient go before, and are computed again if there is one.
//
// An end must not be mistaken for a gradient of zero. It belongs to a chain,
// one of 64: the value at which it ends has the chain's bit in `endedChains`,
// and so has what is made of it and keeps no history; what Vars hold, or have
// held before they were rebound, and the lost part was made of has the bit in
// `Past::lostChains`. A gradient of a value that
// comes out of a chain, by one that went into it, is an error.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;
using namespace metaops;

bool Graph::isFlowing(const Node *node) const {
  // A gradient that is refused is not zero.
  const SignatureInfo &info = getInfo(node);
  return isFloat(node->dtype) && !node->isStopped &&
         (info.isDifferentiable || info.hasRegions || info.isExtern);
}

bool Graph::isDependent(const Node *node) const {
  // A view that has no derivative stops gradients.
  const SignatureInfo &info = getInfo(node);
  return isFloat(node->dtype) && !node->isStopped &&
         (info.isDifferentiable || !info.isView);
}

/// Returns whether a result of the node's operation that may be made of another
/// one carries itself: a gradient of the one may be asked for by the other.
bool Graph::hasCarryingSibling(const Node *node) const {
  return getInfo(node).mayReadResults &&
         llvm::any_of(resultsOf(const_cast<Node *>(node)), [&](Node *result) {
           return result != node && isFloat(result->dtype) &&
                  (result->vars > 0 || result->isReplaced);
         });
}

bool Graph::needsHistory(const Node *node) const {
  return isFlowing(node) && (node->numCarrying > 0 || hasCarryingSibling(node));
}

/// Returns whether a value is made of an operand, and not only another result
/// of its operation, by which no gradient of it may be asked for.
static bool isMadeOf(const SignatureInfo &info, const Node *node,
                     uint32_t operand) {
  return info.isCustom || info.mayReadResults ||
         info.flows(node->number, operand);
}

/// Returns how often a value is among the operands that another one is made of.
static int countMade(const SignatureInfo &info, const Node *user,
                     const Node *node) {
  int count = 0;
  for (auto [number, operand] : llvm::enumerate(user->operands))
    count += operand == node && isMadeOf(info, user, number);
  return count;
}

void Graph::updateCarries(Node *start) {
  worklist.push_back(start);
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    bool flows = needsHistory(node);
    // Also what is not computed yet passes the ends on to what is made of it.
    if (!flows)
      inheritEnds(node);
    if (node->buffer && mayGo(node, /*keepsHistory=*/true))
      turnIntoLeaves(node);
    bool carries =
        flows || ((node->vars > 0 || node->isReplaced) && isFloat(node->dtype));
    if (carries == node->carries)
      continue;
    node->carries = carries;
    llvm::SmallPtrSet<const Node *, 4> seen;
    for (Node *user : getUsers(node)) {
      const SignatureInfo &info = getInfo(user);
      // Those of a user that is made of a part come once for each operand.
      int number = info.sources.empty() ? 1 : countMade(info, user, node);
      if (!info.sources.empty() && !seen.insert(user).second)
        continue;
      if (number == 0)
        continue;
      user->numCarrying += carries ? number : -number;
      worklist.push_back(user);
    }
  }
}

void Graph::updateCarriesOf(Node *held) {
  if (!getInfo(held).mayReadResults)
    return updateCarries(held);
  // It may go with its operation.
  auto results = llvm::map_to_vector<4>(
      resultsOf(held), [](Node *result) { return NodeRef(result); });
  for (const NodeRef &result : results)
    if (Node *node = result.get())
      updateCarries(node);
}

void Graph::setReplaced(Node *node, bool isReplaced) {
  node->isReplaced = isReplaced;
  if (isFloat(node->dtype))
    updateCarriesOf(node);
}

/// Returns whether no result of the node's operation needs it any more, to be
/// computed or, with `keepsHistory`, for a gradient. The node itself may be
/// computed before it has its Var.
bool Graph::mayGo(Node *node, bool keepsHistory) const {
  // Regions may make several results of nothing.
  bool isKept = node->operands.empty() && node->nextResult == node;
  return !isKept && llvm::all_of(resultsOf(node), [&](Node *result) {
    if (result->isProvisional || result->sweeps > 0)
      return false;
    return (result != node && isDead(result)) ||
           (result->isLeaf() && !(keepsHistory && needsHistory(result)));
  });
}

/// Has the results of an operation that may go stay without it. Of several,
/// those that nobody needs are erased; a single one may be computed before it
/// has its Var.
void Graph::turnIntoLeaves(Node *node) {
  Operation *op = node->op;
  bool isOneOfSeveral = node->nextResult != node;
  if (getInfo(node).isCustom)
    calls.erase(op);
  enqueueOperands(node);
  // Others may keep now what was spared with it.
  for (Node *operand : node->operands)
    unspare(operand);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto results = llvm::to_vector<2>(resultsOf(node));
  // One may be made of another, which stays beside it no more.
  for (Node *result : results)
    inheritEnds(result);
  for (Node *result : results) {
    moveFromViewed(result);
    auto leaf = metaop::BufferOp::create(builder, op->getLoc(), result->type());
    result->value().replaceAllUsesWith(leaf);
    nodes.erase(result->value());
    nodes.try_emplace(leaf, result);
    result->op = leaf;
    result->number = 0;
    result->nextResult = result;
    result->signature = signatures->intern(leaf);
    result->operands.clear();
    result->numCarrying = 0;
    result->depth = 0;
    result->isSaved = result->isOverdue = false;
    unspare(result);
    recount(result);
    if (isOneOfSeveral && isDead(result))
      enqueue(result);
    ++numOps;
  }
  --numOps;
  op->erase();
}

void Graph::setComputed(Node *node, BufferRef buffer, uint32_t depth) {
  node->buffer = std::move(buffer);
  node->depth = depth;
  stopWaiting(node);
  settleOperation(node);
  addHistory(node);
}

void Graph::settle(Node *node, bool failed) {
  node->isProvisional = false;
  if (failed) {
    node->buffer.reset();
    node->ready = Ticket();
    node->depth = 0;
    recount(node);
    hold(node);
  } else if (node->buffer) {
    settleOperation(node);
  }
}

//===----------------------------------------------------------------------===//
// The ends of histories
//===----------------------------------------------------------------------===//

void Graph::inheritEnds(Node *node) {
  if (!isFlowing(node))
    return;
  // Gradients may be by it as a former value of a Var, or as one that a later
  // one repeats.
  auto lose = [&](Node *source) {
    if (source->wasRebound || source->isRepeated)
      node->addLost(source->order);
    if (!source->isRepeated)
      return;
    if (node->endedChains == 0)
      node->endedChains =
          source->getLostChains() ? source->getLostChains() : makeChain();
    llvm::SmallVector<Node *, 2> repeated{source};
    while (!repeated.empty()) {
      Node *each = repeated.pop_back_val();
      node->addLost(each->order);
      addLostChains(each, node->endedChains);
      // One that repeats it may go before the one that repeats that.
      for (const NodeRef &ref : repeating.lookup(each))
        if (Node *later = ref.get(); later && later->isRepeated)
          repeated.push_back(later);
    }
  };
  const SignatureInfo &info = getInfo(node);
  for (auto [number, operand] : llvm::enumerate(node->operands)) {
    if (!isMadeOf(info, node, number))
      continue;
    node->endedChains |= operand->endedChains;
    node->addLost(operand->getLost());
    lose(operand);
    if (!node->overwrittenAt) {
      node->overwrittenAt = operand->overwrittenAt;
      node->isEndedByCall = operand->isEndedByCall;
    }
  }
  if (!info.siblings.empty())
    for (Node *sibling : resultsOf(node))
      if (info.isMadeOf(node->number, sibling->number))
        lose(sibling);
}

/// Notes that nothing can be differentiated any more by what the values on the
/// stack were made of. Returns the bits of the chains that end, what of this
/// has been rebound or may be, and the values at which the same chains have
/// ended before.
Graph::Ends Graph::noteEnds(std::vector<Node *> stack) {
  std::vector<Node *> lost;
  Ends ends;
  auto &[chains, former, outdated] = ends;
  uint32_t mark = startTraversal();
  while (!stack.empty()) {
    Node *top = stack.back();
    stack.pop_back();
    chains |= top->endedChains;
    former.add(top->getLost());
    // It may be rebound later.
    if (top->vars > 0 || top->wasRebound || top->isReplaced ||
        top->isRepeated) {
      former.add(top->order);
      lost.push_back(top);
    }
    if (getInfo(top).mayReadResults)
      for (Node *sibling : resultsOf(top))
        if (std::exchange(sibling->epoch, mark) != mark)
          stack.push_back(sibling);
    if (top->vars == 0 && top->endedChains && top->buffer && top->pins == 0 &&
        top->operands.empty())
      outdated.push_back(top);
    if (!isFlowing(top))
      continue;
    for (Node *source : top->operands)
      if (source->epoch != mark) {
        source->epoch = mark;
        stack.push_back(source);
      }
  }
  if (chains == 0)
    chains = makeChain();
  for (Node *held : lost)
    addLostChains(held, chains);
  return ends;
}

void Graph::endAt(Node *end, Node *source, Location line) {
  if (!isFloat(source->dtype) || !source->carries)
    return;
  Ends ends = noteEnds({source});
  end->endedChains |= ends.chains;
  end->addLost(ends.former);
  end->overwrittenAt = line;
}

/// Has the values stay without their operands, and notes which are cut off.
/// Returns those at which the same chains have ended before.
std::vector<Node *> Graph::endHistories(llvm::ArrayRef<Node *> values) {
  std::vector<Node *> stack;
  for (Node *value : values)
    llvm::append_range(stack, resultsOf(value));
  auto [chains, former, outdated] = noteEnds(std::move(stack));
  for (Node *value : values) {
    // Some result may still be to be computed; or the operation may be gone.
    if (!mayGo(value, /*keepsHistory=*/false))
      continue;
    auto ended = llvm::to_vector<2>(resultsOf(value));
    for (Node *result : ended) {
      result->endedChains |= chains;
      result->addLost(former);
    }
    turnIntoLeaves(value);
    llvm::for_each(ended, [&](Node *result) { updateCarries(result); });
  }
  return outdated;
}

/// Returns whether a result of the node's operation is held that has a
/// gradient.
bool Graph::isHeldWithHistory(Node *node) const {
  return llvm::any_of(resultsOf(node), [&](Node *result) {
    return (result->vars > 0 || result->pins > 0) && needsHistory(result);
  });
}

/// Calls `visit` with what the histories of the roots read, each once and with
/// the root that reaches farthest, and goes on where it says so.
static void
walkHistories(Graph &graph, std::vector<Node *> roots,
              llvm::function_ref<bool(Node *source, Node *root)> visit) {
  llvm::sort(roots, [](Node *a, Node *b) {
    return std::tie(b->depth, a->order) < std::tie(a->depth, b->order);
  });
  uint32_t mark = graph.startTraversal();
  std::vector<Node *> stack;
  for (Node *root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      Node *node = stack.back();
      stack.pop_back();
      for (Node *source : node->operands) {
        if (source->epoch == mark)
          continue;
        source->epoch = mark;
        if (visit(source, root))
          stack.push_back(source);
      }
    }
  }
}

void Graph::dropOldSaved(llvm::ArrayRef<Node *> values) {
  // Goes after two programs that have not read it.
  constexpr uint32_t savedDepth = 2;
  std::vector<Node *> roots, saved;
  for (Node *value : values)
    if (value->depth > savedDepth)
      roots.push_back(value);
  if (roots.empty())
    return;
  walkHistories(*this, roots, [&](Node *source, Node *root) {
    bool isOld = source->depth + savedDepth <= root->depth;
    bool isHeld = source->vars > 0 || source->pins > 0;
    if (isOld && source->isSaved && source->buffer && !isHeld)
      saved.push_back(source);
    // Former programs' runs have looked at what is still older.
    return !source->isLeaf() || source->depth + savedDepth >= root->depth;
  });
  dropSaved(saved);
}

/// Has values that are only kept for a gradient be computed again by it.
void Graph::dropSaved(llvm::ArrayRef<Node *> saved) {
  for (Node *node : saved) {
    BufferRef buffer = std::move(node->buffer);
    node->buffer.reset();
    if (numDonated > 0 && findOverwritten(*this, node))
      node->buffer = std::move(buffer);
    else
      node->isSaved = false;
    recount(node);
  }
}

/// Two ends behind each other: no step of the chain that has a history needs
/// the farther one any more. Other values' histories do not keep it either, or
/// a list of losses would hold the parameters of each.
void Graph::dropOutdated(llvm::ArrayRef<Node *> outdated) {
  if (outdated.empty())
    return;
  uint32_t needed = markNeeded(*this, getWaiting());
  for (Node *node : outdated)
    if (node->epoch != needed)
      setDonated(node, /*line=*/nullptr);
}

/// Returns the place in the order of recording behind which the node has got
/// its value: a call that was launched has given an older node another one.
static uint64_t getOrderOfValue(const Node *node) {
  return std::max(node->order, node->getLost().last);
}

Node *Graph::findEnded(Node *root, llvm::ArrayRef<Node *> targets) {
  // Values older than all targets depend on none of them.
  uint64_t lost = 0, first = std::numeric_limits<uint64_t>::max();
  for (Node *target : targets) {
    lost |= target->getLostChains();
    first = std::min(first, target->order);
  }
  if (lost == 0)
    return nullptr;
  auto endsAt = [&](const Node *node) {
    return (node->operands.empty() || !isFlowing(node)) &&
           llvm::any_of(targets, [&](const Node *target) {
             return target != node && target->order <= getOrderOfValue(node) &&
                    (target->getLostChains() & node->endedChains);
           });
  };
  std::vector<Node *> stack{root};
  uint32_t mark = startTraversal();
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    if ((node->endedChains & lost) && endsAt(node))
      return node;
    if (!isFlowing(node))
      continue;
    forEachFlowSource(node, [&](Node *source) {
      if (source->epoch != mark && getOrderOfValue(source) > first) {
        source->epoch = mark;
        stack.push_back(source);
      }
    });
  }
  return nullptr;
}

void Graph::setDonated(Node *node, LocationAttr line) {
  if (node->isDonated)
    return; // by another output with the same memory
  node->buffer.reset();
  node->isDonated = true;
  node->overwrittenAt = line;
  ++numDonated;
  recount(node);
}
