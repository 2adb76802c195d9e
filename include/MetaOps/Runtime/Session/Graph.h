//===- Graph.h - The session's block of operations --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_GRAPH_H
#define METAOPS_RUNTIME_SESSION_GRAPH_H

#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Queue/Queue.h"
#include "MetaOps/Runtime/Session/Signature.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace metaops {

/// What the session knows of one operation of its block, beside the IR. Every
/// recorded operation has one result, so this is also what it knows of a value.
struct Node {
  mlir::Operation *op = nullptr;
  /// The value, once it is computed or given; or the memory that a queued run
  /// writes it to, until `ready` has run.
  BufferRef buffer;
  Queue::Ticket ready = 0;
  /// The value of a `metaop.scalar`, as its type lies in memory.
  uint64_t scalar = 0;
  /// How often the session has been flushed when all updates that this value
  /// depends on are done.
  int64_t generation = 0;
  SignatureTable::Id signature = 0;
  /// Live Vars that hold the value.
  uint32_t vars = 0;
  /// Reasons of the session's own to keep it.
  uint32_t pins = 0;
  /// Marks of the last traversal, and the position it gave.
  uint32_t epoch = 0;
  uint32_t position = 0;
  DType dtype = DType::F32;
  bool isScalar : 1;
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
  /// Waits in the session's list of updates.
  bool isPendingUpdate : 1;
  /// An update wrote into the buffer; the value is gone. See `overwrittenAt`.
  bool isDonated : 1;
  /// Waits to be erased if nobody needs it.
  bool isQueued : 1;
  /// An output of the program that is about to run.
  bool isOutput : 1;
  /// Indices whose check has not been passed yet.
  bool isUnchecked : 1;
  /// The line of that update.
  std::optional<mlir::Location> overwrittenAt;

  Node()
      : isScalar(false), carries(false), isInitial(false), isRandom(false),
        isDerived(false), isStopped(false), isPendingUpdate(false),
        isDonated(false), isQueued(false), isOutput(false), isUnchecked(false) {
  }

  mlir::Value value() const { return op->getResult(0); }
  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  /// Slices stop here: the value needs no computing (or cannot be computed).
  bool isLeaf() const { return buffer || isScalar || isDonated; }
};

/// The block that holds all recorded operations, and a node for each. Appended
/// to at its end; an operation goes when no Var holds its value and no other
/// operation uses it. A computed value keeps its operands (its history) as long
/// as it may be differentiated; see History.cpp.
class Graph {
public:
  explicit Graph(mlir::MLIRContext *context);
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  mlir::Block &getBlock() { return block; }
  /// Inserts at the end of the block.
  mlir::OpBuilder &getBuilder() { return builder; }

  /// Gives an operation of the block its node.
  Node *adopt(mlir::Operation *op);
  /// Gives nodes to all operations after `last` (null: from the beginning).
  void adoptAfter(mlir::Operation *last);

  /// Whether no gradient flows through what is adopted from here on. Nodes are
  /// marked, not operations, so it is in no key.
  void setStopsGradients(bool stops) { stopsGradients = stops; }
  bool getStopsGradients() const { return stopsGradients; }

  Node *getNode(mlir::Operation *op) const { return nodes.lookup(op); }
  Node *getNode(mlir::Value value) const {
    return getNode(value.getDefiningOp());
  }
  const SignatureInfo &getInfo(const Node *node) const {
    return signatures.getInfo(node->signature);
  }

  void retainVar(Node *node);
  void releaseVar(Node *node);
  void pin(Node *node) { ++node->pins; }
  void unpin(Node *node);
  /// Has the node erased by the next `collect`, if nobody needs it.
  void release(Node *node) { enqueue(node); }

  /// The value has been computed. Keeps its history only where needed.
  void setComputed(Node *node, BufferRef buffer);
  /// An update at `line` wrote into the value's buffer.
  void setDonated(Node *node, mlir::Location line);
  /// Whether a gradient may flow from this value to its operands.
  bool needsHistory(const Node *node) const;

  /// Erases what nobody needs any more.
  void collect();
  /// The same, for all operations of the block: after a call has failed.
  void collectAll();

  size_t size() const { return nodes.size(); }
  size_t getNumVars() const { return numVars; }
  size_t getNumDonated() const { return numDonated; }

  /// Calls `visit` with every node in the order of the block.
  void forEachNode(llvm::function_ref<void(Node *)> visit);

  /// A mark that no node bears yet.
  uint32_t startTraversal() { return ++epoch; }

  /// Called before a node that is a pending update is erased.
  std::function<void(Node *)> onUpdateErased;
  /// The same of indices that have not been checked.
  std::function<void(Node *)> onUncheckedErased;

private:
  Node *createNode();
  void enqueue(Node *node);
  void enqueueOperands(mlir::Operation *op);
  bool isDead(const Node *node) const;
  void erase(Node *node);
  void turnIntoLeaf(Node *node);
  void updateCarries(Node *start);

  mlir::Block block;
  mlir::OpBuilder builder;
  SignatureTable signatures;
  llvm::DenseMap<mlir::Operation *, Node *> nodes;
  std::deque<Node> storage;
  std::vector<Node *> freeNodes;
  std::vector<Node *> queue;
  std::vector<Node *> worklist;
  uint32_t epoch = 0;
  bool stopsGradients = false;
  size_t numVars = 0;
  size_t numDonated = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_GRAPH_H
