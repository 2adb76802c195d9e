//===- ExpandChecks.cpp - Checks of indices as reductions -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All indices are in range if the lowest and the highest are. These two are
// reductions like any others, which are fused with what else reads the indices;
// what is left is a comparison of two numbers, which is done between kernels.
// From here on, what reads by the indices does not depend on the check: a
// program that fails has no results, whatever it has read by then.
//
// An index that is ignored is taken for 0.
//
// A value may be checked several times, by all that reads by it: of equal
// checks in one block, the first stays.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorBuilders.h"
#include "MetaOps/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EXPANDCHECKSPASS
#include "MetaOps/Transforms/Simplify/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// The indices as i64, 0 for those that are ignored.
static Value emitChecked(OpBuilder &builder, CheckOp op) {
  Location loc = op.getLoc();
  Value indices = op.getIndices();
  auto type = op.getIndices().getType().clone(builder.getI64Type());
  if (indices.getType() != type)
    indices = CastOp::create(builder, loc, type, indices);
  IntegerAttr ignored = op.getIgnoredAttr();
  if (!ignored)
    return indices;
  Value isIgnored =
      CmpOp::create(builder, loc, ComparePredicate::Eq, indices,
                    splatLike(builder, loc, indices, TypedAttr(ignored)));
  return SelectOp::create(builder, loc, type, isIgnored,
                          splatLike(builder, loc, indices, 0.0), indices);
}

static void expand(CheckOp op) {
  OpBuilder builder(op);
  Value checked = emitChecked(builder, op);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(op.getType().getRank()));
  auto reduce = [&](Combiner kind) -> Value {
    if (dims.empty())
      return checked;
    return ReduceOp::create(builder, op.getLoc(), kind, checked, dims,
                            /*keep_dims=*/false);
  };
  Value lowest = reduce(Combiner::Min);
  Value highest = reduce(Combiner::Max);
  CheckRangeOp::create(builder, op.getLoc(), lowest, highest,
                       op.getExtentAttr(), op.getNegativeAttr(),
                       op.getDimAttr(), op.getTripsAttr());
}

namespace {
struct ExpandChecks : metaop::impl::ExpandChecksPassBase<ExpandChecks> {
  void runOnOperation() override {
    walkBlocks(getOperation().getBody(), [](Block &block) {
      llvm::DenseSet<std::pair<Value, Attribute>> known;
      for (auto op : llvm::make_early_inc_range(block.getOps<CheckOp>())) {
        SmallVector<OpFoldResult> folded;
        bool isNeeded =
            !op.use_empty() && failed(op->fold(folded)) &&
            known.insert({op.getIndices(), op->getAttrDictionary()}).second;
        if (isNeeded)
          expand(op);
        op.replaceAllUsesWith(op.getIndices());
        op.erase();
      }
    });
  }
};
} // namespace
