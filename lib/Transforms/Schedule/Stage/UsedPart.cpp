//===- UsedPart.cpp - Iterations for which checks hold --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of a window are of few loops: the place along one dimension, its phase
// and its tap. Checks that have a loop in common are looked at together, at
// each point of their loops; the parts that are left of different windows are
// multiplied. Loops of too many points, or of extents that are not known, count
// as used throughout.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/UsedPart.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// More points are not looked at one by one.
static constexpr int64_t kMaxPoints = 1 << 12;

namespace {
/// Checks that have loops in common.
struct Window {
  llvm::SmallBitVector loops;
  SmallVector<AffineExpr> checks;
};
} // namespace

static int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> point) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return point[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), point);
  int64_t rhs = evaluate(binary.getRHS(), point);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::Mod:
    return llvm::mod(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(lhs, rhs);
  default:
    return llvm::divideCeilSigned(lhs, rhs);
  }
}

static SmallVector<Window> findWindows(const Stage &stage,
                                       ArrayRef<AffineExpr> checks) {
  SmallVector<Window> windows;
  for (AffineExpr check : checks) {
    Window window{llvm::SmallBitVector(stage.getNumLoops()), {check}};
    for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop)
      if (check.isFunctionOfDim(loop))
        window.loops.set(loop);
    llvm::erase_if(windows, [&](const Window &other) {
      if (!other.loops.anyCommon(window.loops))
        return false;
      window.loops |= other.loops;
      window.checks.append(other.checks);
      return true;
    });
    windows.push_back(std::move(window));
  }
  return windows;
}

static double getUsedPart(const Stage &stage, const Window &window) {
  int64_t points = 1;
  for (unsigned loop : window.loops.set_bits()) {
    int64_t extent = stage.getStaticExtent(loop);
    if (extent <= 0 || stage.isVarying(loop) || extent > kMaxPoints / points)
      return 1;
    points *= extent;
  }
  SmallVector<int64_t> point(stage.getNumLoops());
  int64_t used = 0;
  for (int64_t number = 0; number < points; ++number) {
    int64_t rest = number;
    for (unsigned loop : window.loops.set_bits()) {
      int64_t extent = stage.getStaticExtent(loop);
      point[loop] = rest % extent;
      rest /= extent;
    }
    used += llvm::all_of(window.checks, [&](AffineExpr check) {
      return evaluate(check, point) >= 0;
    });
  }
  return static_cast<double>(used) / static_cast<double>(points);
}

double metaop::getUsedPart(const Stage &stage, ArrayRef<AffineExpr> checks) {
  if (!stage.symbols.empty())
    return 1;
  double part = 1;
  for (const Window &window : findWindows(stage, checks))
    part *= ::getUsedPart(stage, window);
  return part;
}
