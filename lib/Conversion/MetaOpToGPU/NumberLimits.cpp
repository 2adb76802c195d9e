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
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
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
  explicit LimitFinder(const ThreadLevels &levels)
      : stage(levels.getStage()), limits(stage.symbols.size(), 0) {
    auto findLast = [](int64_t end) {
      bool isKnown = !ShapedType::isDynamic(end);
      return isKnown ? std::optional(end - 1) : std::nullopt;
    };
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
      least.push_back(0);
      most.push_back(findLast(stage.getStaticExtent(loop)));
      reached.push_back(findLast(levels.getReach(loop)));
    }
    least.resize(least.size() + limits.size());
    most.resize(most.size() + limits.size());
  }

  bool addPlace(const StagePlace &place);
  /// Returns whether all of a place, and what it is computed from, is within 32
  /// bits where numbers are within their limits.
  bool isNarrow(const StagePlace &place) const;
  SmallVector<int64_t> getLimits() const { return limits; }

private:
  bool addPlace(const StagePlace &place, unsigned symbol);
  std::optional<Linear> split(AffineExpr expr, unsigned symbol) const;
  std::optional<int64_t> findMagnitude(AffineExpr expr) const;

  const Stage &stage;
  SmallVector<int64_t> limits;
  /// Bounds of the loops; there are none of symbols.
  SmallVector<std::optional<int64_t>> least, most;
  /// The last iterations that threads get to: a check is asked of those behind
  /// the end, too.
  SmallVector<std::optional<int64_t>> reached;
};

} // namespace

/// Returns whether a symbol stands in no division.
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
    return true;
  };
  if (!llvm::all_of(place.rangeChecks, addCheck) ||
      !llvm::all_of(place.conditions, addCheck))
    return false;
  return !place.offset.isFunctionOfSymbol(symbol) ||
         (isLinearIn(place.offset, symbol) && hasLower && hasUpper);
}

/// The most that an expression, or a part of it, differs from 0; none if that
/// is not known.
std::optional<int64_t> LimitFinder::findMagnitude(AffineExpr expr) const {
  return metaop::findMagnitude(
      expr, [&](unsigned loop) { return reached[loop]; },
      [&](unsigned number) { return limits[number]; });
}

bool LimitFinder::isNarrow(const StagePlace &place) const {
  auto fits = [&](AffineExpr expr) {
    std::optional<int64_t> magnitude = findMagnitude(expr);
    return magnitude && *magnitude <= INT32_MAX;
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

std::optional<SmallVector<int64_t>>
metaop::findNumberLimits(const ThreadLevels &levels) {
  const Stage &stage = levels.getStage();
  LimitFinder finder(levels);
  auto add = [&](const auto &access) { return finder.addPlace(access.place); };
  auto isNarrow = [&](const auto &access) {
    return finder.isNarrow(access.place);
  };
  if (!llvm::all_of(stage.reads, add) || !llvm::all_of(stage.writes, add) ||
      !llvm::all_of(stage.reads, isNarrow) ||
      !llvm::all_of(stage.writes, isNarrow))
    return std::nullopt;
  return finder.getLimits();
}
