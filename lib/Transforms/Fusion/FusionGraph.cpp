//===- FusionGraph.cpp - The graph that fusion partitions -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes are the operations of the block. There is an edge for each producer and
// each of its consumers, and it may be fused if
//  * both are meta-operators;
//  * the producer is no reindex-reduce (Rule 2);
//  * the consumer reads it in place only, so is no reindex of it (Rule 1), and
//    does not use it as a symbol or an extent;
//  * both have provably one iteration space.
//
// Operations with side effects keep their order by edges between each and the
// next. An operation with regions reads what is read inside of them.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Fusion/FusionGraph.h"

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Simplify/Producers.h"
#include "SpaceNumbering.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace mlir::metaop;

FusionGraph::FusionGraph(Block &block) {
  addNodes(block);
  numberValues();
  addEdges();
}

/// The dimensions of S along which the reduction writes different elements.
static llvm::BitVector getParallelDims(unsigned rank, AffineMap map) {
  llvm::BitVector dims(rank);
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      dims.set(dim.getPosition());
  return dims;
}

void FusionGraph::addNodes(Block &block) {
  SpaceNumbering spaces(block);
  for (Operation &op : block) {
    FusionNode node;
    node.op = &op;
    node.meta = dyn_cast<MetaOpInterface>(op);
    if (node.meta)
      node.space = spaces.getNumber(node.meta.getIterationValue());
    if (auto reduce = dyn_cast<ReindexReduceOpInterface>(op))
      node.parallelDims = getParallelDims(
          reduce.getSource().getType().getRank(), reduce.getIndexAccess().map);
    else if (auto indirect = dyn_cast<IndirectOpInterface>(op);
             indirect && node.isReduction())
      node.parallelDims =
          getParallelDims(indirect.getSource().getType().getRank(),
                          indirect.getIndexAccess().map);
    nodeOf[&op] = nodes.size();
    nodes.push_back(std::move(node));
  }
}

void FusionGraph::numberValues() {
  std::map<std::vector<const void *>, unsigned> numbers;
  auto numberOf = [&](std::vector<const void *> key) {
    return numbers.try_emplace(std::move(key), numbers.size() + 1)
        .first->second;
  };
  for (FusionNode &node : nodes) {
    std::vector<const void *> key{node.op};
    if (node.meta) {
      key = {node.op->getName().getAsOpaquePointer(),
             node.op->getAttrDictionary().getAsOpaquePointer(),
             node.op->getResult(0).getType().getAsOpaquePointer()};
      for (Value operand : node.op->getOperands()) {
        auto def = nodeOf.find(operand.getDefiningOp());
        bool isMeta = def != nodeOf.end() && nodes[def->second].meta;
        key.push_back(
            isMeta ? reinterpret_cast<const void *>(
                         static_cast<uintptr_t>(nodes[def->second].value))
                   : operand.getAsOpaquePointer());
      }
    }
    node.value = numberOf(std::move(key));
  }
}

/// Rules 1 and 2, and one iteration space.
static bool isFusable(const FusionNode &producer, const FusionNode &consumer,
                      bool readsInPlace) {
  return producer.meta && consumer.meta && !producer.isReduction() &&
         producer.space == consumer.space && readsInPlace;
}

void FusionGraph::addEdges() {
  Operation *lastEffect = nullptr;
  for (unsigned consumer = 0; consumer < nodes.size(); ++consumer) {
    const FusionNode &node = nodes[consumer];
    // And whether each is read in place only.
    llvm::SmallMapVector<Operation *, bool, 4> producers;
    Block *block = node.op->getBlock();
    node.op->walk([&](Operation *nested) {
      for (OpOperand &use : nested->getOpOperands()) {
        Operation *def = use.get().getDefiningOp();
        if (def && def != node.op && def->getBlock() == block)
          producers.insert({def, true}).first->second &= isPointwiseUse(use);
      }
    });
    if (!node.meta && !isMemoryEffectFree(node.op)) {
      if (lastEffect)
        producers.insert({lastEffect, false});
      lastEffect = node.op;
    }
    for (auto [op, readsInPlace] : producers) {
      unsigned producer = nodeOf.lookup(op);
      int64_t bytes = 0;
      for (Type type : op->getResultTypes())
        bytes = addCounts(bytes, countBytes(type));
      bool fusable = isFusable(nodes[producer], node, readsInPlace);
      edges.push_back({producer, consumer, bytes, fusable});
    }
  }
}

//===----------------------------------------------------------------------===//
// Shared reads
//===----------------------------------------------------------------------===//

/// Returns what tells one read of a variable from another; empty if it is none
/// that siblings share. A read in place has no map.
static std::vector<const void *> getReadKey(OpOperand &use,
                                            const FusionNode &node) {
  std::vector<const void *> key{
      use.get().getAsOpaquePointer(),
      reinterpret_cast<const void *>(static_cast<uintptr_t>(node.space))};
  if (isPointwiseUse(use))
    return key;
  if (!isReindexSourceUse(use))
    return {};
  IndexAccess access =
      cast<ReindexOpInterface>(use.getOwner()).getIndexAccess();
  key.push_back(access.map.getAsOpaquePointer());
  key.push_back(access.conditions.getAsOpaquePointer());
  for (Value symbol : access.symbols)
    key.push_back(symbol.getAsOpaquePointer());
  return key;
}

SmallVector<SharedRead> FusionGraph::getSharedReads() const {
  std::map<std::vector<const void *>, unsigned> indices;
  SmallVector<SharedRead> reads;
  for (auto [number, node] : llvm::enumerate(nodes)) {
    if (!node.meta)
      continue;
    for (OpOperand &use : node.op->getOpOperands()) {
      std::vector<const void *> key = getReadKey(use, node);
      if (key.empty())
        continue;
      auto [position, isNew] = indices.try_emplace(key, reads.size());
      if (isNew)
        reads.push_back({use.get(), {}});
      SmallVector<unsigned> &readers = reads[position->second].readers;
      if (readers.empty() || readers.back() != number)
        readers.push_back(number);
    }
  }
  llvm::erase_if(
      reads, [](const SharedRead &read) { return read.readers.size() < 2; });
  return reads;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// The variable whose memory a value is.
static Value lookThroughViews(Value value) {
  while (auto view = value.getDefiningOp<ViewOpInterface>())
    value = view->getOperand(0);
  return value;
}

FusionCost
metaop::computeFusionCost(const FusionGraph &graph,
                          llvm::function_ref<unsigned(unsigned)> groupOf) {
  constexpr unsigned outside = ~0u;
  auto groupOfOp = [&](Operation *op) {
    if (!op || !isa<MetaOpInterface>(op) || !graph.contains(op))
      return outside;
    return groupOf(graph.getNode(op));
  };
  llvm::SetVector<std::pair<Value, unsigned>> crossing;
  for (const FusionNode &node : graph.getNodes()) {
    if (isa<ViewOpInterface>(node.op))
      continue;
    unsigned reader = groupOfOp(node.op);
    for (Value operand : node.op->getOperands()) {
      Value variable = lookThroughViews(operand);
      if (isa<RankedTensorType>(variable.getType()) &&
          groupOfOp(variable.getDefiningOp()) != reader)
        crossing.insert({variable, reader});
    }
  }
  FusionCost cost;
  for (auto [variable, reader] : crossing) {
    auto type = cast<RankedTensorType>(variable.getType());
    cost.elements = addCounts(cost.elements, countElements(type.getShape()));
    cost.bytes = addCounts(cost.bytes, countBytes(type));
  }
  return cost;
}
