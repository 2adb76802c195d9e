//===- Partition.cpp - Greedy partition into groups -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along edges (producer-consumer fusion). Edges are taken by falling weight,
// then in program order, so that the result depends on the program alone. The
// two ends of an edge are merged into one group if
//  * the edge is fusable (FusionGraph.cpp: Rules 1 and 2, one space);
//  * the group does not grow beyond its largest size, in operations, in code
//    and in tensors that it reads;
//  * both together have enough parallelism, as below;
//  * their prefixes, if both have any, go along one dimension in one direction,
//    and what has prefixes has no reductions;
//  * no cycle comes of it, and no edge between the two groups is unfusable
//    (GroupOrder.cpp: Rule 3).
// It is repeated until no edge can be fused.
//
// Parallelism. The points of S that differ in a parallel dimension of a
// reduction go into different elements of its result, so threads can split that
// dimension. A group can be split along what is parallel for all its
// reductions. Groups with reductions merge if that common extent reaches a
// minimum, or what each of them had alone: so total sums join total sums, and
// sums of rows join sums of rows but not of columns, unless there is a large
// third dimension. Sums and products of half floats accumulate in f32
// registers, which in one nest with a reduction over other dimensions they
// could not: they merge with reductions over the same dimensions only.
//
// Among siblings (horizontal fusion, an extended rule). Groups on one space
// that read the same variable at the same points save a read if they merge.
// Variables are taken by falling size; the checks are those from above. That is
// done only where memory is what matters: where the variable is about as large
// as S. If S is much larger, as in contractions, reads come from caches, and
// two contractions in one loop nest would only be in each other's way; such
// groups merge only where they compute a value in common, and are parallel
// along the same dimensions.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Fusion/Partition.h"

#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/Fusion/GroupOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// The dimension of a prefix, and whether it goes backwards.
using Direction = std::pair<int64_t, bool>;

class Partitioner {
public:
  Partitioner(const FusionGraph &graph, const PartitionOptions &options);

  void mergeAlongEdges();
  void mergeSiblings();
  Partition getPartition() const;

private:
  struct Group {
    SmallVector<unsigned> nodes;
    /// Tensors that come from outside.
    SmallVector<Value> reads;
    /// Instructions of one vector of its space.
    int64_t code = 0;
    bool reduces = false;
    /// Some sum or product is of f16 or bf16.
    bool sumsHalves = false;
    /// Dimensions that are parallel for all reductions of the group.
    llvm::BitVector parallelDims;
    /// Direction of the group's prefixes, if it has any.
    std::optional<Direction> direction;
  };

  bool merge(unsigned a, unsigned b);
  bool isTooLarge(unsigned a, unsigned b) const;
  SmallVector<Value> getCommonReads(unsigned a, unsigned b) const;
  bool isParallelEnough(unsigned a, unsigned b) const;
  bool haveOneDirection(unsigned a, unsigned b) const;
  int64_t getExtent(unsigned group, const llvm::BitVector &dims) const;
  bool areSiblings(unsigned a, unsigned b, int64_t readElements) const;
  bool computeInCommon(unsigned a, unsigned b) const;

  const FusionGraph &graph;
  PartitionOptions options;
  GroupOrder order;
  SmallVector<Group> groups;
};

} // namespace

static bool sumsHalves(const FusionNode &node) {
  auto reduce = dyn_cast<ReindexReduceOpInterface>(node.op);
  return reduce && roundsHalves(reduce.getReduceKind(),
                                reduce.getSource().getType().getElementType());
}

Partitioner::Partitioner(const FusionGraph &graph,
                         const PartitionOptions &options)
    : graph(graph), options(options), order(graph.getNodes().size()) {
  for (const FusionEdge &edge : graph.getEdges())
    order.addEdge(edge.producer, edge.consumer, edge.fusable);
  for (auto [number, node] : llvm::enumerate(graph.getNodes())) {
    Group group;
    group.nodes = {static_cast<unsigned>(number)};
    if (node.meta) {
      llvm::SmallSetVector<Value, 4> reads;
      // Single numbers are read outside of loops.
      for (Value operand : node.op->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType());
            type && type.getRank() > 0)
          reads.insert(operand);
      group.reads = reads.takeVector();
      group.code = estimateCodeSize(node.op);
    }
    group.reduces = node.isReduction();
    group.sumsHalves = sumsHalves(node);
    group.parallelDims = node.parallelDims;
    if (auto prefix = dyn_cast<PrefixOp>(node.op))
      group.direction = Direction(prefix.getDim(), prefix.getReverse());
    groups.push_back(std::move(group));
  }
}

int64_t Partitioner::getExtent(unsigned group,
                               const llvm::BitVector &dims) const {
  const FusionNode &node = graph.getNodes()[groups[group].nodes.front()];
  ArrayRef<int64_t> shape = node.getSpaceShape();
  SmallVector<int64_t> extents;
  for (unsigned dim : dims.set_bits())
    extents.push_back(shape[dim]);
  return countElements(extents);
}

bool Partitioner::isParallelEnough(unsigned a, unsigned b) const {
  if (!groups[a].reduces || !groups[b].reduces)
    return true;
  if ((groups[a].sumsHalves || groups[b].sumsHalves) &&
      groups[a].parallelDims != groups[b].parallelDims)
    return false;
  llvm::BitVector common = groups[a].parallelDims;
  common &= groups[b].parallelDims;
  int64_t alone = std::max(getExtent(a, groups[a].parallelDims),
                           getExtent(b, groups[b].parallelDims));
  return getExtent(a, common) >= std::min(options.minParallelExtent, alone);
}

/// Returns whether two groups, which only grow, can never be one. One loop
/// carries the prefixes of a stage, and nothing is reduced over it.
bool Partitioner::haveOneDirection(unsigned a, unsigned b) const {
  const std::optional<Direction> &first = groups[a].direction,
                                 &second = groups[b].direction;
  if ((first && groups[b].reduces) || (second && groups[a].reduces))
    return false;
  return !first || !second || *first == *second;
}

bool Partitioner::isTooLarge(unsigned a, unsigned b) const {
  return groups[a].nodes.size() + groups[b].nodes.size() >
             options.maxGroupOps ||
         groups[a].code + groups[b].code > options.maxGroupCode;
}

/// Returns what two groups read that neither makes.
SmallVector<Value> Partitioner::getCommonReads(unsigned a, unsigned b) const {
  llvm::SmallSetVector<Value, 16> reads;
  for (unsigned group : {a, b})
    for (Value read : groups[group].reads) {
      Operation *def = read.getDefiningOp();
      unsigned writer =
          def && graph.contains(def) ? order.find(graph.getNode(def)) : ~0u;
      if (writer != a && writer != b)
        reads.insert(read);
    }
  return reads.takeVector();
}

/// Merges the groups of two nodes if that is legal.
bool Partitioner::merge(unsigned a, unsigned b) {
  unsigned first = order.find(a), second = order.find(b);
  if (first == second)
    return false;
  if (isTooLarge(first, second) || !isParallelEnough(first, second) ||
      !haveOneDirection(first, second))
    return false;
  SmallVector<Value> reads = getCommonReads(first, second);
  if (reads.size() > options.maxGroupReads || !order.merge(first, second))
    return false;

  unsigned kept = order.find(first);
  unsigned gone = kept == first ? second : first;
  Group &into = groups[kept], &from = groups[gone];
  if (!into.reduces)
    into.parallelDims = from.parallelDims;
  else if (from.reduces)
    into.parallelDims &= from.parallelDims;
  into.reduces |= from.reduces;
  if (!into.direction)
    into.direction = from.direction;
  into.sumsHalves |= from.sumsHalves;
  into.nodes.append(from.nodes);
  into.reads = std::move(reads);
  into.code += from.code;
  from = Group();
  return true;
}

void Partitioner::mergeAlongEdges() {
  SmallVector<FusionEdge> edges = llvm::filter_to_vector(
      graph.getEdges(), [](const FusionEdge &edge) { return edge.fusable; });
  llvm::sort(edges, [](const FusionEdge &a, const FusionEdge &b) {
    return std::make_tuple(-a.bytes, a.producer, a.consumer) <
           std::make_tuple(-b.bytes, b.producer, b.consumer);
  });
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<FusionEdge> left;
    for (const FusionEdge &edge : edges) {
      unsigned a = order.find(edge.producer), b = order.find(edge.consumer);
      if (a == b || isTooLarge(a, b))
        continue;
      bool merged = merge(a, b);
      changed |= merged;
      if (!merged)
        left.push_back(edge);
    }
    edges = std::move(left);
  }
}

/// Returns whether both groups compute one value that is more than a read.
bool Partitioner::computeInCommon(unsigned a, unsigned b) const {
  llvm::SmallSet<unsigned, 16> values;
  auto isComputed = [&](unsigned node) {
    return graph.getNodes()[node].isA(MetaOpClass::Elementwise);
  };
  for (unsigned node : groups[a].nodes)
    if (isComputed(node))
      values.insert(graph.getNodes()[node].value);
  return llvm::any_of(groups[b].nodes, [&](unsigned node) {
    return isComputed(node) && values.contains(graph.getNodes()[node].value);
  });
}

bool Partitioner::areSiblings(unsigned a, unsigned b,
                              int64_t readElements) const {
  constexpr int64_t cachedRatio = 4;
  ArrayRef<int64_t> shape =
      graph.getNodes()[groups[a].nodes.front()].getSpaceShape();
  if (countElements(shape) / cachedRatio <= readElements)
    return true;
  return groups[a].reduces == groups[b].reduces &&
         groups[a].parallelDims == groups[b].parallelDims &&
         computeInCommon(a, b);
}

void Partitioner::mergeSiblings() {
  SmallVector<SharedRead> reads = graph.getSharedReads();
  SmallVector<std::pair<int64_t, const SharedRead *>> bySize;
  for (const SharedRead &read : reads)
    bySize.emplace_back(countBytes(read.variable.getType()), &read);
  // Reads of one size stay in program order, which is their order in `reads`.
  llvm::sort(bySize, [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  // Of the groups that read a variable, how many earlier ones each is tried
  // with: it bounds the work for variables that everything reads.
  constexpr unsigned maxTrials = 16;
  for (const auto &[bytes, read] : bySize) {
    int64_t elements = countElements(
        cast<RankedTensorType>(read->variable.getType()).getShape());
    if (elements <= 1)
      continue;
    SmallVector<unsigned> seen;
    // Those before it are in groups that are full.
    unsigned firstOpen = 0;
    for (unsigned reader : read->readers) {
      unsigned trials = 0, group = order.find(reader);
      while (firstOpen < seen.size() && order.find(seen[firstOpen]) != group &&
             isTooLarge(order.find(seen[firstOpen]), group))
        ++firstOpen;
      for (unsigned other : ArrayRef(seen).drop_front(firstOpen)) {
        unsigned a = order.find(other), b = order.find(reader);
        if (a == b || ++trials > maxTrials)
          break;
        if (areSiblings(a, b, elements) && merge(a, b))
          break;
      }
      seen.push_back(reader);
    }
  }
}

Partition Partitioner::getPartition() const {
  Partition result;
  result.groupOf.resize(graph.getNodes().size());
  for (unsigned group : order.getOrder()) {
    SmallVector<unsigned> nodes = groups[group].nodes;
    llvm::sort(nodes);
    for (unsigned node : nodes)
      result.groupOf[node] = result.groups.size();
    result.groups.push_back(std::move(nodes));
  }
  return result;
}

Partition metaop::partition(const FusionGraph &graph,
                            const PartitionOptions &options) {
  Partitioner partitioner(graph, options);
  if (options.rules != FusionRules::None)
    partitioner.mergeAlongEdges();
  if (options.rules == FusionRules::Extended)
    partitioner.mergeSiblings();
  return partitioner.getPartition();
}
