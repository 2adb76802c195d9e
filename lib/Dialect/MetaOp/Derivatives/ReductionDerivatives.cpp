//===- ReductionDerivatives.cpp - Derivatives of reductions ---------------===//
//----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cotangent of a result goes back, through the same access, to all elements
// that were combined into it:
//
//   add       as it is;
//   max, min  shared evenly by the elements that attain the value;
//   mul       times the product of the other elements. Dividing the product by
//             the element would lose the gradient at zeros. A reduction over
//             whole dimensions multiplies the others, without division, which
//             is right at zeros to every order. Any other reduction takes zeros
//             and other elements apart, which is right to the second order, and
//             to every order where at most two elements of a group are zero.
//
//   norm      times the element over the norm, or a power of that quotient.
//
// A JVP takes the same weights the other way: tangents, weighted, are summed.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/CombinerDerivatives.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/ExtremeElements.h"
#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

using Products = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Mul over whole dimensions
//===----------------------------------------------------------------------===//

namespace {
/// For each element of a tensor, the product of the other elements along some
/// dimensions.
class ExclusiveProduct {
public:
  ExclusiveProduct(TensorEmitter &emit, MLIRContext *context)
      : emit(emit), context(context) {}

  /// One dimension after the other: the others along the last one, times the
  /// others along the one before of the products over the last, and so on.
  Value emitOver(Value source, ArrayRef<int64_t> dims) {
    Value others;
    Value partial = source;
    for (int64_t dim : llvm::reverse(dims)) {
      Value along = broadcastTo(emitAlong(partial, dim), source);
      others = others ? emit.mul(others, along) : along;
      if (dim != dims.front())
        partial = emit.create<ReduceOp>(Combiner::Mul, partial,
                                        ArrayRef<int64_t>{dim},
                                        /*keep_dims=*/true);
    }
    return others;
  }

private:
  /// Up to this extent, the product of each element's others is computed
  /// directly: n^2 factors, but one kernel.
  static constexpr int64_t maxPairwiseExtent = 64;

  Value emitAlong(Value source, int64_t dim) {
    int64_t extent = typeOf(source).getDimSize(dim);
    if (extent == 0 || extent == 1)
      return emit.splat(source, 1.0);
    if (ShapedType::isDynamic(extent) || extent <= maxPairwiseExtent)
      return emitPairwise(source, dim);
    return emitTree(source, dim);
  }

  /// Another dimension runs over the factors, of which the element itself is
  /// replaced by 1.
  Value emitPairwise(Value source, int64_t dim) {
    RankedTensorType type = typeOf(source);
    unsigned rank = type.getRank();
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(shape[dim]);
    SmallVector<Value> extents = emit.extents(source);
    if (type.isDynamicDim(dim))
      extents.push_back(extents[type.getDynamicDimIndex(dim)]);

    SmallVector<AffineExpr> factorIndex = identity(rank);
    factorIndex[dim] = getAffineDimExpr(rank, context);
    IndexAccess read;
    read.map = AffineMap::get(rank + 1, 0, factorIndex, context);
    read.fill = getNumberAttr(type.getElementType(), 1.0);
    Value factors =
        emit.create<ReindexOp>(type.clone(shape), source, read, extents);

    Type boolean = IntegerType::get(context, 1);
    auto scalar = RankedTensorType::get({}, boolean);
    Value yes =
        emit.create<ConstantOp>(scalar, DenseElementsAttr::get(scalar, true));
    IndexAccess diagonal;
    diagonal.map = AffineMap::get(rank + 1, 0, context);
    AffineExpr distance =
        getAffineDimExpr(dim, context) - getAffineDimExpr(rank, context);
    diagonal.conditions = IntegerSet::get(rank + 1, 0, {distance}, {true});
    diagonal.fill = getNumberAttr(boolean, 0.0);
    Value isSelf = emit.create<ReindexOp>(type.clone(shape, boolean), yes,
                                          diagonal, extents);

    Value others = emit.select(isSelf, emit.splat(factors, 1.0), factors);
    return emit.create<ReduceOp>(Combiner::Mul, others, ArrayRef<int64_t>{rank},
                                 /*keep_dims=*/false);
  }

  /// A tree of products, each node of the products of two below. Downwards, a
  /// node's others are its parent's others times its sibling: 2n products.
  Value emitTree(Value source, int64_t dim) {
    SmallVector<Value> levels = {source};
    while (typeOf(levels.back()).getDimSize(dim) > 1) {
      Value below = levels.back();
      int64_t extent = (typeOf(below).getDimSize(dim) + 1) / 2;
      AffineExpr node = getAffineDimExpr(dim, context);
      Value left = readAlong(below, dim, extent, node * 2);
      Value right = readAlong(below, dim, extent, node * 2 + 1);
      levels.push_back(emit.mul(left, right));
    }
    levels.pop_back();

    Value others;
    while (!levels.empty()) {
      Value level = levels.pop_back_val();
      int64_t extent = typeOf(level).getDimSize(dim);
      AffineExpr node = getAffineDimExpr(dim, context);
      Value sibling = readAlong(level, dim, extent, node + 1 - (node % 2) * 2);
      others = others
                   ? emit.mul(readAlong(others, dim, extent, node.floorDiv(2)),
                              sibling)
                   : sibling;
    }
    return others;
  }

  /// Reads `source` with `index` in the place of dimension `dim`, and 1 outside
  /// of it.
  Value readAlong(Value source, int64_t dim, int64_t extent, AffineExpr index) {
    RankedTensorType type = typeOf(source);
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = extent;
    SmallVector<AffineExpr> indices = identity(type.getRank());
    indices[dim] = index;
    IndexAccess access;
    access.map = AffineMap::get(type.getRank(), 0, indices, context);
    access.fill = getNumberAttr(type.getElementType(), 1.0);
    return emit.create<ReindexOp>(type.clone(shape), source, access,
                                  emit.extents(source));
  }

  Value broadcastTo(Value value, Value like) {
    if (value.getType() == like.getType())
      return value;
    auto dims = llvm::to_vector(llvm::seq<int64_t>(typeOf(like).getRank()));
    return emit.create<BroadcastOp>(like.getType(), value, emit.extents(like),
                                    dims);
  }

  SmallVector<AffineExpr> identity(unsigned rank) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim = 0; dim < rank; ++dim)
      exprs.push_back(getAffineDimExpr(dim, context));
    return exprs;
  }
  static RankedTensorType typeOf(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  TensorEmitter &emit;
  MLIRContext *context;
};
} // namespace

/// The dimensions that `op` reduces as a whole, if that is all it does: each
/// index of the result is another dimension, or 0, and all elements take part.
static std::optional<SmallVector<int64_t>>
getWholeDimensions(ReindexReduceOpInterface op) {
  IndexAccess access = op.getIndexAccess();
  llvm::SmallBitVector isReduced(access.map.getNumDims(), true);
  for (AffineExpr index : access.map.getResults()) {
    if (index == 0)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || !isReduced[dim.getPosition()])
      return std::nullopt;
    isReduced.reset(dim.getPosition());
  }
  if (access.conditions || !isInBounds(op))
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (unsigned dim : isReduced.set_bits())
    dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Mul in general
//===----------------------------------------------------------------------===//

/// With P the product of the elements that are not zero, Z that of the zeros
/// and x an element: where x is not zero, its others give P Z / x. Where it is
/// the only zero, P. Where it is one of two, P times the other zero, which is
/// the sum of zeros less x: 0, but with the right derivative. Else 0.
Value CombinedElements::emitProductOfOthers(Value cotangent) {
  Value x = source;
  Value one = emit.splat(x, 1.0);
  Value zero = emit.splat(x, 0.0);
  Value isZero = emit.compare(ComparePredicate::Eq, x, zero);
  Value numbers = emit.select(isZero, one, x);
  Value product = combine(Combiner::Mul, numbers);
  Value zeroProduct = combine(Combiner::Mul, emit.select(isZero, x, one));
  Value zeroSum = sum(emit.select(isZero, x, zero));
  Value zeroCount = sum(emit.cast(isZero, getElementTypeOrSelf(x)));

  Value scaled = emit.mul(cotangent, product);
  Value none = emit.splat(result, 0.0);
  Value ifOne = emit.select(emit.compare(ComparePredicate::Eq, zeroCount, 1.0),
                            scaled, none);
  Value ifTwo = emit.select(emit.compare(ComparePredicate::Eq, zeroCount, 2.0),
                            scaled, none);

  Value otherZero = emit.sub(read(zeroSum), x);
  Value atZero = emit.add(read(ifOne), emit.mul(read(ifTwo), otherZero));
  Value elsewhere = emit.div(read(emit.mul(scaled, zeroProduct)), numbers);
  return emit.select(isZero, atZero, elsewhere);
}

CombinedElements::~CombinedElements() = default;

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

Value metaop::detail::vjpOfSum(CombinedElements &elements, Value cotangent) {
  return elements.read(cotangent);
}

Value metaop::detail::jvpOfSum(CombinedElements &elements, Value tangent) {
  return elements.sum(tangent);
}

Value metaop::detail::vjpOfProduct(CombinedElements &elements,
                                   Value cotangent) {
  return elements.emitProductOfOthers(cotangent);
}

Value metaop::detail::jvpOfProduct(CombinedElements &elements, Value tangent) {
  TensorEmitter &emit = elements.emit;
  Value ones = emit.splat(elements.result, 1.0);
  Value others = elements.emitProductOfOthers(ones);
  return elements.sum(emit.mul(tangent, others));
}

Value metaop::detail::vjpOfExtreme(CombinedElements &elements,
                                   Value cotangent) {
  ExtremeElements extremes(elements);
  return extremes.mask(elements.read(extremes.divide(cotangent)));
}

Value metaop::detail::jvpOfExtreme(CombinedElements &elements, Value tangent) {
  ExtremeElements extremes(elements);
  return extremes.divide(elements.sum(extremes.mask(tangent)));
}

Value metaop::detail::applyVjp(Combiner combiner, CombinedElements &elements,
                               Value cotangent) {
  auto vjp = getCombinerInfo(combiner).vjp;
  return vjp && isFloatTensor(elements.source) ? vjp(elements, cotangent)
                                               : Value();
}

Value metaop::detail::applyJvp(Combiner combiner, CombinedElements &elements,
                               Value tangent) {
  auto jvp = getCombinerInfo(combiner).jvp;
  return jvp ? jvp(elements, tangent) : Value();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a reduction through an affine access.
class ReducedElements : public CombinedElements {
public:
  ReducedElements(TensorEmitter &emit, ReindexReduceOpInterface op)
      : CombinedElements(emit, op.getSource(), op->getResult(0)), op(op) {}

  Value read(Value ofResult, double fill) override {
    return emit.reindex(ofResult, source, op.getIndexAccess(), fill);
  }
  Value combine(Combiner combiner, Value ofSource) override {
    return emit.reindexReduce(combiner, ofSource, result, op.getIndexAccess());
  }
  Value emitProductOfOthers(Value cotangent) override {
    auto dims = getWholeDimensions(op);
    if (!dims)
      return CombinedElements::emitProductOfOthers(cotangent);
    Value spread = read(cotangent, 0.0);
    if (dims->empty())
      return spread;
    ExclusiveProduct product(emit, op.getContext());
    return emit.mul(spread, product.emitOver(source, *dims));
  }

private:
  ReindexReduceOpInterface op;
};
} // namespace

/// The source is operand 0; symbols and extents get nothing.
static Products vjpOfReduction(ReindexReduceOpInterface op, OpBuilder &builder,
                               Value cotangent) {
  Products products(op->getNumOperands());
  TensorEmitter emit(builder, op.getLoc());
  ReducedElements elements(emit, op);
  products[0] = applyVjp(op.getReduceKind(), elements, cotangent);
  return products;
}

static Products jvpOfReduction(ReindexReduceOpInterface op, OpBuilder &builder,
                               Value tangent) {
  TensorEmitter emit(builder, op.getLoc());
  ReducedElements elements(emit, op);
  return {applyJvp(op.getReduceKind(), elements, tangent)};
}

#define METAOPS_REDUCTION_PRODUCTS(OP)                                         \
  Products OP::vjp(OpBuilder &builder, ValueRange cotangents) {                \
    return vjpOfReduction(*this, builder, cotangents[0]);                      \
  }                                                                            \
  Products OP::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {             \
    return jvpOfReduction(*this, builder, tangents[0]);                        \
  }
METAOPS_REDUCTION_PRODUCTS(ReindexReduceOp)
METAOPS_REDUCTION_PRODUCTS(ReduceOp)
#undef METAOPS_REDUCTION_PRODUCTS

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

namespace {
/// The slopes of a norm: of order 2 the units, which are each element over the
/// result, and of other orders a power of these. The reciprocal of the result
/// may be no number of f32 where units are, and its derivative is none already
/// where the result is far from 1. So both are multiplied first by a power of
/// two that brings the result near 1, exactly, and that is a constant for
/// derivatives. Elements are 0 where the result is, and any number is its
/// reciprocal; but signed powers may add up to 0, of which the reciprocal is 0
/// then.
class NormSlopes {
public:
  NormSlopes(OpBuilder &builder, NormOp op)
      : op(op), emit(builder, op.getLoc()) {
    Value length = op.getResult();
    factor = emitFactor(length);
    Value isZero = emit.compare(ComparePredicate::Eq, length, 0.0);
    Value one = emit.splat(length, 1.0);
    inverse = emit.div(one, emit.select(isZero, one, emit.mul(length, factor)));
    if (op.getSignedPowers())
      inverse = emit.select(isZero, emit.splat(length, 0.0), inverse);
  }

  Value emitVjp(Value cotangent) {
    return emit.mul(emitSlopes(), emitRead(emitDivided(cotangent)));
  }

  Value emitJvp(Value tangent) {
    Value sum =
        emit.reindexReduce(Combiner::Add, emit.mul(emitSlopes(), tangent),
                           op.getResult(), op.getIndexAccess());
    return emitDivided(sum);
  }

private:
  Value emitRead(Value ofResult) {
    return emit.reindex(ofResult, op.getSource(), op.getIndexAccess(), 0.0);
  }
  Value emitDivided(Value ofResult) {
    double divisor = op.getDivisor().convertToDouble();
    return divisor == 1 ? ofResult
                        : emit.div(ofResult, emit.splat(ofResult, divisor));
  }
  /// Emits the power of two whose exponent is the opposite of each number's,
  /// from the bits of the exponent: 2^127 for 0, and 2^-126 for the largest.
  Value emitFactor(Value number) {
    constexpr double exponents = 0xff << 23, opposite = 0xfe << 23,
                     least = 1 << 23;
    auto type = cast<RankedTensorType>(number.getType());
    Type integers = type.clone(IntegerType::get(op.getContext(), 32));
    Value bits = emit.create<BitcastOp>(integers, number);
    Value exponent = emit.create<AndOp>(bits, emit.splat(bits, exponents));
    Value result = emit.sub(emit.splat(bits, opposite), exponent);
    result = emit.create<MaxOp>(result, emit.splat(bits, least));
    return emit.create<BitcastOp>(type, result);
  }
  Value emitUnits() {
    return emit.mul(emit.mul(op.getSource(), emitRead(factor)),
                    emitRead(inverse));
  }
  /// Emits the quotients' powers of an order less 1. The root of 0, which is
  /// steep, is that of 1, and 0 is chosen in its place.
  Value emitSlopes() {
    Value units = emitUnits();
    int64_t halves = op.getHalves();
    if (halves == 4)
      return units;
    Value size = units;
    if (op.needsMagnitudes())
      size = emit.create<AbsOp>(units);
    Value isZero;
    if (op.hasRoot()) {
      isZero = emit.compare(ComparePredicate::Eq, units, 0.0);
      size = emit.select(isZero, emit.splat(units, 1.0), size);
    }
    Value slopes = emit.power(size, halves - 2);
    if (op.needsMagnitudes())
      slopes = emit.select(emit.compare(ComparePredicate::Lt, units, 0.0),
                           emit.neg(slopes), slopes);
    return op.hasRoot() ? emit.select(isZero, emit.splat(units, 0.0), slopes)
                        : slopes;
  }

  NormOp op;
  TensorEmitter emit;
  Value factor, inverse;
};
} // namespace

Products NormOp::vjp(OpBuilder &builder, ValueRange cotangents) {
  return {NormSlopes(builder, *this).emitVjp(cotangents[0])};
}

Products NormOp::jvp(OpBuilder &builder, ArrayRef<Value> tangents) {
  return {NormSlopes(builder, *this).emitJvp(tangents[0])};
}
