//===- ScanCanonicalization.cpp - Loops that hand on what they need -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carry that each trip yields as it was is its initial value. One that
// neither a result that is used nor an operation with effects comes from is
// none, and so with rows. What is left is found from the results on, along
// operands and carries. A loop of one trip is its body, one of none its inits.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Values that are needed
//===----------------------------------------------------------------------===//

namespace {
/// Parts of a loop that its used results, and operations with effects, come
/// from.
class NeededValues {
public:
  explicit NeededValues(ScanOp loop);

  bool needsArgument(unsigned number) const { return arguments.test(number); }

private:
  void add(Value value);
  void addOperands(Operation *op);

  ScanOp loop;
  llvm::BitVector arguments;
  llvm::DenseSet<Operation *> ops;
  SmallVector<Value> pending;
};
} // namespace

NeededValues::NeededValues(ScanOp loop)
    : loop(loop), arguments(loop.getBody().getNumArguments()) {
  for (Operation &op : loop.getBody().front().without_terminator())
    if (!wouldOpBeTriviallyDead(&op))
      addOperands(&op);
  for (auto [result, yielded] :
       llvm::zip_equal(loop.getResults(), loop.getYield().getOperands()))
    if (!result.use_empty())
      pending.push_back(yielded);
  // A carry that is used is handed on.
  for (auto [result, argument] :
       llvm::zip_equal(loop.getLastCarries(), loop.getRegionIterArgs()))
    if (!result.use_empty())
      pending.push_back(argument);
  while (!pending.empty())
    add(pending.pop_back_val());
}

void NeededValues::add(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &loop.getBody().front()) {
    unsigned number = argument.getArgNumber();
    if (arguments.test(number))
      return;
    arguments.set(number);
    if (number < loop.getNumCarries())
      pending.push_back(loop.getNextCarries()[number]);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (op && op->getBlock() == &loop.getBody().front())
    addOperands(op);
}

void NeededValues::addOperands(Operation *op) {
  if (!ops.insert(op).second)
    return;
  op->walk([&](Operation *inner) {
    llvm::append_range(pending, inner->getOperands());
  });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Erases what of a block nobody needs.
static void eraseDeadOps(Block &block, PatternRewriter &rewriter) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

namespace {
// Pattern: scan -> scan without what each trip yields as it was
struct ForwardUnchangedCarries : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (auto [init, argument, next, result] :
         llvm::zip_equal(op.getInits(), op.getRegionIterArgs(),
                         op.getNextCarries(), op.getLastCarries())) {
      if ((next != argument && next != init) ||
          (argument.use_empty() && result.use_empty()) ||
          (next == argument && argument.hasOneUse() && result.use_empty()))
        continue;
      rewriter.replaceAllUsesWith(argument, init);
      rewriter.replaceAllUsesWith(result, init);
      changed = true;
    }
    return success(changed);
  }
};

// Pattern: rows that each trip yields as they were -> these rows
struct ForwardRows : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (auto [yielded, result] :
         llvm::zip_equal(op.getYieldedRows(), op.getStackedRows())) {
      auto row = dyn_cast<BlockArgument>(yielded);
      if (result.use_empty() || !row ||
          row.getOwner() != &op.getBody().front() ||
          row.getArgNumber() < op.getNumCarries())
        continue;
      rewriter.replaceAllUsesWith(
          result, op.getRows()[row.getArgNumber() - op.getNumCarries()]);
      changed = true;
    }
    return success(changed);
  }
};

// Pattern: scan -> scan without carries and rows that nothing needs
struct DropUnneeded : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    NeededValues needed(op);
    llvm::BitVector arguments(op.getBody().getNumArguments());
    llvm::BitVector results(op.getNumResults());
    for (unsigned i = 0; i < arguments.size(); ++i)
      arguments[i] = !needed.needsArgument(i);
    for (unsigned i = 0; i < results.size(); ++i)
      results[i] = i < op.getNumCarries() ? arguments.test(i)
                                          : op.getResult(i).use_empty();
    if (arguments.none() && results.none())
      return rewriter.notifyMatchFailure(op, "all is needed");
    rewriter.modifyOpInPlace(op.getYield(),
                             [&] { op.getYield()->eraseOperands(results); });
    eraseDeadOps(op.getBody().front(), rewriter);
    rewriter.modifyOpInPlace(
        op, [&] { op.getBody().front().eraseArguments(arguments); });
    replaceWithout(op, arguments, results, rewriter);
    return success();
  }

private:
  /// Moves the block to a loop without these operands and results.
  static void replaceWithout(ScanOp op, const llvm::BitVector &arguments,
                             const llvm::BitVector &results,
                             PatternRewriter &rewriter) {
    SmallVector<Value> inits, rows, left;
    SmallVector<Type> types;
    for (auto [i, value] : llvm::enumerate(op.getInits()))
      if (!arguments.test(i))
        inits.push_back(value);
    for (auto [i, value] : llvm::enumerate(op.getRows()))
      if (!arguments.test(op.getNumCarries() + i))
        rows.push_back(value);
    for (OpResult result : op.getResults())
      if (!results.test(result.getResultNumber())) {
        left.push_back(result);
        types.push_back(result.getType());
      }
    auto smaller = ScanOp::create(rewriter, op.getLoc(), types, inits, rows,
                                  op.getNumTrips(), op.getReverse());
    smaller.setUnrollAttr(op.getUnrollAttr());
    smaller->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.mergeBlocks(&op.getBody().front(), &smaller.getBody().front(),
                         smaller.getBody().getArguments());
    rewriter.replaceAllUsesWith(left, smaller.getResults());
    rewriter.eraseOp(op);
  }
};

// Pattern: scan %constant -> scan trips
struct CountKnownTrips : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    APInt count;
    if (!op.getCount() || !matchPattern(op.getCount(), m_ConstantInt(&count)))
      return failure();
    std::optional<int64_t> most = op.getTrips();
    int64_t trips = std::max<int64_t>(count.getSExtValue(), 0);
    if (most)
      trips = std::min(trips, *most);
    // Rows keep their extent.
    bool hasRows = !op.getRows().empty() || !op.getStackedRows().empty();
    if (hasRows && trips != most)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setTrips(trips);
      op.getCountMutable().clear();
    });
    return success();
  }
};

// Pattern: scan of no trips -> inits; of one trip -> body
struct InlineFewTrips : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    auto isStatic = [](Type type) {
      return cast<RankedTensorType>(type).hasStaticShape();
    };
    if (!llvm::all_of(op->getOperandTypes(), isStatic) ||
        !llvm::all_of(op->getResultTypes(), isStatic))
      return failure();
    if (op.getTrips() == 0)
      dropLoop(op, rewriter);
    else if (op.getTrips() == 1 && !op.getCount())
      inlineBody(op, rewriter);
    else
      return failure();
    return success();
  }

private:
  static void dropLoop(ScanOp op, PatternRewriter &rewriter) {
    SmallVector<Value> values(op.getInits());
    for (OpResult result : op.getStackedRows()) {
      auto type = cast<RankedTensorType>(result.getType());
      values.push_back(ConstantOp::create(
          rewriter, op.getLoc(), type,
          DenseElementsAttr::get(type, ArrayRef<Attribute>())));
    }
    rewriter.replaceOp(op, values);
  }

  static void inlineBody(ScanOp op, PatternRewriter &rewriter) {
    SmallVector<Value> arguments(op.getInits());
    for (auto [value, row] :
         llvm::zip_equal(op.getRows(), op.getRowArguments()))
      arguments.push_back(
          ReshapeOp::create(rewriter, op.getLoc(), row.getType(), value));
    ScanYieldOp yield = op.getYield();
    rewriter.inlineBlockBefore(&op.getBody().front(), op, arguments);
    SmallVector<Value> values(
        yield.getOperands().take_front(op.getNumCarries()));
    for (auto [row, result] :
         llvm::zip_equal(yield.getOperands().drop_front(op.getNumCarries()),
                         op.getStackedRows()))
      values.push_back(
          ReshapeOp::create(rewriter, op.getLoc(), result.getType(), row));
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, values);
  }
};
} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<ForwardUnchangedCarries, ForwardRows, DropUnneeded,
               CountKnownTrips, InlineFewTrips>(context);
}
