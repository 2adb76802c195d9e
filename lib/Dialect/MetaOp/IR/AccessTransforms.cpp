//===- AccessTransforms.cpp - Rewriting index accesses --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/AccessTransforms.h"
#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {
/// Conditions being collected; each is `expr >= 0`, or `expr == 0`.
struct Conditions {
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> equalities;

  void add(AffineExpr expr, bool equality) {
    for (auto [other, otherEquality] : llvm::zip_equal(exprs, equalities))
      if (other == expr && otherEquality == equality)
        return;
    exprs.push_back(expr);
    equalities.push_back(equality);
  }

  /// Adds the constraints of `set`, if there is one, each rewritten.
  void addAll(IntegerSet set, function_ref<AffineExpr(AffineExpr)> rewrite) {
    if (!set)
      return;
    for (unsigned i = 0; i < set.getNumConstraints(); ++i)
      add(rewrite(set.getConstraint(i)), set.isEq(i));
  }

  IntegerSet getSet(unsigned numDims, unsigned numSymbols) const {
    if (exprs.empty())
      return IntegerSet();
    return IntegerSet::get(numDims, numSymbols, exprs, equalities);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

std::optional<int64_t> metaop::getConstantSymbol(Value symbol) {
  auto constant = symbol.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto value =
      dyn_cast_or_null<IntegerAttr>(getSplatValue(constant.getValue()));
  if (!value || !value.getType().isSignlessInteger(64))
    return std::nullopt;
  return value.getInt();
}

/// Replaces known symbols, and merges and drops others.
static IndexAccess simplifySymbols(const IndexAccess &access,
                                   ConstantSymbolFn constantSymbol) {
  MLIRContext *context = access.map.getContext();
  IntegerSet where = access.conditions;
  auto isUsed = [&](unsigned symbol) {
    auto uses = [&](AffineExpr expr) {
      return expr.isFunctionOfSymbol(symbol);
    };
    return llvm::any_of(access.map.getResults(), uses) ||
           (where && llvm::any_of(where.getConstraints(), uses));
  };
  IndexAccess simpler;
  SmallVector<AffineExpr> replacements;
  for (auto [position, symbol] : llvm::enumerate(access.symbols)) {
    std::optional<int64_t> constant = constantSymbol(symbol);
    if (constant || !isUsed(position)) {
      replacements.push_back(
          getAffineConstantExpr(constant.value_or(0), context));
      continue;
    }
    auto *it = llvm::find(simpler.symbols, symbol);
    replacements.push_back(
        getAffineSymbolExpr(it - simpler.symbols.begin(), context));
    if (it == simpler.symbols.end())
      simpler.symbols.push_back(symbol);
  }
  unsigned numDims = access.map.getNumDims();
  unsigned numSymbols = simpler.symbols.size();
  simpler.map =
      access.map.replaceDimsAndSymbols({}, replacements, numDims, numSymbols);
  Conditions conditions;
  conditions.addAll(access.conditions, [&](AffineExpr expr) {
    return expr.replaceSymbols(replacements);
  });
  simpler.conditions = conditions.getSet(numDims, numSymbols);
  simpler.fill = access.fill;
  return simpler;
}

/// `expr >= 0` for each condition that the indices' being in range implies.
static SmallVector<AffineExpr> getRangeChecks(AffineMap map,
                                              ArrayRef<int64_t> extents) {
  SmallVector<AffineExpr> checks;
  for (auto [expr, extent] : llvm::zip_equal(map.getResults(), extents)) {
    checks.push_back(expr);
    if (!ShapedType::isDynamic(extent))
      checks.push_back(getAffineConstantExpr(extent - 1, map.getContext()) -
                       expr);
  }
  return checks;
}

/// Drops the conditions that hold wherever the indices are in range.
static void simplifyConditions(IndexAccess &access, ArrayRef<int64_t> iteration,
                               ArrayRef<int64_t> accessed) {
  if (!access.conditions)
    return;
  unsigned numDims = access.map.getNumDims();
  unsigned numSymbols = access.map.getNumSymbols();
  if (llvm::is_contained(iteration, 0)) {
    access.conditions = IntegerSet();
    return;
  }
  SmallVector<AffineExpr> known = getRangeChecks(access.map, accessed);
  Conditions conditions;
  for (unsigned i = 0; i < access.conditions.getNumConstraints(); ++i) {
    AffineExpr expr = simplifyInRange(access.conditions.getConstraint(i),
                                      numDims, numSymbols, iteration);
    bool equality = access.conditions.isEq(i);
    IndexInterval interval = getInterval(expr, iteration);
    bool holds = equality ? interval.isSingleValue() && *interval.lower == 0
                          : interval.lower && *interval.lower >= 0;
    bool implied = !equality && llvm::any_of(known, [&](AffineExpr other) {
      return isImpliedBy(expr, other, numDims, numSymbols, iteration);
    });
    if (holds || implied)
      continue;
    conditions.add(expr, equality);
    if (!equality)
      known.push_back(expr);
  }
  access.conditions = conditions.getSet(numDims, numSymbols);
}

IndexAccess metaop::simplifyAccess(const IndexAccess &access,
                                   ArrayRef<int64_t> iterationExtents,
                                   ArrayRef<int64_t> accessedExtents,
                                   ConstantSymbolFn constantSymbol) {
  IndexAccess simpler = simplifySymbols(access, constantSymbol);
  unsigned numDims = simpler.map.getNumDims();
  unsigned numSymbols = simpler.map.getNumSymbols();
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : simpler.map.getResults())
    exprs.push_back(
        simplifyInRange(expr, numDims, numSymbols, iterationExtents));
  simpler.map =
      AffineMap::get(numDims, numSymbols, exprs, access.map.getContext());
  simplifyConditions(simpler, iterationExtents, accessedExtents);
  return simpler;
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

FailureOr<IndexAccess> metaop::composeReindexes(const IndexAccess &outer,
                                                const AccessBounds &outerBounds,
                                                const IndexAccess &inner,
                                                const AccessBounds &innerBounds,
                                                ArrayRef<int64_t> iteration,
                                                ArrayRef<int64_t> source) {
  MLIRContext *context = outer.map.getContext();
  unsigned numDims = outer.map.getNumDims();
  unsigned numOuter = outer.map.getNumSymbols();
  unsigned numSymbols = numOuter + inner.map.getNumSymbols();
  SmallVector<AffineExpr> innerSymbols;
  for (unsigned i = 0; i < inner.map.getNumSymbols(); ++i)
    innerSymbols.push_back(getAffineSymbolExpr(numOuter + i, context));
  auto substitute = [&](AffineExpr expr) {
    return expr.replaceDimsAndSymbols(outer.map.getResults(), innerSymbols);
  };

  IndexAccess composed;
  SmallVector<AffineExpr> exprs =
      llvm::map_to_vector(inner.map.getResults(), substitute);
  composed.map = AffineMap::get(numDims, numSymbols, exprs, context);
  composed.symbols = outer.symbols;
  composed.symbols.append(inner.symbols);

  // Three cases can meet at a point: the outer access fails, the inner fails,
  // or both hold. One fill is left where the first, or the second, cannot
  // happen, or where both fill alike.
  Conditions conditions;
  conditions.addAll(inner.conditions, substitute);
  IndexAccess innerAtOuter = composed;
  innerAtOuter.conditions = conditions.getSet(numDims, numSymbols);
  bool innerHolds =
      innerBounds.isInBounds() || isInBounds(innerAtOuter, iteration, source);
  if (outerBounds.isInBounds())
    composed.fill = inner.fill;
  else if (innerHolds || outer.fill == inner.fill)
    composed.fill = outer.fill;
  else
    return failure();

  for (AffineExpr check : outerBounds.checks) {
    // A symbol beyond those of the access is an extent known at run time only.
    for (unsigned i = 0; i < outer.map.getNumResults(); ++i)
      if (check.isFunctionOfSymbol(numOuter + i))
        return failure();
    conditions.add(check, /*equality=*/false);
  }
  composed.conditions = conditions.getSet(numDims, numSymbols);
  return composed;
}

//===----------------------------------------------------------------------===//
// Inversion
//===----------------------------------------------------------------------===//

namespace {
/// `factor * dim + offset`, the offset free of dims; no dim where `dim` is -1.
struct ScaledDim {
  int64_t dim = -1;
  int64_t factor = 0;
  AffineExpr offset;
};
} // namespace

static std::optional<ScaledDim> matchScaledDim(AffineExpr expr,
                                               unsigned numDims) {
  ScaledDim scaled;
  for (unsigned dim = 0; dim < numDims; ++dim) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (scaled.dim != -1)
      return std::nullopt;
    scaled.dim = dim;
  }
  scaled.offset = expr;
  if (scaled.dim == -1)
    return scaled;

  SmallVector<AffineExpr> terms{expr};
  scaled.offset = getAffineConstantExpr(0, expr.getContext());
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    if (!term.isFunctionOfDim(scaled.dim)) {
      scaled.offset = scaled.offset + term;
    } else if (isa<AffineDimExpr>(term) && scaled.factor == 0) {
      scaled.factor = 1;
    } else if (term.getKind() == AffineExprKind::Add) {
      terms.push_back(binary.getLHS());
      terms.push_back(binary.getRHS());
    } else if (auto factor = term.getKind() == AffineExprKind::Mul &&
                                     isa<AffineDimExpr>(binary.getLHS())
                                 ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                                 : AffineConstantExpr();
               factor && scaled.factor == 0 && factor.getValue() != 0) {
      scaled.factor = factor.getValue();
    } else {
      return std::nullopt;
    }
  }
  return scaled;
}

FailureOr<IndexAccess> metaop::invertAccess(const IndexAccess &access,
                                            ArrayRef<int64_t> iteration,
                                            TypedAttr identity) {
  MLIRContext *context = access.map.getContext();
  unsigned numDims = access.map.getNumDims();
  unsigned numResults = access.map.getNumResults();
  unsigned numSymbols = access.map.getNumSymbols();

  Conditions conditions;
  SmallVector<AffineExpr> inverse(numDims);
  for (auto [position, expr] : llvm::enumerate(access.map.getResults())) {
    std::optional<ScaledDim> scaled = matchScaledDim(expr, numDims);
    if (!scaled)
      return failure();
    // position = factor * dim + offset, solved for dim.
    AffineExpr difference =
        getAffineDimExpr(position, context) - scaled->offset;
    if (scaled->dim == -1) {
      conditions.add(difference, /*equality=*/true);
      continue;
    }
    if (inverse[scaled->dim] ||
        scaled->factor == std::numeric_limits<int64_t>::min())
      return failure();
    int64_t divisor = std::abs(scaled->factor);
    if (scaled->factor < 0)
      difference = -difference;
    inverse[scaled->dim] = difference.floorDiv(divisor);
    if (divisor != 1)
      conditions.add(difference % divisor, /*equality=*/true);
  }
  // Along a dim that no index depends on, there may be one element only.
  for (auto [dim, expr] : llvm::enumerate(inverse)) {
    if (expr)
      continue;
    if (iteration[dim] != 1)
      return failure();
    expr = getAffineConstantExpr(0, context);
  }

  IndexAccess inverted;
  inverted.map = AffineMap::get(numResults, numSymbols, inverse, context);
  inverted.symbols = access.symbols;
  inverted.fill = identity;
  conditions.addAll(access.conditions,
                    [&](AffineExpr expr) { return expr.replaceDims(inverse); });
  inverted.conditions = conditions.getSet(numResults, numSymbols);
  return inverted;
}

FailureOr<SmallVector<int64_t>> metaop::splitSteps(IndexAccess &access,
                                                   ArrayRef<int64_t> iteration,
                                                   ArrayRef<int64_t> shape,
                                                   IndexAccess &spread) {
  MLIRContext *context = access.map.getContext();
  unsigned numDims = access.map.getNumDims();
  unsigned numSymbols = access.map.getNumSymbols();
  SmallVector<AffineExpr> zeros(numDims, getAffineConstantExpr(0, context));
  if (llvm::is_contained(iteration, 0))
    return failure();

  Conditions conditions;
  SmallVector<AffineExpr> indices(access.map.getResults()), places;
  SmallVector<int64_t> steppedShape(shape);
  bool isSplit = false;
  for (auto [position, index] : llvm::enumerate(indices)) {
    AffineExpr place = getAffineDimExpr(position, context);
    places.push_back(place);
    // Steps of an index that wraps, or depends on a symbol, are not known.
    auto origin = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(index.replaceDims(zeros), numDims, numSymbols));
    IndexInterval interval = getInterval(index, iteration);
    if (!origin || !interval.lower || !interval.upper)
      continue;
    AffineExpr moved =
        simplifyAffineExpr(index - origin.getValue(), numDims, numSymbols);
    int64_t step = moved.getLargestKnownDivisor();
    if (isa<AffineConstantExpr>(moved) || step < 2)
      continue;
    int64_t first = llvm::mod(origin.getValue(), step);
    if (first >= shape[position])
      continue;
    index =
        simplifyAffineExpr((index - first).floorDiv(step), numDims, numSymbols);
    steppedShape[position] = llvm::divideCeil(shape[position] - first, step);
    places.back() = (place - first).floorDiv(step);
    conditions.add((place - first) % step, /*equality=*/true);
    isSplit = true;
  }
  if (!isSplit)
    return failure();
  access.map = AffineMap::get(numDims, numSymbols, indices, context);
  spread = IndexAccess();
  spread.map = AffineMap::get(shape.size(), 0, places, context);
  spread.conditions = conditions.getSet(shape.size(), 0);
  return steppedShape;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> metaop::matchUnitDims(ArrayRef<int64_t> from,
                                                      ArrayRef<int64_t> to) {
  if (ShapedType::isDynamicShape(from) || ShapedType::isDynamicShape(to))
    return failure();
  SmallVector<int64_t> partners;
  size_t next = 0;
  for (int64_t extent : to) {
    if (extent == 1) {
      partners.push_back(-1);
      continue;
    }
    while (next < from.size() && from[next] == 1)
      ++next;
    if (next == from.size() || from[next] != extent)
      return failure();
    partners.push_back(next++);
  }
  for (; next < from.size(); ++next)
    if (from[next] != 1)
      return failure();
  return partners;
}

bool metaop::isIdentityOver(AffineMap map, ArrayRef<int64_t> iterationExtents) {
  if (map.getNumDims() != map.getNumResults())
    return false;
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    bool isZeroOfUnit =
        constant && constant.getValue() == 0 && iterationExtents[position] == 1;
    if (!isZeroOfUnit && !(dim && dim.getPosition() == position))
      return false;
  }
  return true;
}
