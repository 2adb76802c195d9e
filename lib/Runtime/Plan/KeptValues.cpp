//===- KeptValues.cpp - Values that a program keeps for later -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is *live* if a Var or a fetch holds it, or a pending value outside of
// the slice reads it that is live itself. It is kept
//
// (a) if it is far from memory: a reduction or a routine lies between it and
//     what is in memory or kept; or if a kernel writes it anyway;
// (b) else, being computed element by element, when a second program computes
//     it.
//
// Fusion is kept where a program is asked for once, nothing is computed a third
// time, and chains of values do not grow. Structure decides, and no figure of a
// machine.
//
// A value is kept for gradients if one can flow through it, and a kernel writes
// it anyway: the results of reductions and routines, and what reindexes read.
// It is not if it is just moved and added up: no gradient reads it then, nor
// anything that would have to be computed of it again. Of a scan, rows are kept
// that its own gradient will read, and nothing else reads (SavedRows.h); of a
// checkpoint, the values that it is to keep. Scans
// that are gradients are seldom differentiated again, and have theirs not kept.
//
// Views, checked indices and what a reindex enlarges are not kept, but what
// they are made of instead.
//
// If these are more bytes than the budget, what is kept by (b) goes first; then
// what has the fewest operators a byte.
//
//===----------------------------------------------------------------------===//

#include "KeptValues.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Transforms/Autodiff/SavedRows.h"
#include "MetaOps/Transforms/Simplify/FusionRules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace metaops;

static int64_t bytesOf(const Node *node) {
  return getNumBytes(node->shape(), node->dtype);
}

/// Returns whether the operation is one of those that are told to people.
static bool isOperator(const SignatureInfo &info) {
  return !info.isView && !info.isCheck && !info.isGenerator && !info.isScalar;
}

KeptValues::KeptValues(Graph &graph, const Slice &slice,
                       llvm::function_ref<bool(const Node *)> savesFor)
    : graph(graph), slice(slice), values(slice.numValues) {
  findLive();
  if (slice.repeats)
    findRepeated();
  findForGradients(savesFor);
  findCandidates();
}

//===----------------------------------------------------------------------===//
// Who waits for a value
//===----------------------------------------------------------------------===//

/// Returns whether a live value outside of the slice is made of the pending
/// one, or it is held itself.
bool KeptValues::isLiveOutside(Node *root) {
  llvm::SmallVector<Node *> path{root}, stack{root};
  while (!stack.empty()) {
    Node *node = stack.pop_back_val();
    auto known = outside.find(node);
    bool isLive = node->vars > 0 || node->pins > 0 ||
                  (known != outside.end() && known->second);
    if (isLive) {
      outside[root] = true;
      return true;
    }
    if (known != outside.end())
      continue;
    outside[node] = false;
    for (Node *user : graph.getUsers(node))
      if (!user->isLeaf() && !slice.contains(user))
        stack.push_back(user);
  }
  return false;
}

bool KeptValues::isAwaited(const Node *node) {
  if (!mayBeReadOutside(node))
    return false;
  return llvm::any_of(graph.getUsers(node), [&](Node *user) {
    return !user->isLeaf() && !slice.contains(user) && isLiveOutside(user);
  });
}

/// Returns whether a reindex makes it, of a much smaller value: that is
/// computed again for each consumer.
bool KeptValues::isEnlarged(const Node *node) const {
  return graph.getInfo(node).isReindex &&
         getNumElements(node->operands.front()->shape()) <
             getNumElements(node->shape()) / metaop::kSmallProducerRatio;
}

void KeptValues::findLive() {
  auto setLive = [&](Node *node) {
    anyLive = true;
    for (;;) {
      valueOf(node).isLive = true;
      const SignatureInfo &info = graph.getInfo(node);
      bool stands = info.isView || info.isCheck || isEnlarged(node);
      if (!stands || node->isOutput || node->viewed()->isLeaf())
        return;
      node = node->viewed();
    }
  };
  llvm::for_each(slice.held, setLive);
  for (Node *node : slice.shared)
    if (!valueOf(node).isLive && !node->operands.empty() && isAwaited(node))
      setLive(node);
}

/// Counts what is computed again for values that were live, and not kept.
void KeptValues::findRepeated() {
  std::vector<bool> isRepeated(slice.numValues);
  for (Node *op : llvm::reverse(slice.ops)) {
    bool needsOperands = llvm::any_of(resultsOf(op), [&](Node *result) {
      return slice.contains(result) &&
             (result->wasLeftOut || isRepeated[result->position]);
    });
    if (!needsOperands)
      continue;
    repeated += isOperator(graph.getInfo(op));
    for (Node *operand : op->operands)
      isRepeated[operand->position] = true;
  }
}

//===----------------------------------------------------------------------===//
// Reasons to keep a value
//===----------------------------------------------------------------------===//

/// Returns whether a reindex or a routine of the slice reads the value, so that
/// it exists in memory.
bool KeptValues::feedsReindex(const Node *node) const {
  return llvm::any_of(graph.getUsers(node), [&](Node *user) {
    if (!slice.contains(user))
      return false;
    const SignatureInfo &info = graph.getInfo(user);
    if (info.isView)
      return feedsReindex(user);
    if (info.isRoutine)
      return true;
    // A value of a much smaller space is computed again for each consumer.
    return info.isReindex &&
           getNumElements(user->shape()) / metaop::kSmallProducerRatio <
               getNumElements(node->shape());
  });
}

bool KeptValues::isWritten(const Node *node) const {
  const SignatureInfo &info = graph.getInfo(node);
  return info.isReindexReduce || info.isRoutine || feedsReindex(node);
}

/// Returns whether a value is one of its own, to be in one place.
bool KeptValues::mayBeKept(const Node *node) const {
  const SignatureInfo &info = graph.getInfo(node);
  // A value that is free of a device is to stay so.
  return !info.isView && !info.isCheck && !info.isGenerator && node->device;
}

/// Returns the results of a scan or a checkpoint that its gradient will read.
static llvm::SmallBitVector findReadByGradient(Operation *op) {
  if (auto scan = dyn_cast<metaop::ScanOp>(op))
    return metaop::findReadResults(scan);
  llvm::SmallBitVector areRead(op->getNumResults());
  if (metaop::isCheckpoint(op))
    areRead.set(op->getNumResults() - metaop::getNumKept(op),
                op->getNumResults());
  return areRead;
}

/// Finds the rows of a scan, and the named values of a checkpoint, that its
/// gradient will read.
void KeptValues::findReadRows(Node *op,
                              llvm::function_ref<bool(const Node *)> savesFor) {
  if (op->isOfDerivative || llvm::none_of(resultsOf(op), savesFor))
    return;
  llvm::SmallBitVector areRead = findReadByGradient(op->op);
  for (Node *result : resultsOf(op))
    if (areRead.test(result->number) && slice.contains(result)) {
      valueOf(result).isRead = true;
      valueOf(result).isForGradient = mayBeKept(result) && !result->isOutput;
    }
}

/// Returns what derivatives read of what an operation reads, or compute it of.
/// Those of a function read what its rules do.
static llvm::ArrayRef<Node *> getRead(const Node *op) {
  llvm::ArrayRef<Node *> operands = op->operands;
  return isa<metaop::CustomDerivativeOp>(op->op)
             ? operands.drop_front(op->op->getNumOperands())
             : operands;
}

/// Finds what is kept for gradients. Against the order of the slice, what
/// derivatives read are the operands of what is not linear, and of values that
/// they read and that are not there.
void KeptValues::findForGradients(
    llvm::function_ref<bool(const Node *)> savesFor) {
  for (Node *op : llvm::reverse(slice.ops)) {
    const SignatureInfo &info = graph.getInfo(op);
    bool areRead = !info.isLinear;
    if (info.hasRegions)
      findReadRows(op, savesFor);
    for (Node *result : resultsOf(op)) {
      if (!slice.contains(result))
        continue;
      Value &value = valueOf(result);
      bool isNeeded = value.isRead || result->vars > 0;
      value.isForGradient |= isNeeded && !info.isReindex && mayBeKept(result) &&
                             savesFor(result) && isWritten(result);
      bool isAgain = value.isRead && !value.isForGradient && !result->isOutput;
      areRead |= isAgain;
      if (isAgain && info.numValues > 0)
        valueOf(result->viewed()).isRead = true;
    }
    if (!areRead)
      continue;
    for (Node *operand : getRead(op))
      valueOf(operand).isRead = true;
  }
}

std::optional<KeptFor> KeptValues::findReason(const Node *node,
                                              bool isFar) const {
  if (!mayBeKept(node))
    return std::nullopt;
  if (valueOf(node).isForGradient)
    return KeptFor::Gradient;
  bool isLive = valueOf(node).isLive;
  if (!isLive || isEnlarged(node))
    return std::nullopt;
  if (isFar || isWritten(node))
    return node->vars > 0 || node->pins > 0 ? KeptFor::Var : KeptFor::Pending;
  return node->wasLeftOut ? std::optional(KeptFor::Again) : std::nullopt;
}

void KeptValues::findCandidates() {
  for (Node *op : slice.ops) {
    const SignatureInfo &info = graph.getInfo(op);
    // Gradients do not ask for it.
    bool isFar = anyLive && (info.isReindexReduce || info.isRoutine ||
                             llvm::any_of(op->operands, [&](Node *operand) {
                               return valueOf(operand).isFar;
                             }));
    for (Node *result : resultsOf(op)) {
      if (!slice.contains(result) || result->isLeaf() || result->isOutput)
        continue;
      if (auto reason = findReason(result, isFar)) {
        candidates.push_back({result, *reason, bytesOf(result)});
        continue;
      }
      Value &value = valueOf(result);
      value.isFar = isFar;
      if (value.isLive && isOperator(info))
        leftOut.push_back(result);
    }
  }
}

//===----------------------------------------------------------------------===//
// The budget
//===----------------------------------------------------------------------===//

/// Finds how many operators there are between candidates and what is in memory,
/// or another candidate.
void KeptValues::countOperators() {
  constexpr uint32_t most = 1 << 24;
  std::vector<uint32_t> counts(slice.numValues);
  auto next = candidates.begin();
  for (Node *op : slice.ops) {
    uint32_t count = isOperator(graph.getInfo(op));
    for (Node *operand : op->operands)
      count = std::min(count + counts[operand->position], most);
    for (Node *result : resultsOf(op)) {
      bool isCandidate = next != candidates.end() && next->node == result;
      if (isCandidate)
        (next++)->operators = count;
      if (slice.contains(result) && !isCandidate && !result->isOutput)
        counts[result->position] = count;
    }
  }
}

/// Finds which candidates fit. What is kept by (b) goes first, then what has
/// the fewest operators a byte.
void KeptValues::fit(int64_t budget) {
  countOperators();
  std::vector<Candidate *> order;
  for (Candidate &candidate : candidates)
    order.push_back(&candidate);
  auto rank = [](const Candidate *each) {
    return std::make_tuple(each->reason == KeptFor::Again,
                           -double(each->operators) / double(each->bytes),
                           each); // the order of the slice
  };
  llvm::sort(order, [&](const Candidate *a, const Candidate *b) {
    return rank(a) < rank(b);
  });
  for (Candidate *candidate : order) {
    candidate->fits = candidate->bytes <= budget;
    budget -= candidate->fits ? candidate->bytes : 0;
  }
}

std::vector<PlannedValue> KeptValues::choose(int64_t budget) {
  int64_t bytes = 0;
  for (const Candidate &candidate : candidates)
    bytes += candidate.bytes;
  if (bytes > budget)
    fit(budget);
  std::vector<PlannedValue> chosen;
  for (const Candidate &each : candidates)
    chosen.push_back({each.node, each.reason, each.fits});
  return chosen;
}
