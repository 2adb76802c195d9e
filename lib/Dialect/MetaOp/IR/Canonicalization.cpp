//===- Canonicalization.cpp - Simpler reindexes and reindex-reduces -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Named forms become the general ones, so that each further pattern is written
// once. Accesses are simplified on their own; reindexes are composed; a
// reindex-reduce that writes each element at most once becomes a reindex, which
// needs no accumulation, and one that leaves out elements at equal distances is
// made without them; a reindex that moves nothing becomes a view.
//
// In a stage (`metaop.fused`) only those patterns apply that keep the stage's
// iteration space and make no other ops.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Canonicalization.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/TensorEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/AccessTransforms.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Named forms
//===----------------------------------------------------------------------===//

static SmallVector<Value> getResultExtents(OpBuilder &, BroadcastOp op) {
  return llvm::to_vector(op.getExtents());
}

static SmallVector<Value> getResultExtents(OpBuilder &, SliceOp op) {
  return llvm::to_vector(op.getExtents());
}

static SmallVector<Value> getResultExtents(OpBuilder &builder, TransposeOp op) {
  SmallVector<Value> extents;
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    if (op.getResult().getType().isDynamicDim(to))
      extents.push_back(
          tensor::DimOp::create(builder, op.getLoc(), op.getSource(), from));
  return extents;
}

static SmallVector<Value> getResultExtents(OpBuilder &builder, PadOp op) {
  SmallVector<Value> extents;
  Location loc = op.getLoc();
  for (auto [dim, low, high] :
       llvm::zip_equal(llvm::seq<int64_t>(0, op.getLow().size()), op.getLow(),
                       op.getHigh())) {
    if (!op.getResult().getType().isDynamicDim(dim))
      continue;
    Value extent = tensor::DimOp::create(builder, loc, op.getSource(), dim);
    for (int64_t width : {low, high}) {
      if (width == 0)
        continue;
      Value border = arith::ConstantIndexOp::create(builder, loc, width);
      extent = arith::AddIOp::create(builder, loc, extent, border);
    }
    extents.push_back(extent);
  }
  return extents;
}

static SmallVector<Value> getResultExtents(OpBuilder &builder, ReduceOp op) {
  SmallVector<Value> extents;
  for (AffineExpr expr : op.getIndexAccess().map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && op.getSource().getType().isDynamicDim(dim.getPosition()))
      extents.push_back(tensor::DimOp::create(
          builder, op.getLoc(), op.getSource(), dim.getPosition()));
  }
  return extents;
}

/// In a stage no op may be made that computes an extent.
static bool mayNameExtents(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return type.hasStaticShape() || !isInStage(op);
}

namespace {
// Pattern: broadcast, transpose, slice, pad -> reindex
template <typename OpTy> struct NamedToReindex : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!mayNameExtents(op))
      return rewriter.notifyMatchFailure(op, "dynamic extents in a stage");
    rewriter.replaceOpWithNewOp<ReindexOp>(op, op.getResult().getType(),
                                           op.getSource(), op.getIndexAccess(),
                                           getResultExtents(rewriter, op));
    return success();
  }
};

// Pattern: reduce -> reindex_reduce
struct ReduceToReindexReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (!mayNameExtents(op))
      return rewriter.notifyMatchFailure(op, "dynamic extents in a stage");
    rewriter.replaceOpWithNewOp<ReindexReduceOp>(
        op, op.getResult().getType(), op.getReduceKind(), op.getSource(),
        op.getIndexAccess(), getResultExtents(rewriter, op));
    return success();
  }
};

// Pattern: norm -> cast, mul or sqrt, reduce, sqrt or pow, cast
struct NormToReduce : OpRewritePattern<NormOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormOp op,
                                PatternRewriter &rewriter) const override {
    metaop::detail::TensorEmitter emit(rewriter, op.getLoc());
    Type narrow = op.getType().getElementType();
    Value size = op.getSource();
    if (op.needsMagnitudes())
      size = emit.create<AbsOp>(size);
    else if (op.hasRoot())
      size = emitRooted(emit, size);
    Value wide = emit.cast(size, rewriter.getF64Type());
    Value sum =
        emit.create<ReduceOp>(Combiner::Add, emit.power(wide, op.getHalves()),
                              op.getDimensions(), op.getKeepDims());
    if (double divisor = op.getDivisor().convertToDouble(); divisor != 1)
      sum = emit.div(sum, emit.splat(sum, divisor));
    Value root =
        op.getHalves() == 4
            ? emit.create<SqrtOp>(sum)
            : emit.create<PowOp>(sum, emit.splat(sum, 2.0 / op.getHalves()));
    rewriter.replaceOp(op, emit.cast(root, narrow));
    return success();
  }

private:
  /// Emits infinity in place of the negative one, which has its powers, but no
  /// root.
  static Value emitRooted(metaop::detail::TensorEmitter &emit, Value x) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value isLeast = emit.compare(ComparePredicate::Eq, x, -infinity);
    return emit.select(isLeast, emit.splat(x, infinity), x);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static bool isSame(const IndexAccess &lhs, const IndexAccess &rhs) {
  return lhs.map == rhs.map && lhs.conditions == rhs.conditions &&
         lhs.symbols == rhs.symbols;
}

static void replaceAccess(PatternRewriter &rewriter, ReindexOp op,
                          const IndexAccess &access) {
  rewriter.replaceOpWithNewOp<ReindexOp>(
      op, op.getResult().getType(), op.getSource(), access, op.getExtents());
}

static void replaceAccess(PatternRewriter &rewriter, ReindexReduceOp op,
                          const IndexAccess &access) {
  rewriter.replaceOpWithNewOp<ReindexReduceOp>(
      op, op.getResult().getType(), op.getReduceKind(), op.getSource(), access,
      op.getExtents());
}

static ArrayRef<int64_t> getAccessedExtents(ReindexOp op) {
  return op.getSource().getType().getShape();
}

static ArrayRef<int64_t> getAccessedExtents(ReindexReduceOp op) {
  return op.getResult().getType().getShape();
}

namespace {
// Pattern: reindex or reindex_reduce
//   -> the same with fewer symbols, simpler expressions, fewer conditions
template <typename OpTy> struct SimplifyAccess : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    IndexAccess access = op.getIndexAccess();
    IndexAccess simpler =
        simplifyAccess(access, op.getIterationValue().getType().getShape(),
                       getAccessedExtents(op));
    if (isSame(access, simpler))
      return rewriter.notifyMatchFailure(op, "the access is simple");
    replaceAccess(rewriter, op, simpler);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

namespace {
/// A value, read through an access.
struct Read {
  Value source;
  IndexAccess access;
  AccessBounds bounds;
};
} // namespace

/// Returns how `value` reads another one: a reindex, or a reshape that adds and
/// drops dimensions of extent 1.
static std::optional<Read> getRead(Value value) {
  if (auto op = value.getDefiningOp<ReindexOpInterface>())
    return Read{op.getSource(), op.getIndexAccess(), getAccessBounds(op)};
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;

  RankedTensorType source = reshape.getSource().getType();
  RankedTensorType result = reshape.getResult().getType();
  auto partners = matchUnitDims(result.getShape(), source.getShape());
  if (failed(partners))
    return std::nullopt;
  Builder builder(value.getContext());
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : *partners)
    exprs.push_back(dim < 0 ? builder.getAffineConstantExpr(0)
                            : builder.getAffineDimExpr(dim));
  Read read;
  read.source = reshape.getSource();
  read.access.map =
      AffineMap::get(result.getRank(), 0, exprs, builder.getContext());
  read.access.fill = builder.getZeroAttr(source.getElementType());
  return read;
}

namespace {
// Pattern: reindex f (reindex g (x)) -> reindex g.f (x)
// Pattern: reindex f (reshape (x)), unit dims only -> reindex f' (x)
struct ComposeReindexes : OpRewritePattern<ReindexOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReindexOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Read> inner = getRead(op.getSource());
    if (!inner || inner->source == op.getResult())
      return rewriter.notifyMatchFailure(op, "reads no reindex");
    auto source = cast<RankedTensorType>(inner->source.getType());
    ArrayRef<int64_t> iteration = op.getResult().getType().getShape();
    FailureOr<IndexAccess> access = composeReindexes(
        op.getIndexAccess(),
        getAccessBounds(cast<ReindexOpInterface>(op.getOperation())),
        inner->access, inner->bounds, iteration, source.getShape());
    if (failed(access))
      return rewriter.notifyMatchFailure(op, "guards and fills do not compose");
    rewriter.replaceOpWithNewOp<ReindexOp>(
        op, op.getResult().getType(), inner->source,
        simplifyAccess(*access, iteration, source.getShape()), op.getExtents());
    return success();
  }
};

// Pattern: reindex (x), only adding or dropping unit dims -> reshape (x)
struct ReindexToReshape : OpRewritePattern<ReindexOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReindexOp op,
                                PatternRewriter &rewriter) const override {
    if (isInStage(op))
      return rewriter.notifyMatchFailure(op, "a stage holds no views");
    RankedTensorType source = op.getSource().getType();
    RankedTensorType result = op.getResult().getType();
    auto partners = matchUnitDims(result.getShape(), source.getShape());
    if (failed(partners))
      return rewriter.notifyMatchFailure(op, "more than unit dims change");
    for (auto [dim, expr] :
         llvm::zip_equal(*partners, op.getMap().getResults()))
      if (dim >= 0 && expr != rewriter.getAffineDimExpr(dim))
        return rewriter.notifyMatchFailure(op, "elements move");
    if (!isInBounds(cast<ReindexOpInterface>(op.getOperation())))
      return rewriter.notifyMatchFailure(op, "not in bounds");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, result, op.getSource(),
                                           ValueRange());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reindex-reduce
//===----------------------------------------------------------------------===//

namespace {
// Pattern: reindex_reduce f (reshape (x)), unit dims only
//   -> reindex_reduce f' (x)
struct ReduceOfReshape : OpRewritePattern<ReindexReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReindexReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getSource().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return rewriter.notifyMatchFailure(op, "reduces no reshape");
    RankedTensorType source = reshape.getSource().getType();
    RankedTensorType result = op.getResult().getType();
    auto partners =
        matchUnitDims(source.getShape(), op.getSource().getType().getShape());
    if (failed(partners))
      return rewriter.notifyMatchFailure(op, "more than unit dims change");

    SmallVector<AffineExpr> dims;
    for (int64_t dim : *partners)
      dims.push_back(dim < 0 ? rewriter.getAffineConstantExpr(0)
                             : rewriter.getAffineDimExpr(dim));
    IndexAccess access = op.getIndexAccess();
    unsigned numSymbols = access.map.getNumSymbols();
    access.map = access.map.replaceDimsAndSymbols(dims, {}, source.getRank(),
                                                  numSymbols);
    if (access.conditions)
      access.conditions = access.conditions.replaceDimsAndSymbols(
          dims, {}, source.getRank(), numSymbols);
    rewriter.replaceOpWithNewOp<ReindexReduceOp>(op, result, op.getReduceKind(),
                                                 reshape.getSource(), access,
                                                 op.getExtents());
    return success();
  }
};

// Pattern: reindex_reduce (x), each element written at most once
//   -> reindex (x), filled with what the reduction starts from
struct ReduceToReindex : OpRewritePattern<ReindexReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReindexReduceOp op,
                                PatternRewriter &rewriter) const override {
    if (isInStage(op))
      return rewriter.notifyMatchFailure(op, "the iteration space is given");
    RankedTensorType result = op.getResult().getType();
    FailureOr<IndexAccess> access =
        invertAccess(op.getIndexAccess(), op.getSource().getType().getShape(),
                     getIdentity(op.getReduceKind(), result.getElementType()));
    if (failed(access))
      return rewriter.notifyMatchFailure(op, "no index map leads back");
    rewriter.replaceOpWithNewOp<ReindexOp>(op, result, op.getSource(), *access,
                                           op.getExtents());
    return success();
  }
};

// Pattern: reindex_reduce (x), to indices in steps of 2 or more
//   -> reindex (reindex_reduce (x)), filled with what the reduction starts from
struct ReduceInSteps : OpRewritePattern<ReindexReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReindexReduceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType result = op.getResult().getType();
    if (isInStage(op) || !result.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "the iteration space is given");
    IndexAccess reduced = op.getIndexAccess(), spread;
    FailureOr<SmallVector<int64_t>> shape =
        splitSteps(reduced, op.getSource().getType().getShape(),
                   result.getShape(), spread);
    if (failed(shape))
      return rewriter.notifyMatchFailure(op, "no index moves in steps");
    spread.fill = getIdentity(op.getReduceKind(), result.getElementType());
    auto reduce =
        ReindexReduceOp::create(rewriter, op.getLoc(), result.clone(*shape),
                                op.getReduceKind(), op.getSource(), reduced);
    rewriter.replaceOpWithNewOp<ReindexOp>(op, result, reduce.getResult(),
                                           spread);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Hooks
//===----------------------------------------------------------------------===//

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<NamedToReindex<BroadcastOp>>(context);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<NamedToReindex<TransposeOp>>(context);
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<NamedToReindex<SliceOp>>(context);
}

void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                        MLIRContext *context) {
  patterns.add<NamedToReindex<PadOp>>(context);
}

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<ReduceToReindexReduce>(context);
}

void NormOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<NormToReduce>(context);
}

void ReindexOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<SimplifyAccess<ReindexOp>, ComposeReindexes, ReindexToReshape>(
      context);
}

void ReindexReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns
      .add<SimplifyAccess<ReindexReduceOp>, ReduceOfReshape, ReduceToReindex>(
          context);
  // A reindex alone, where one does, comes first.
  patterns.add<ReduceInSteps>(context, /*benefit=*/0);
}

void metaop::populateNamedToGeneralPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  BroadcastOp::getCanonicalizationPatterns(patterns, context);
  TransposeOp::getCanonicalizationPatterns(patterns, context);
  SliceOp::getCanonicalizationPatterns(patterns, context);
  PadOp::getCanonicalizationPatterns(patterns, context);
  ReduceOp::getCanonicalizationPatterns(patterns, context);
  NormOp::getCanonicalizationPatterns(patterns, context);
}

void metaop::populateSimplificationPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  ReindexOp::getCanonicalizationPatterns(patterns, context);
  ReindexReduceOp::getCanonicalizationPatterns(patterns, context);
  ReshapeOp::getCanonicalizationPatterns(patterns, context);
  FusedOp::getCanonicalizationPatterns(patterns, context);
  KernelOp::getCanonicalizationPatterns(patterns, context);
}
