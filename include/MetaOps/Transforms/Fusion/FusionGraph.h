//===- FusionGraph.h - The graph that fusion partitions ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_FUSION_FUSIONGRAPH_H
#define METAOPS_TRANSFORMS_FUSION_FUSIONGRAPH_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::metaop {

/// An operation of the block.
struct FusionNode {
  Operation *op;
  /// Null for what never joins a group: views and everything else that is no
  /// meta-operator. Such nodes still order the others.
  MetaOpInterface meta;
  /// Nodes with equal numbers have provably equal iteration spaces.
  unsigned space = 0;
  /// Nodes with equal numbers compute equal values.
  unsigned value = 0;
  /// For a reduction, the dimensions of S that are dimensions of its result;
  /// else empty.
  llvm::BitVector parallelDims;

  bool isReduction() const { return isA(MetaOpClass::ReindexReduce); }
  bool isA(MetaOpClass kind) const {
    return meta && MetaOpInterface(meta).getMetaOpClass() == kind;
  }
  ArrayRef<int64_t> getSpaceShape() const {
    return MetaOpInterface(meta).getIterationValue().getType().getShape();
  }
};

/// A variable on its way from the operation that makes it to one that reads it.
struct FusionEdge {
  unsigned producer;
  unsigned consumer;
  /// Bytes that stay out of memory if both are in one group.
  int64_t bytes;
  /// True if Rules 1 and 2 and the iteration spaces let both be in one group.
  bool fusable;
};

/// A read of a variable by a group, by which siblings are found.
struct SharedRead {
  Value variable;
  /// Nodes that read the variable at the same points of equal spaces.
  SmallVector<unsigned> readers;
};

/// The operations of a block in program order, and the edges between them.
class FusionGraph {
public:
  explicit FusionGraph(Block &block);

  ArrayRef<FusionNode> getNodes() const { return nodes; }
  ArrayRef<FusionEdge> getEdges() const { return edges; }
  bool contains(Operation *op) const { return nodeOf.contains(op); }
  /// The node of an operation of the block.
  unsigned getNode(Operation *op) const { return nodeOf.lookup(op); }
  /// Variables read more than once, in program order.
  SmallVector<SharedRead> getSharedReads() const;

private:
  void addNodes(Block &block);
  void numberValues();
  void addEdges();

  SmallVector<FusionNode> nodes;
  SmallVector<FusionEdge> edges;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
};

/// Elements and bytes that cross between groups.
struct FusionCost {
  int64_t elements = 0;
  int64_t bytes = 0;
};

/// Eq. (9) for the partition that gives each node its group: the sum, over all
/// variables and all groups that read them and did not make them, of the sizes
/// of the variables. What is returned by the function is read by one more
/// group. Views are looked through, and scalars count as one element.
FusionCost computeFusionCost(const FusionGraph &graph,
                             llvm::function_ref<unsigned(unsigned)> groupOf);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_FUSION_FUSIONGRAPH_H
