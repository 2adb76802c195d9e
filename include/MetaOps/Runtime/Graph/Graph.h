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
#include "MetaOps/Runtime/Graph/Node.h"
#include "MetaOps/Runtime/Graph/Signature.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

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

  /// Returns whether no gradient flows through what is adopted from here on.
  /// Nodes are marked, not operations, so it is in no key.
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
  /// Returns what the value is a view of, or of a view of: a leaf, or what is
  /// no view.
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
  /// Returns the call without sharing it; null where there is none.
  const FunctionCall *findCall(mlir::Operation *op) const {
    auto found = calls.find(op);
    return found == calls.end() ? nullptr : found->second.get();
  }
  bool hasCalls() const { return !calls.empty(); }
  /// Lets go of all calls: nobody will be asked for derivatives any more.
  void dropCalls() { calls.clear(); }
  /// Calls `visit` with the values that gradients of this one flow to.
  template <typename Visit>
  void forEachFlowSource(const Node *node, Visit visit) const {
    const SignatureInfo &info = getInfo(node);
    for (uint32_t number = info.numValues; number < node->operands.size();
         ++number)
      if (info.flows(node->number, number))
        visit(node->operands[number]);
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
  void setDonated(Node *node, mlir::LocationAttr line);
  /// Returns the bit of another chain of ended histories.
  uint64_t makeChain() { return uint64_t(1) << (numChains++ % 64); }
  /// Has gradients that would flow through `end` to what `source` is made of be
  /// errors that name the line.
  void endAt(Node *end, Node *source, mlir::Location line);
  /// Says that a value is an earlier one without the history of that.
  void setRepeated(Node *node, Node *earlier);
  /// Ends the histories of the values, each computed or overwritten, at them.
  void endHistoriesAt(llvm::ArrayRef<Node *> values) { endHistories(values); }
  /// Returns whether a gradient may flow from this value to its operands: no
  /// other result of the operation counts.
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
  /// Returns whether an operation has ever been recorded that may have no
  /// derivatives.
  bool mayMissDerivatives() const { return signatures->mayMissDerivatives(); }

  /// Counts the runs that what is recorded from here on comes after.
  void startPeriod() { ++period; }
  void setPeriod(int64_t newPeriod) { period = newPeriod; }
  int64_t getPeriod() const { return period; }
  /// Returns the place of the last value in the order of recording.
  uint64_t getLastOrder() const { return numRecorded; }
  /// Returns the number of values that have ever been recorded.
  uint64_t countRecorded() const { return numRecorded - numSkipped; }
  /// Returns the place of a value that is not recorded, though it might be.
  uint64_t skipRecorded() {
    ++numSkipped;
    return ++numRecorded;
  }

  /// Erases what nobody needs any more.
  void collect();
  /// The same, for all operations of the block: after a call has failed.
  void collectAll();

  /// Returns the number of operations.
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
  void addLostChains(Node *node, uint64_t chains);
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
  /// Does so when a Var has begun or ceased to hold a value, of all that may be
  /// made of it: other results of its operation included.
  void updateCarriesOf(Node *held);
  bool hasCarryingSibling(const Node *node) const;
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
  uint64_t numRecorded = 0, numSkipped = 0;
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
  /// The values that repeat others, by these.
  llvm::DenseMap<const Node *, llvm::SmallVector<NodeRef, 1>> repeating;
  size_t numSwept = 0;
};

/// The block as a module that metaop-opt reads: a function @main that returns
/// what Vars hold.
std::string printBlock(Graph &graph);

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_GRAPH_H
