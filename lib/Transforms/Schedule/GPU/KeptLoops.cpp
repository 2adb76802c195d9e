//===- KeptLoops.cpp - Loops that are not collapsed -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage goes through dimensions that lie one after another as one loop.
// Stages that are joined have the same loops, so where one has them apart, its
// neighbours are to have them apart, too (`first_dims`):
//   * what follows a contraction, or windows, element by element;
//   * what has a space in common with a stage that it reads, or that reads it,
//     as what divides the rows of a softmax has with what masks them.
//
//===----------------------------------------------------------------------===//

#include "KeptLoops.h"
#include "EpilogueScheduleGpu.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::metaop;

/// The only stage of a kernel.
static FusedOp getSingleStage(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  return llvm::hasNItems(body, 2) ? dyn_cast<FusedOp>(body.front()) : nullptr;
}

/// The dimensions of the results of a reduction at which its loops begin.
static SmallVector<int64_t> findFirstDims(const Stage &reduction) {
  SmallVector<int64_t> dims{0};
  AffineMap map = reduction.writes.front().map;
  for (auto [dim, index] : llvm::enumerate(map.getResults().drop_back()))
    if (isa<AffineDimExpr>(index))
      dims.push_back(dim + 1);
  return dims;
}

/// The stage of a kernel that may be an epilogue, of a space of this shape: all
/// that it computes is element by element.
static FusedOp findFollower(Operation *user, ArrayRef<int64_t> shape) {
  auto kernel = dyn_cast<KernelOp>(user);
  FusedOp op = kernel ? getSingleStage(kernel) : nullptr;
  if (!op || isForbidden(kernel, kJoinStages) ||
      op.getIterationValue().getType().getShape() != shape ||
      llvm::any_of(op.getBody().getOps(), [](Operation &inner) {
        return isa<ReindexReduceOpInterface, PrefixOp, IndirectOpInterface>(
            inner);
      }))
    return nullptr;
  return op;
}

/// Has what follows contractions, or windows, keep the loops that these have.
/// Where something reduces their results, as a softmax does, those who read
/// them are joined by their own rows.
static LogicalResult keepLoopsOfReaders(Block &block) {
  for (auto kernel : block.getOps<KernelOp>()) {
    FusedOp op = getSingleStage(kernel);
    if (!op)
      continue;
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return failure();
    if (stage->getNumLoops() == 0 || !mayHaveEpilogue(*stage) ||
        stage->writes.front().shape.empty())
      continue;
    auto dims = DenseI64ArrayAttr::get(op.getContext(), findFirstDims(*stage));
    auto shape = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
    SmallVector<FusedOp> followers;
    for (Operation *user : kernel->getUsers())
      if (isa<KernelOp>(user))
        followers.push_back(findFollower(user, shape));
    if (!llvm::is_contained(followers, nullptr))
      for (FusedOp follower : followers)
        follower.setFirstDimsAttr(dims);
  }
  return success();
}

/// The dimensions of its space at which the loops of a stage begin.
static SmallVector<int64_t> findLoopDims(const Stage &stage) {
  SmallVector<int64_t> dims;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
    for (auto [dim, place] :
         llvm::enumerate(stage.toIterationSpace.getResults()))
      if (place.isFunctionOfDim(loop)) {
        dims.push_back(dim);
        break;
      }
  return dims;
}

/// The single stages beside a kernel of this space that read what it computes,
/// or the other way round.
static SmallVector<FusedOp> findNeighbours(KernelOp kernel, FusedOp op) {
  SmallVector<FusedOp> neighbours;
  auto add = [&](Operation *other) {
    auto beside = dyn_cast_or_null<KernelOp>(other);
    if (!beside || beside->getBlock() != kernel->getBlock() ||
        isForbidden(beside, kJoinStages))
      return;
    FusedOp stage = getSingleStage(beside);
    if (stage && stage.getIterationValue().getType().getShape() ==
                     op.getIterationValue().getType().getShape())
      neighbours.push_back(stage);
  };
  for (Value input : kernel.getInputs())
    add(input.getDefiningOp());
  for (Operation *user : kernel->getUsers())
    add(user);
  return neighbours;
}

/// Has each stage keep the loops that a neighbour has apart.
static LogicalResult keepLoopsOfNeighbours(Block &block) {
  llvm::MapVector<FusedOp, SmallVector<int64_t>> dimsOf;
  for (auto kernel : block.getOps<KernelOp>()) {
    FusedOp op = getSingleStage(kernel);
    if (!op || op.getFirstDimsAttr() || isForbidden(kernel, kJoinStages))
      continue;
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return failure();
    dimsOf[op] = findLoopDims(*stage);
  }
  for (auto &[stage, dims] : dimsOf) {
    FusedOp op = stage;
    SmallVector<int64_t> all = dims;
    for (FusedOp neighbour :
         findNeighbours(cast<KernelOp>(op->getParentOp()), op))
      llvm::append_range(all, dimsOf.lookup(neighbour));
    llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    if (all != dims)
      op.setFirstDims(all);
  }
  return success();
}

LogicalResult metaop::keepLoopsApart(Block &block) {
  return success(succeeded(keepLoopsOfReaders(block)) &&
                 succeeded(keepLoopsOfNeighbours(block)));
}

void metaop::collapseLoopsOfSingleStages(Block &block) {
  for (auto kernel : block.getOps<KernelOp>())
    if (FusedOp op = getSingleStage(kernel))
      op.removeFirstDimsAttr();
}
