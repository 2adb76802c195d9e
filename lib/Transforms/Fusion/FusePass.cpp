//===- FusePass.cpp - Make fused stages of the groups ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the graph of each block, partitions it (Partition.cpp) and rebuilds
// the block in the order of the groups: a group of meta-operators becomes a
// kernel with one stage, everything else moves along unchanged.
//
// A kernel's inputs are what its members read from outside, in the order in
// which they read it; its results are the values that anything outside reads.
// Both regions see their inputs as arguments only. Copies of one producer that
// ended in one stage are merged there.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/KernelBuilders.h"
#include "MetaOps/Transforms/Fusion/Partition.h"
#include "MetaOps/Transforms/Fusion/Passes.h"
#include "MetaOps/Transforms/Simplify/CloneProducers.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_FUSEPASS
#include "MetaOps/Transforms/Fusion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// From a group to a kernel
//===----------------------------------------------------------------------===//

namespace {

/// Values that cross the border of a group.
struct Border {
  llvm::SetVector<Value> inputs;
  SmallVector<Value> outputs;
};

} // namespace

static Border getBorder(ArrayRef<Operation *> members) {
  Border border;
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  for (Operation *op : members) {
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !inside.contains(operand.getDefiningOp()))
        border.inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        border.outputs.push_back(result);
  }
  return border;
}

static KernelOp buildKernel(OpBuilder &builder, ArrayRef<Operation *> members,
                            const Border &border) {
  SmallVector<Location> locations;
  for (Operation *op : members)
    locations.push_back(op->getLoc());
  Location loc = FusedLoc::get(builder.getContext(), locations);

  ValueRange inputs = border.inputs.getArrayRef();
  return buildStageKernel(builder, loc, ValueRange(border.outputs).getTypes(),
                          inputs, [&](ValueRange arguments) {
                            IRMapping mapping;
                            mapping.map(inputs, arguments);
                            for (Operation *op : members)
                              builder.clone(*op, mapping);
                            return llvm::map_to_vector(
                                border.outputs, [&](Value output) {
                                  return mapping.lookup(output);
                                });
                          });
}

/// Merges the copies of one producer in each stage.
static void mergeCopies(KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

/// Puts a kernel in place of the members. Null if nothing reads the group.
static KernelOp replaceByKernel(OpBuilder &builder,
                                ArrayRef<Operation *> members) {
  Border border = getBorder(members);
  KernelOp kernel;
  if (!border.outputs.empty()) {
    kernel = buildKernel(builder, members, border);
    for (auto [output, result] :
         llvm::zip_equal(border.outputs, kernel.getOutputs()))
      output.replaceAllUsesWith(result);
    mergeCopies(kernel);
  }
  for (Operation *op : llvm::reverse(members)) {
    op->dropAllUses();
    op->erase();
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct Fuse : metaop::impl::FusePassBase<Fuse> {
  using FusePassBase::FusePassBase;

  void runOnOperation() override {
    walkBlocks(getOperation().getBody(), [&](Block &block) { fuse(block); });
  }

private:
  void fuse(Block &block);
  void reportCost(Block &block, const FusionGraph &graph,
                  const Partition &partition);
  void reportGroup(unsigned number, ArrayRef<Operation *> members);
};

} // namespace

void Fuse::fuse(Block &block) {
  if (rules != FusionRules::None)
    cloneProducersPerUse(block, /*generatorsOnly=*/true);
  FusionGraph graph(block);
  Partition groups = partition(graph, {rules, maxGroupOps, maxGroupCode,
                                       maxGroupReads, minParallelExtent});
  if (report)
    reportCost(block, graph, groups);

  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  unsigned number = 0;
  for (ArrayRef<unsigned> nodes : groups.groups) {
    SmallVector<Operation *> members = llvm::map_to_vector(
        nodes, [&](unsigned node) { return graph.getNodes()[node].op; });
    if (!graph.getNodes()[nodes.front()].meta) {
      members.front()->moveBefore(&block, block.end());
      builder.setInsertionPointToEnd(&block);
      continue;
    }
    if (report)
      reportGroup(number++, members);
    replaceByKernel(builder, members);
  }
}

void Fuse::reportCost(Block &block, const FusionGraph &graph,
                      const Partition &partition) {
  auto isMeta = [&](unsigned node) {
    return static_cast<bool>(graph.getNodes()[node].meta);
  };
  unsigned operators = 0, groups = 0;
  for (ArrayRef<unsigned> nodes : partition.groups)
    if (isMeta(nodes.front())) {
      operators += nodes.size();
      ++groups;
    }
  // Most blocks that only pass values on are branches that do nothing.
  if (operators == 0 && isControlFlow(block.getParentOp()))
    return;
  FusionCost before =
      computeFusionCost(graph, [](unsigned node) { return node; });
  FusionCost after = computeFusionCost(
      graph, [&](unsigned node) { return partition.groupOf[node]; });

  emitRemark(block.getParentOp()->getLoc())
      << "fusion: " << operators
      << (operators == 1 ? " operator" : " operators") << " in " << groups
      << (groups == 1 ? " group" : " groups") << "; cost " << before.elements
      << " -> " << after.elements << " elements (" << before.bytes << " -> "
      << after.bytes << " bytes)";
}

void Fuse::reportGroup(unsigned number, ArrayRef<Operation *> members) {
  // Folding makes constants whose location is unknown.
  Operation *const *known = llvm::find_if(
      members, [](Operation *op) { return !isa<UnknownLoc>(op->getLoc()); });
  Operation *first = known == members.end() ? members.front() : *known;
  InFlightDiagnostic remark = emitRemark(first->getLoc());
  remark << "fusion: group " << number << ": ";
  llvm::interleaveComma(members, remark, [&](Operation *op) {
    remark << op->getName().getStringRef();
  });
}
