//===- Node.h - What is known of a recorded value ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_NODE_H
#define METAOPS_RUNTIME_GRAPH_NODE_H

#include "MetaOps/Runtime/Graph/NodeRef.h"
#include "MetaOps/Runtime/Graph/Signature.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator.h"
#include "llvm/ADT/iterator_range.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace metaops {

class Device;

/// Values that something was made of, by their places in the order of
/// recording: a range that has all of them.
struct LostValues {
  uint64_t first = ~uint64_t(0), last = 0;

  bool empty() const { return last < first; }
  void add(uint64_t order) { add(LostValues{order, order}); }
  void add(LostValues other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  /// Returns whether one of them may be from `begin` on and before `end`.
  bool mayBeIn(uint64_t begin, uint64_t end) const {
    return !empty() && first < end && last >= begin;
  }
};

/// A value of which another one is the same to Python.
struct RepeatedValue {
  NodeRef value;
  /// The chains of ended histories that it was a part of (Past::lostChains).
  uint64_t lostChains;
};

/// Parts that few values have: those of which ended histories were made.
struct Past {
  /// Chains that the value was a part of (Node::endedChains).
  uint64_t lostChains = 0;
  /// The values with Vars that were rebound to which dropped history led.
  LostValues lost;
  /// A call, or a checkpoint, has rebound a Var to it: the value that the Var
  /// had last inside, which it is without the history of that. See
  /// Graph::setRepeated.
  std::optional<RepeatedValue> repeated;
};

/// A value of the session's block, a result of an operation, with all that is
/// known of it beside the IR.
struct Node {
  mlir::Operation *op = nullptr;
  /// Which of the operation's results it is.
  uint32_t number = 0;
  SignatureTable::Id signature = 0;
  /// The operation's next result; of the last one the first. See resultsOf.
  Node *nextResult = nullptr;
  /// Of the operation's operands and, behind them, of what its regions capture
  /// (ControlFlow.h), each once.
  llvm::SmallVector<Node *, 2> operands;
  /// The value, once it is computed or given; or the memory that a queued run
  /// writes it to, until `ready` has run.
  BufferRef buffer;
  Ticket ready;
  /// The device that computes and keeps it; null for what is made of numbers
  /// alone, and no Var has held: that is free to be used on any.
  Device *device = nullptr;
  /// The value of a `metaop.scalar`, as its type lies in memory.
  uint64_t scalar = 0;
  /// The number of flushes of the session by which all updates that this value
  /// depends on are done.
  int64_t generation = 0;
  /// The generation of the last update that needs it to be computed.
  int64_t feeds = 0;
  /// The generation of the update that has rebound its Var, if one has.
  int64_t replacedBy = 0;
  /// Its place in the order of recording.
  uint64_t order = 0;
  /// The number of runs before it was recorded; see Graph::startPeriod.
  int64_t period = 0;
  /// Chains of values whose history has been ended (History.cpp) that end here,
  /// as a set of bits.
  uint64_t endedChains = 0;
  /// Null for most.
  std::unique_ptr<Past> past;
  /// Live Vars that hold the value.
  uint32_t vars = 0;
  /// Views of it that Vars hold, or views of which they hold.
  uint32_t heldViews = 0;
  /// Reasons of the session's own to keep it.
  uint32_t pins = 0;
  /// Sweeps of derivatives that are under way and come to it.
  uint32_t sweeps = 0;
  /// Marks of the last traversal, and the position it gave.
  uint32_t epoch = 0;
  uint32_t position = 0;
  /// The number of programs that the value's history reaches back through, this
  /// one's included; 0 without history.
  uint32_t depth = 0;
  /// Bytes that the bound of histories counts it as.
  int64_t historyBytes = 0;
  /// Operands that carry, as often as they are operands: a concat of thousands
  /// of parts must not look through them for each that dies.
  uint32_t numCarrying = 0;
  /// Among the graph's waiting values; 0 where it is none.
  uint32_t waitingPlace = 0;
  DType dtype = DType::F32;
  bool isScalar : 1;
  /// An argument of a function that is recorded, which has no value.
  bool isPlaceholder : 1;
  /// A value of another device, brought over.
  bool isTransfer : 1;
  /// A float that is, or depends through differentiable operations on, a float
  /// that a live Var holds: a gradient may be asked for through it.
  bool carries : 1;
  /// Depends on numbers and generators only; on random ones; on what a Var held
  /// when this was recorded.
  bool isInitial : 1;
  bool isRandom : 1;
  bool isDerived : 1;
  /// Recorded where gradients were stopped: none flows to its operands.
  bool isStopped : 1;
  /// Waits in the session's list of updates; a value that one of these is to
  /// replace, by which gradients may be asked for until then.
  bool isPendingUpdate : 1;
  bool isReplaced : 1;
  /// The value is gone, and cannot be computed. See `Graph::setDonated`.
  bool isDonated : 1;
  /// Waits to be erased if nobody needs it.
  bool isQueued : 1;
  /// An output of the program that is about to run.
  bool isOutput : 1;
  /// Part of what the values asked for are made of.
  bool isAsked : 1;
  /// Gradients by it have been asked for; gradients of it.
  bool isTarget : 1;
  bool isDifferentiated : 1;
  /// Made by differentiation.
  bool isOfDerivative : 1;
  /// Keeps its operation, though it has memory: the run may fail.
  bool isProvisional : 1;
  /// Computed along with what was asked for, for a later gradient.
  bool isSaved : 1;
  /// Its history is to end with its last Var.
  bool isOverdue : 1;
  /// A program has read or made it, and histories count it (HistoryBound.cpp).
  bool isCounted : 1;
  /// Histories count it no more, as a Var holds what is made of it.
  bool isSpared : 1;
  /// A Var holds it, or has done so.
  bool wasHeld : 1;
  /// A Var has held it that holds a later value now.
  bool wasRebound : 1;
  /// A program has computed it, and has not kept it, though it was live.
  bool wasLeftOut : 1;
  /// An answer that the last traversal has found, where it must not touch the
  /// positions that a slice has given.
  bool answer : 1;
  /// Its history ends with the updates that are about to run (Endings.h).
  bool isEnding : 1;
  /// A checkpoint that has made what replaces it reads it, and its gradient
  /// will again: it is not written over.
  bool isReadAgain : 1;
  /// A call of a recorded function has ended its history.
  bool isEndedByCall : 1;
  /// Another value repeats it.
  bool isRepeated : 1;
  /// The line of the update that wrote over the value, or ended its history;
  /// null where none has.
  mlir::LocationAttr overwrittenAt;

  Node()
      : isScalar(false), isPlaceholder(false), isTransfer(false),
        carries(false), isInitial(false), isRandom(false), isDerived(false),
        isStopped(false), isPendingUpdate(false), isReplaced(false),
        isDonated(false), isQueued(false), isOutput(false), isAsked(false),
        isTarget(false), isDifferentiated(false), isOfDerivative(false),
        isProvisional(false), isSaved(false), isOverdue(false),
        isCounted(false), isSpared(false), wasHeld(false), wasRebound(false),
        wasLeftOut(false), answer(false), isEnding(false), isReadAgain(false),
        isEndedByCall(false), isRepeated(false) {}

  uint64_t getLostChains() const { return past ? past->lostChains : 0; }
  LostValues getLost() const { return past ? past->lost : LostValues(); }
  /// Null where it repeats none.
  const RepeatedValue *getRepeated() const {
    return past && past->repeated ? &*past->repeated : nullptr;
  }
  void addLostChains(uint64_t chains) {
    if (chains)
      getPast().lostChains |= chains;
  }
  void addLost(LostValues values) {
    if (!values.empty())
      getPast().lost.add(values);
  }
  void addLost(uint64_t value) { addLost(LostValues{value, value}); }
  Past &getPast() {
    if (!past)
      past = std::make_unique<Past>();
    return *past;
  }

  mlir::Value value() const { return op->getResult(number); }
  /// The value that a view is of.
  Node *viewed() const { return operands[number]; }
  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value().getType());
  }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
  /// Slices stop here: the value needs no computing (or cannot be computed).
  bool isLeaf() const {
    return buffer || isScalar || isDonated || isPlaceholder;
  }
  /// A value that is to be brought over before a program can read it.
  bool isAwaitedTransfer() const { return isTransfer && !isLeaf(); }
};

/// A value that keeps its history, and how many runs there had been before the
/// one that has computed it.
struct HistoryEntry {
  NodeRef value;
  int64_t period;
};

/// Goes round the results of an operation.
class ResultIterator
    : public llvm::iterator_facade_base<ResultIterator,
                                        std::forward_iterator_tag, Node *,
                                        std::ptrdiff_t, Node **, Node *> {
public:
  ResultIterator(Node *first, Node *node) : first(first), node(node) {}

  bool operator==(const ResultIterator &other) const {
    return node == other.node;
  }
  Node *operator*() const { return node; }
  ResultIterator &operator++() {
    node = node->nextResult == first ? nullptr : node->nextResult;
    return *this;
  }

private:
  Node *first;
  /// Null at the end.
  Node *node;
};

/// All results of a node's operation, the node itself first.
inline llvm::iterator_range<ResultIterator> resultsOf(Node *node) {
  return {ResultIterator(node, node), ResultIterator(node, nullptr)};
}

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_NODE_H
