//===- Graph.h - The session's block of operations --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_GRAPH_H
#define METAOPS_RUNTIME_GRAPH_GRAPH_H

#include "MetaOps/Runtime/Graph/FunctionCall.h"
#include "MetaOps/Runtime/Graph/NodeRef.h"
#include "MetaOps/Runtime/Graph/Signature.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator.h"
#include "llvm/ADT/iterator_range.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir::metaop {
enum class DerivativeMode;
} // namespace mlir::metaop

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

/// What the session knows of one value of its block, beside the IR: a result of
/// an operation.
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
  /// Where it is computed and kept; null for what is made of numbers alone, and
  /// no Var has held: that is free to be used on any.
  Device *device = nullptr;
  /// The value of a `metaop.scalar`, as its type lies in memory.
  uint64_t scalar = 0;
  /// How often the session has been flushed when all updates that this value
  /// depends on are done.
  int64_t generation = 0;
  /// The generation of the last update that needs it to be computed.
  int64_t feeds = 0;
  /// The generation of the update that has rebound its Var, if one has.
  int64_t replacedBy = 0;
  /// Its place in the order of recording.
  uint64_t order = 0;
  /// How many runs there had been when it was recorded; see Graph::startPeriod.
  int64_t period = 0;
  /// Chains of values whose history has been ended (History.cpp), as a set of
  /// bits: those that end here, and those that this value was a part of.
  uint64_t endedChains = 0;
  uint64_t lostChains = 0;
  /// The values with Vars that were rebound to which dropped history led.
  LostValues lost;
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
  /// How many programs the value's history reaches back through, this one's
  /// included; 0 without history.
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
  /// The line of the update that wrote over the value, or ended its history.
  std::optional<mlir::Location> overwrittenAt;

  Node()
      : isScalar(false), isPlaceholder(false), isTransfer(false),
        carries(false), isInitial(false), isRandom(false), isDerived(false),
        isStopped(false), isPendingUpdate(false), isReplaced(false),
        isDonated(false), isQueued(false), isOutput(false), isAsked(false),
        isTarget(false), isDifferentiated(false), isOfDerivative(false),
        isProvisional(false), isSaved(false), isOverdue(false),
        isCounted(false), isSpared(false), wasHeld(false), wasRebound(false),
        wasLeftOut(false), answer(false), isEnding(false) {}

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

/// The block that holds all recorded operations, and a node for each of their
/// results. Appended to at its end; an operation goes when no Var holds a value
/// of it and no other operation uses one. A computed value keeps its operands
/// (its history) as long as it may be differentiated; see History.cpp. What the
/// regions of an operation capture are operands of it, too.
class Graph {
public:
  /// Graphs of one context may share a table, so that signatures have the same
  /// numbers in them.
  explicit Graph(mlir::MLIRContext *context,
                 std::shared_ptr<SignatureTable> signatures =
                     std::make_shared<SignatureTable>());
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  mlir::Block &getBlock() { return block; }
  /// Inserts at the end of the block.
  mlir::OpBuilder &getBuilder() { return builder; }

  /// Gives an operation of the block its nodes. Returns the first result's.
  /// Throws where the operation has regions and is none that can be recorded:
  /// it has to be valid and without effects on memory, its results tensors of
  /// static shapes, and what it takes values of the block; or where it takes
  /// values of several devices. It stays then, for the caller or `collectAll`
  /// to erase.
  Node *adopt(mlir::Operation *op);
  /// Adopts an operation without regions whose operands and signature are
  /// known.
  Node *adopt(mlir::Operation *op, llvm::ArrayRef<Node *> sources,
              SignatureTable::Id signature);
  /// Gives nodes to all operations after `last` (null: from the beginning).
  void adoptAfter(mlir::Operation *last);

  /// Whether no gradient flows through what is adopted from here on. Nodes are
  /// marked, not operations, so it is in no key.
  void setStopsGradients(bool stops) { stopsGradients = stops; }
  bool getStopsGradients() const { return stopsGradients; }

  Node *getNode(mlir::Value value) const { return nodes.lookup(value); }
  /// Of the first result; null without one.
  Node *getNode(mlir::Operation *op) const {
    return op->getNumResults() > 0 ? getNode(op->getResult(0)) : nullptr;
  }
  /// The values made of this one: each as often as it is among the operands of
  /// their nodes.
  llvm::SmallVector<Node *, 4> getUsers(const Node *node) const;
  /// What the value is a view of, or of a view of: a leaf, or what is no view.
  Node *skipViews(Node *node) const;
  const SignatureInfo &getInfo(const Node *node) const {
    return signatures->getInfo(node->signature);
  }

  const std::shared_ptr<SignatureTable> &getSignatures() const {
    return signatures;
  }
  /// Returns whether the node is one of this graph's.
  bool owns(const Node *node) const { return node->op->getBlock() == &block; }

  //===--------------------------------------------------------------------===//
  // Functions with derivatives of their own (Sweeps.cpp)
  //===--------------------------------------------------------------------===//

  /// Says whose results an operation has. The call lives as long as that.
  void setCall(mlir::Operation *op, std::shared_ptr<FunctionCall> call) {
    calls[op] = std::move(call);
  }
  std::shared_ptr<FunctionCall> getCall(mlir::Operation *op) const {
    return calls.lookup(op);
  }
  /// Lets go of all calls: nobody will be asked for derivatives any more.
  void dropCalls() { calls.clear(); }
  /// The values that gradients of this one flow to.
  llvm::ArrayRef<Node *> getFlowSources(const Node *node) const {
    return llvm::ArrayRef(node->operands).drop_front(getInfo(node).numValues);
  }
  /// Has no gradient flow through a value any more, which nobody holds.
  void stop(Node *node);
  /// Has the results of an operation stay as they are until a sweep that is
  /// under way has come to them, computed or not. While there is a sweep,
  /// nothing is written over, and no history ends.
  void enterSweep(llvm::ArrayRef<Node *> nodes);
  void leaveSweep(llvm::ArrayRef<Node *> nodes);
  bool isSwept() const { return numSwept > 0; }

  /// Says that gradients by the value may be asked for, for it is replaced by
  /// an update that is pending.
  void setReplaced(Node *node, bool isReplaced);
  void retainVar(Node *node);
  void releaseVar(Node *node);
  void pin(Node *node);
  void unpin(Node *node);
  /// The values that Vars or pins hold and that are no leaves, in the order of
  /// recording.
  std::vector<Node *> getWaiting() const;
  /// Gradients by the value are asked for.
  void setTarget(Node *node);
  /// The values that gradients have been asked for by, and that are still
  /// there.
  std::vector<Node *> getTargets();
  /// Pending values that Vars held when a program ran, and that none holds any
  /// more, though a pending value that one holds is made of them: their names
  /// have been rebound. Forgets those of which that is no longer so, as of what
  /// only histories need.
  std::vector<Node *> getRebound();
  /// Has the node erased by the next `collect`, if nobody needs it.
  void release(Node *node) { enqueue(node); }

  /// The value has been computed. Keeps its history only where needed; that
  /// reaches back through `depth` programs.
  void setComputed(Node *node, BufferRef buffer, uint32_t depth);
  /// Says how the run of a provisional value has ended. If it has failed, the
  /// value is pending again.
  void settle(Node *node, bool failed);
  /// The value is gone: an update at `line` wrote into its buffer or, without a
  /// line, it was too far back in the history of a loop.
  void setDonated(Node *node, std::optional<mlir::Location> line);
  /// Returns the bit of another chain of ended histories.
  uint64_t makeChain() { return uint64_t(1) << (numChains++ % 64); }
  /// Has gradients that would flow through `end` to what `source` is made of be
  /// errors that name the line.
  void endAt(Node *end, Node *source, mlir::Location line);
  /// Ends the histories of the values, each computed or overwritten, at them.
  void endHistoriesAt(llvm::ArrayRef<Node *> values) { endHistories(values); }
  /// Whether a gradient may flow from this value to its operands: no other
  /// result of the operation counts.
  bool needsHistory(const Node *node) const;
  /// The same, whether or not anybody could ask for it.
  bool isFlowing(const Node *node) const;
  /// Returns whether the value depends on its operands for derivatives, though
  /// these may be zero everywhere, as those of `sign` are.
  bool isDependent(const Node *node) const;
  /// Lets go of what was saved for gradients of the values, just computed, two
  /// programs ago.
  void dropOldSaved(llvm::ArrayRef<Node *> values);
  /// A program has read or made the value: what histories alone keep of it
  /// counts from now on.
  void count(Node *node) {
    if (node->isCounted || node->isSpared)
      return;
    node->isCounted = true;
    recount(node);
  }
  /// Sets how many bytes histories may count.
  void setHistoryBound(int64_t bytes) { historyBound = bytes; }
  int64_t getHistoryBound() const { return historyBound; }
  /// Ends the oldest histories, and collects, if all count more than the bound.
  /// Those of the last program stay.
  void boundHistories();
  /// Returns the bytes that histories keep, an operator as 1 kB.
  int64_t getHistoryBytes() const { return historyBytes; }
  /// The first value, on the way from `root` to one of the targets, whose
  /// history has been ended; null if there is none.
  Node *findEnded(Node *root, llvm::ArrayRef<Node *> targets);
  /// The operation without derivatives through which those of the roots would
  /// flow by the targets, in a body of control flow or as a whole
  /// (MissingDerivatives.h); null if there is none.
  mlir::Operation *findMissingDerivative(llvm::ArrayRef<Node *> roots,
                                         llvm::ArrayRef<Node *> targets,
                                         mlir::metaop::DerivativeMode mode);
  /// Whether an operation with regions has ever been recorded.
  bool hasRegions() const { return signatures->haveRegions(); }

  /// Counts the runs that what is recorded from here on comes after.
  void startPeriod() { ++period; }
  void setPeriod(int64_t newPeriod) { period = newPeriod; }
  int64_t getPeriod() const { return period; }
  /// How many values have ever been recorded.
  uint64_t getNumRecorded() const { return numRecorded; }

  /// Erases what nobody needs any more.
  void collect();
  /// The same, for all operations of the block: after a call has failed.
  void collectAll();

  /// How many operations there are.
  size_t size() const { return numOps; }
  size_t getNumVars() const { return numVars; }
  size_t getNumDonated() const { return numDonated; }

  /// Calls `visit` with every node in the order of the block.
  void forEachNode(llvm::function_ref<void(Node *)> visit);

  /// A mark that no node bears yet.
  uint32_t startTraversal() { return ++epoch; }

  /// Finds the device that a transfer brings its operand to. A graph without
  /// devices does without.
  std::function<Device *(llvm::StringRef)> findDevice;
  /// Called before a node that is a pending update is erased.
  std::function<void(Node *)> onUpdateErased;

private:
  /// The ends of histories.
  struct Ends {
    uint64_t chains = 0;
    LostValues former;
    std::vector<Node *> outdated;
  };

  Node *createNode();
  Ends noteEnds(std::vector<Node *> stack);
  /// Those of the nodes that are still there, and that the list keeps.
  static std::vector<Node *> prune(std::vector<NodeRef> &list,
                                   llvm::function_ref<bool(Node *)> isKept);
  Node *adopt(mlir::OpResult result, SignatureTable::Id signature,
              llvm::ArrayRef<Node *> sources, Device *device);
  Device *chooseDevice(mlir::Operation *op, SignatureTable::Id signature,
                       llvm::ArrayRef<Node *> sources) const;
  llvm::SmallVector<Node *, 4> findSources(mlir::Operation *op) const;
  void enqueue(Node *node);
  void enqueueOperands(Node *node);
  bool isDead(const Node *node) const;
  bool isHeldWithHistory(Node *node) const;
  bool leadsToHeld(const Node *node) const;
  void erase(Node *node);
  void hold(Node *node);
  void letGo(Node *node);
  void stopWaiting(Node *node);
  bool mayGo(Node *node, bool keepsHistory) const;
  void turnIntoLeaves(Node *node);
  void dropValues(Node *node);
  void settleOperation(Node *node);
  void updateCarries(Node *start);
  void inheritEnds(Node *node);
  std::vector<Node *> endHistories(llvm::ArrayRef<Node *> values);
  void recount(Node *node);
  void changeHolders(Node *node, bool wasHeld);
  void moveFromViewed(Node *view);
  void addHistory(Node *node);
  std::vector<Node *> takeOldest();
  void spare(Node *node);
  /// Has a value count again that no held one keeps any more.
  void unspare(Node *node);
  void dropSaved(llvm::ArrayRef<Node *> saved);
  void dropOutdated(llvm::ArrayRef<Node *> outdated);

  mlir::Block block;
  mlir::OpBuilder builder;
  std::shared_ptr<SignatureTable> signatures;
  llvm::DenseMap<mlir::Value, Node *> nodes;
  std::deque<Node> storage;
  std::vector<Node *> freeNodes;
  std::vector<Node *> queue;
  std::vector<Node *> worklist;
  /// Each at its own `waitingPlace`, from 1.
  std::vector<Node *> waiting;
  std::vector<NodeRef> rebound;
  std::vector<NodeRef> targets;
  size_t numOps = 0;
  uint64_t numRecorded = 0;
  int64_t period = 0;
  unsigned numChains = 0;
  /// The values that keep histories, and some that did, in the order of the
  /// programs that have computed them.
  std::deque<HistoryEntry> histories;
  /// Length of the queue at which those that are gone are looked for.
  size_t mostHistories = 64;
  int64_t historyBytes = 0;
  int64_t historyBound = std::numeric_limits<int64_t>::max();
  /// Of these, what was left when all histories had ended.
  int64_t bytesBeyond = 0;
  uint32_t epoch = 0;
  bool stopsGradients = false;
  size_t numVars = 0;
  size_t numDonated = 0;
  llvm::DenseMap<mlir::Operation *, std::shared_ptr<FunctionCall>> calls;
  size_t numSwept = 0;
};

/// The block as a module that metaop-opt reads: a function @main that returns
/// what Vars hold.
std::string printBlock(Graph &graph);

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_GRAPH_H
