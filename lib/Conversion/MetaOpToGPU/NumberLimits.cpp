//===- NumberLimits.cpp - Numbers out of tensors in narrow indices --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index of a gather may be any number of 64 bits, and checks decide whether
// it is a place. Where a check is linear in it,
//
//   factor * number + rest >= 0,   -most <= rest <= most,
//
// the number alone decides once |factor * number| > most, and by its sign. So
// all numbers beyond a limit that is large enough for each check are as good as
// the limit. They are no places either if the checks of a place look at both
// ends; then its offset is never asked for.
//
//===----------------------------------------------------------------------===//

#include "NumberLimits.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// An expression as `factor * symbol + rest`, where rest is between -most and
/// most.
struct Linear {
  int64_t factor, most;
};

class LimitFinder {
public:
  explicit LimitFinder(const Stage &stage)
      : stage(stage), limits(stage.symbols.size(), 0) {
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
      int64_t extent = stage.getStaticExtent(loop);
      bool isKnown = !ShapedType::isDynamic(extent);
      least.push_back(0);
      most.push_back(isKnown ? std::optional(extent - 1) : std::nullopt);
    }
    least.resize(least.size() + limits.size());
    most.resize(most.size() + limits.size());
  }

  bool addPlace(const StagePlace &place);
  /// Whether what loops alone decide of a place is far enough within 32 bits: a
  /// check is asked of iterations that reach no element, too.
  bool isNarrow(const StagePlace &place) const;
  /// Whether no check leaves 32 bits.
  bool fits() const;
  SmallVector<int64_t> getLimits() const { return limits; }

private:
  bool addPlace(const StagePlace &place, unsigned symbol);
  std::optional<Linear> split(AffineExpr expr, unsigned symbol) const;
  std::optional<int64_t> findMagnitude(AffineExpr expr) const;

  const Stage &stage;
  SmallVector<int64_t> limits;
  /// Bounds of the loops; there are none of symbols.
  SmallVector<std::optional<int64_t>> least, most;
  SmallVector<std::pair<unsigned, Linear>> checks;
};

} // namespace

/// Whether a symbol stands in no division.
static bool isLinearIn(AffineExpr expr, unsigned symbol) {
  bool isLinear = true;
  expr.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    if (kind == AffineExprKind::FloorDiv || kind == AffineExprKind::CeilDiv ||
        kind == AffineExprKind::Mod)
      isLinear &= !part.isFunctionOfSymbol(symbol);
  });
  return isLinear;
}

std::optional<Linear> LimitFinder::split(AffineExpr expr,
                                         unsigned symbol) const {
  if (!isLinearIn(expr, symbol))
    return std::nullopt;
  MLIRContext *context = expr.getContext();
  unsigned numLoops = stage.getNumLoops(), numSymbols = limits.size();
  AffineExpr number = getAffineSymbolExpr(symbol, context);
  AffineExpr rest = expr.replace(number, getAffineConstantExpr(0, context));
  AffineExpr next = expr.replace(number, getAffineConstantExpr(1, context));
  auto factor = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(next - rest, numLoops, numSymbols));
  rest = simplifyAffineExpr(rest, numLoops, numSymbols);
  auto bound = [&](bool isUpper) {
    return getBoundForAffineExpr(rest, numLoops, numSymbols, least, most,
                                 isUpper);
  };
  std::optional<int64_t> lower = bound(false), upper = bound(true);
  if (!factor || factor.getValue() == 0 || !lower || !upper ||
      *lower < -INT32_MAX || *upper > INT32_MAX)
    return std::nullopt;
  return Linear{factor.getValue(),
                std::max(std::abs(*lower), std::abs(*upper))};
}

bool LimitFinder::addPlace(const StagePlace &place, unsigned symbol) {
  bool hasLower = false, hasUpper = false;
  auto addCheck = [&](AffineExpr check) {
    if (!check.isFunctionOfSymbol(symbol))
      return true;
    std::optional<Linear> linear = split(check, symbol);
    if (!linear)
      return false;
    (linear->factor > 0 ? hasLower : hasUpper) = true;
    int64_t limit = linear->most / std::abs(linear->factor) + 1;
    limits[symbol] = std::max(limits[symbol], limit);
    checks.push_back({symbol, *linear});
    return true;
  };
  if (!llvm::all_of(place.rangeChecks, addCheck) ||
      !llvm::all_of(place.conditions, addCheck))
    return false;
  return !place.offset.isFunctionOfSymbol(symbol) ||
         (isLinearIn(place.offset, symbol) && hasLower && hasUpper);
}

/// The most that an expression of loops, or a part of it, differs from 0; none
/// if that is not known.
std::optional<int64_t> LimitFinder::findMagnitude(AffineExpr expr) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(std::max(constant.getValue(), -kMaxCount));
  if (auto loop = dyn_cast<AffineDimExpr>(expr))
    return most[loop.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = findMagnitude(binary.getLHS()),
                         rhs = findMagnitude(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return addCounts(*lhs, *rhs);
  case AffineExprKind::Mul:
    return multiplyCounts(*lhs, *rhs);
  default:
    // The divisor is positive.
    return std::max(*lhs, *rhs);
  }
}

bool LimitFinder::isNarrow(const StagePlace &place) const {
  auto fits = [&](AffineExpr expr) {
    for (unsigned symbol = 0; symbol < limits.size(); ++symbol)
      if (expr.isFunctionOfSymbol(symbol))
        return true;
    std::optional<int64_t> magnitude = findMagnitude(expr);
    return magnitude && *magnitude < kNarrowLimit;
  };
  return fits(place.offset) && llvm::all_of(place.rangeChecks, fits) &&
         llvm::all_of(place.conditions, fits);
}

bool LimitFinder::addPlace(const StagePlace &place) {
  auto isUsed = [&](unsigned symbol) {
    auto uses = [symbol](AffineExpr expr) {
      return expr.isFunctionOfSymbol(symbol);
    };
    return uses(place.offset) || llvm::any_of(place.rangeChecks, uses) ||
           llvm::any_of(place.conditions, uses);
  };
  for (auto [number, symbol] : llvm::enumerate(stage.symbols)) {
    bool isFromTensor = symbol.kind == StageSymbol::Kind::Scalar ||
                        symbol.kind == StageSymbol::Kind::Indirect;
    if (isUsed(number) && !(isFromTensor && addPlace(place, number)))
      return false;
  }
  return true;
}

bool LimitFinder::fits() const {
  return llvm::all_of(checks, [&](const auto &check) {
    auto [symbol, linear] = check;
    int64_t factor = std::abs(linear.factor);
    return factor <= INT32_MAX && limits[symbol] <= INT32_MAX &&
           factor * limits[symbol] + linear.most <= INT32_MAX;
  });
}

std::optional<SmallVector<int64_t>>
metaop::findNumberLimits(const Stage &stage) {
  LimitFinder finder(stage);
  auto add = [&](const auto &access) {
    return finder.isNarrow(access.place) && finder.addPlace(access.place);
  };
  if (!llvm::all_of(stage.reads, add) || !llvm::all_of(stage.writes, add) ||
      !finder.fits())
    return std::nullopt;
  return finder.getLimits();
}
