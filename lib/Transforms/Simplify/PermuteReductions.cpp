//===- PermuteReductions.cpp - Contractions in the order of their reader --===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// permute(sum(x)) becomes sum'(x), whose result has the dimensions in the order
// in which the permutation has them. The gradient of x @ w.T by w is such a
// value: a product of matrices, transposed.
//
// This is done if a contraction is summed, a product of two values that are
// both broadcast, of extents that are known: its tiles are stored along either
// dimension. The loops of any other reduction follow what it reads, and would
// store element by element. A result that somebody else reads as well stays
// what it is.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Transforms/Simplify/Passes.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_PERMUTEREDUCTIONSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether each element of the value is read from a tensor of fewer
/// dimensions.
static bool isBroadcast(Value value) {
  auto reindex = value.getDefiningOp<ReindexOp>();
  return reindex && reindex.getSource().getType().getRank() <
                        reindex.getResult().getType().getRank();
}

/// Returns whether the result has all elements of the source, in another order
/// of dimensions.
static bool isPermutation(ReindexOp reindex) {
  AffineMap map = reindex.getMap();
  if (!map.isPermutation() || !reindex.getResult().getType().hasStaticShape() ||
      !isInBounds(cast<ReindexOpInterface>(reindex.getOperation())))
    return false;
  return llvm::all_of(
      llvm::seq<unsigned>(0, map.getNumResults()), [&](unsigned dim) {
        return haveSameExtent(reindex.getSource(), dim, reindex.getResult(),
                              map.getDimPosition(dim));
      });
}

/// The sum of products that only this reindex reads.
static ReindexReduceOp findContraction(ReindexOp reindex) {
  auto reduce = reindex.getSource().getDefiningOp<ReindexReduceOp>();
  if (!reduce || !reduce->hasOneUse() ||
      reduce->getBlock() != reindex->getBlock() ||
      reduce.getReduceKind() != Combiner::Add)
    return nullptr;
  auto product = reduce.getSource().getDefiningOp<MulOp>();
  bool isContraction =
      product && isBroadcast(product.getLhs()) && isBroadcast(product.getRhs());
  return isContraction ? reduce : nullptr;
}

namespace {
struct PermuteReductionsPass
    : metaop::impl::PermuteReductionsPassBase<PermuteReductionsPass> {
  void runOnOperation() override {
    SmallVector<ReindexOp> permutations;
    getOperation().walk([&](ReindexOp reindex) {
      if (isPermutation(reindex))
        permutations.push_back(reindex);
    });
    for (ReindexOp reindex : permutations)
      if (ReindexReduceOp reduce = findContraction(reindex))
        permute(reduce, reindex);
  }

private:
  static void permute(ReindexReduceOp reduce, ReindexOp reindex) {
    IndexAccess access = reduce.getIndexAccess();
    SmallVector<AffineExpr> results(access.map.getNumResults());
    for (auto [from, result] : llvm::enumerate(access.map.getResults()))
      results[reindex.getMap().getDimPosition(from)] = result;
    access.map =
        AffineMap::get(access.map.getNumDims(), access.map.getNumSymbols(),
                       results, reduce.getContext());
    OpBuilder b(reindex);
    auto permuted = ReindexReduceOp::create(
        b, FusedLoc::get(b.getContext(), {reduce.getLoc(), reindex.getLoc()}),
        reindex.getResult().getType(), reduce.getReduceKind(),
        reduce.getSource(), access, reindex.getExtents());
    reindex.replaceAllUsesWith(permuted.getResult());
    reindex.erase();
    reduce.erase();
  }
};
} // namespace
