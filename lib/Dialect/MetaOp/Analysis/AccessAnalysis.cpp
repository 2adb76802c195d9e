//===- AccessAnalysis.cpp - Where an index access is in bounds ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access takes part where each index is in the accessed tensor and each
// condition holds. Both are written as affine expressions that must be >= 0.
// Interval arithmetic over the dims, whose ranges are the extents of the
// iteration space, proves most of them; nothing is known of symbols. Of the
// rest, those that follow from another one are dropped.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/AccessAnalysis.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

using Bound = std::optional<int64_t>;

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

static Bound add(Bound lhs, Bound rhs) {
  return lhs && rhs ? llvm::checkedAdd(*lhs, *rhs) : std::nullopt;
}

static Bound scale(Bound value, int64_t factor) {
  return value ? llvm::checkedMul(*value, factor) : std::nullopt;
}

static IndexInterval add(IndexInterval lhs, IndexInterval rhs) {
  return {add(lhs.lower, rhs.lower), add(lhs.upper, rhs.upper)};
}

static IndexInterval scale(IndexInterval value, int64_t factor) {
  if (factor == 0)
    return {0, 0};
  IndexInterval scaled{scale(value.lower, factor), scale(value.upper, factor)};
  if (factor < 0)
    std::swap(scaled.lower, scaled.upper);
  return scaled;
}

static Bound divide(Bound value, int64_t divisor, AffineExprKind kind) {
  if (!value)
    return std::nullopt;
  return kind == AffineExprKind::FloorDiv
             ? llvm::divideFloorSigned(*value, divisor)
             : llvm::divideCeilSigned(*value, divisor);
}

static IndexInterval modulo(IndexInterval value, int64_t divisor) {
  // Bounds are kept if no multiple of the divisor lies between them.
  if (value.lower && value.upper) {
    int64_t quotient = llvm::divideFloorSigned(*value.lower, divisor);
    if (quotient == llvm::divideFloorSigned(*value.upper, divisor))
      return {llvm::mod(*value.lower, divisor),
              llvm::mod(*value.upper, divisor)};
  }
  return {0, divisor - 1};
}

static Bound getConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

static IndexInterval getBinaryInterval(AffineBinaryOpExpr expr,
                                       ArrayRef<int64_t> extents) {
  IndexInterval lhs = getInterval(expr.getLHS(), extents);
  if (expr.getKind() == AffineExprKind::Add)
    return add(lhs, getInterval(expr.getRHS(), extents));

  Bound rhs = getConstant(expr.getRHS());
  if (!rhs)
    return {};
  if (expr.getKind() == AffineExprKind::Mul)
    return scale(lhs, *rhs);
  if (*rhs <= 0)
    return {};
  if (expr.getKind() == AffineExprKind::Mod)
    return modulo(lhs, *rhs);
  return {divide(lhs.lower, *rhs, expr.getKind()),
          divide(lhs.upper, *rhs, expr.getKind())};
}

IndexInterval metaop::getInterval(AffineExpr expr, ArrayRef<int64_t> extents) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return {getConstant(expr), getConstant(expr)};
  case AffineExprKind::DimId: {
    unsigned position = cast<AffineDimExpr>(expr).getPosition();
    if (position >= extents.size() || ShapedType::isDynamic(extents[position]))
      return {0, std::nullopt};
    return {0, extents[position] - 1};
  }
  case AffineExprKind::SymbolId:
    return {};
  default:
    return getBinaryInterval(cast<AffineBinaryOpExpr>(expr), extents);
  }
}

/// One step of `simplifyInRange`, for an expression with simplified operands.
static AffineExpr simplifyNode(AffineExpr expr, ArrayRef<int64_t> extents) {
  // A dim of extent 1 stays where it stands alone, as in an identity map.
  IndexInterval interval = getInterval(expr, extents);
  if (interval.isSingleValue())
    return getAffineConstantExpr(*interval.lower, expr.getContext());
  if (expr.getKind() != AffineExprKind::Mod)
    return expr;
  auto mod = cast<AffineBinaryOpExpr>(expr);
  Bound divisor = getConstant(mod.getRHS());
  IndexInterval value = getInterval(mod.getLHS(), extents);
  if (divisor && value.lower && value.upper && *value.lower >= 0 &&
      *value.upper < *divisor)
    return mod.getLHS();
  return expr;
}

static AffineExpr simplifyTree(AffineExpr expr, ArrayRef<int64_t> extents) {
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    AffineExpr lhs = simplifyTree(binary.getLHS(), extents);
    AffineExpr rhs = simplifyTree(binary.getRHS(), extents);
    if (lhs != binary.getLHS() || rhs != binary.getRHS())
      expr = getAffineBinaryOpExpr(binary.getKind(), lhs, rhs);
  }
  return simplifyNode(expr, extents);
}

static bool hasKind(AffineExpr expr, ArrayRef<AffineExprKind> kinds) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    found |= llvm::is_contained(kinds, part.getKind());
  });
  return found;
}

AffineExpr metaop::simplifyInRange(AffineExpr expr, unsigned numDims,
                                   unsigned numSymbols,
                                   ArrayRef<int64_t> extents) {
  if (!llvm::is_contained(extents, 0) && !isa<AffineDimExpr>(expr))
    expr = simplifyTree(expr, extents);
  // The flat form writes a remainder as a difference with a quotient, of which
  // less is known. It is better only where no quotient is left.
  AffineExpr flat = flattenExpr(expr, numDims, numSymbols);
  return hasKind(expr, {AffineExprKind::Mod}) &&
                 hasKind(flat, {AffineExprKind::Mod, AffineExprKind::FloorDiv,
                                AffineExprKind::CeilDiv})
             ? expr
             : flat;
}

/// Returns whether `expr` is at least `other`, where both are linear and no
/// number overflows.
static std::optional<bool> isLinearlyImplied(AffineExpr expr, AffineExpr other,
                                             unsigned numDims,
                                             ArrayRef<int64_t> extents) {
  LinearForm difference;
  difference.factors.resize(numDims);
  if (!difference.add(expr, 1) || !difference.add(other, -1))
    return std::nullopt;
  Bound lower = difference.constant;
  for (auto [dim, factor] : llvm::enumerate(difference.factors)) {
    if (factor >= 0)
      continue;
    if (dim >= extents.size() || ShapedType::isDynamic(extents[dim]))
      return false;
    auto least = llvm::checkedMul(factor, extents[dim] - 1);
    lower = least ? llvm::checkedAdd(*lower, *least) : std::nullopt;
    if (!lower)
      return std::nullopt;
  }
  return *lower >= 0;
}

bool metaop::isImpliedBy(AffineExpr expr, AffineExpr other, unsigned numDims,
                         unsigned numSymbols, ArrayRef<int64_t> extents) {
  if (llvm::is_contained(extents, 0))
    return true;
  if (auto implied = isLinearlyImplied(expr, other, numDims, extents))
    return *implied;
  AffineExpr difference =
      simplifyInRange(expr - other, numDims, numSymbols, extents);
  Bound lower = getInterval(difference, extents).lower;
  return lower && *lower >= 0;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

namespace {
/// Collects the checks of one access.
class BoundsBuilder {
public:
  BoundsBuilder(AffineMap map, ArrayRef<int64_t> extents, unsigned numSymbols)
      : numDims(map.getNumDims()), numSymbols(numSymbols), extents(extents) {}

  /// Adds `expr >= 0` unless it is proven.
  void require(AffineExpr expr) {
    // Most are proven as they stand, which is cheap to see.
    if (isNonNegative(getInterval(expr, extents)))
      return;
    expr = simplifyInRange(expr, numDims, numSymbols, extents);
    IndexInterval interval = getInterval(expr, extents);
    if (isNonNegative(interval))
      return;
    if (interval.upper && *interval.upper < 0)
      bounds.alwaysOutside = true;
    auto implies = [&](AffineExpr stronger, AffineExpr weaker) {
      return isImpliedBy(weaker, stronger, numDims, numSymbols, extents);
    };
    for (AffineExpr check : bounds.checks)
      if (implies(check, expr))
        return;
    llvm::erase_if(bounds.checks,
                   [&](AffineExpr check) { return implies(expr, check); });
    bounds.checks.push_back(expr);
  }

  AccessBounds take() { return std::move(bounds); }

private:
  static bool isNonNegative(IndexInterval interval) {
    return interval.lower && *interval.lower >= 0;
  }

  unsigned numDims;
  unsigned numSymbols;
  ArrayRef<int64_t> extents;
  AccessBounds bounds;
};
} // namespace

/// Returns whether `expr` is at most a dim that runs over the same extent.
static bool isBelowEqualExtent(AffineExpr expr, unsigned accessedDim,
                               AffineMap map, ArrayRef<int64_t> extents,
                               SameExtentFn sameExtent) {
  if (!sameExtent)
    return false;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim) {
    AffineExpr dimExpr = getAffineDimExpr(dim, expr.getContext());
    if (isImpliedBy(dimExpr, expr, map.getNumDims(), map.getNumSymbols(),
                    extents) &&
        sameExtent(dim, accessedDim))
      return true;
  }
  return false;
}

AccessBounds metaop::getAccessBounds(const IndexAccess &access,
                                     ArrayRef<int64_t> iterationExtents,
                                     ArrayRef<int64_t> accessedExtents,
                                     SameExtentFn sameExtent) {
  AffineMap map = access.map;
  // Without a point to iterate over, nothing can fail.
  if (llvm::is_contained(iterationExtents, 0))
    return {};

  unsigned numSymbols = map.getNumSymbols();
  MLIRContext *context = map.getContext();
  BoundsBuilder builder(map, iterationExtents,
                        numSymbols + accessedExtents.size());
  for (auto [k, expr] : llvm::enumerate(map.getResults())) {
    builder.require(expr);
    int64_t extent = accessedExtents[k];
    if (!ShapedType::isDynamic(extent))
      builder.require(getAffineConstantExpr(extent - 1, context) - expr);
    else if (!isBelowEqualExtent(expr, k, map, iterationExtents, sameExtent))
      builder.require(getAffineSymbolExpr(numSymbols + k, context) - 1 - expr);
  }
  if (IntegerSet where = access.conditions) {
    for (unsigned i = 0; i < where.getNumConstraints(); ++i) {
      builder.require(where.getConstraint(i));
      if (where.isEq(i))
        builder.require(-where.getConstraint(i));
    }
  }
  return builder.take();
}

AccessBounds metaop::getAccessBounds(ReindexOpInterface op) {
  auto result = cast<TypedValue<RankedTensorType>>(op->getResult(0));
  auto sameExtent = [&](unsigned iterationDim, unsigned accessedDim) {
    return haveSameExtent(result, iterationDim, op.getSource(), accessedDim);
  };
  return getAccessBounds(op.getIndexAccess(), result.getType().getShape(),
                         op.getSource().getType().getShape(), sameExtent);
}

AccessBounds metaop::getAccessBounds(ReindexReduceOpInterface op) {
  auto result = cast<TypedValue<RankedTensorType>>(op->getResult(0));
  auto sameExtent = [&](unsigned iterationDim, unsigned accessedDim) {
    return haveSameExtent(op.getSource(), iterationDim, result, accessedDim);
  };
  return getAccessBounds(op.getIndexAccess(),
                         op.getSource().getType().getShape(),
                         result.getType().getShape(), sameExtent);
}

bool metaop::isInBounds(const IndexAccess &access,
                        ArrayRef<int64_t> iterationExtents,
                        ArrayRef<int64_t> accessedExtents) {
  return getAccessBounds(access, iterationExtents, accessedExtents)
      .isInBounds();
}

bool metaop::isInBounds(ReindexOpInterface op) {
  return getAccessBounds(op).isInBounds();
}

bool metaop::isInBounds(ReindexReduceOpInterface op) {
  return getAccessBounds(op).isInBounds();
}

//===----------------------------------------------------------------------===//
// Dynamic extents
//===----------------------------------------------------------------------===//

/// The operand that an argument of a stage or of a kernel stands for.
static Value skipArguments(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (!isa_and_nonnull<FusedOp, KernelOp>(parent) ||
        argument.getArgNumber() >= parent->getNumOperands())
      return value;
    value = parent->getOperand(argument.getArgNumber());
  }
  return value;
}

/// The source's dimension that dimension `dim` of a reduction's result is; -1
/// for one that `keep_dims` kept.
static int64_t getReducedDim(const IndexAccess &access, unsigned dim) {
  AffineExpr expr = access.map.getResult(dim);
  auto dimExpr = dyn_cast<AffineDimExpr>(expr);
  return dimExpr ? static_cast<int64_t>(dimExpr.getPosition()) : -1;
}

/// One step back; the same origin where there is none.
static ExtentOrigin stepBack(ExtentOrigin at) {
  Operation *op = at.value.getDefiningOp();
  if (!op)
    return at;
  if (at.dim < 0) {
    auto dimOp = dyn_cast<tensor::DimOp>(op);
    std::optional<int64_t> index =
        dimOp ? getConstantIntValue(dimOp.getIndex()) : std::nullopt;
    auto type = dimOp ? dyn_cast<RankedTensorType>(dimOp.getSource().getType())
                      : RankedTensorType();
    if (!index || !type || *index < 0 || *index >= type.getRank())
      return at;
    return {dimOp.getSource(), *index};
  }

  auto fromOperand = [&](ValueRange extents) -> ExtentOrigin {
    auto type = cast<RankedTensorType>(at.value.getType());
    if (!type.isDynamicDim(at.dim))
      return at;
    return {extents[type.getDynamicDimIndex(at.dim)], -1};
  };
  return TypeSwitch<Operation *, ExtentOrigin>(op)
      .Case<ReindexOp, BroadcastOp, SliceOp, ReshapeOp, ReindexReduceOp, IotaOp,
            RandomOp, ScatterOp>(
          [&](auto op) { return fromOperand(op.getExtents()); })
      .Case([&](GatherOp op) {
        return ExtentOrigin{op.getIndices().front(), at.dim};
      })
      .Case([&](TransposeOp op) {
        return ExtentOrigin{op.getSource(), op.getPermutation()[at.dim]};
      })
      .Case<ReduceOp, NormOp>([&](auto op) {
        int64_t dim = getReducedDim(op.getIndexAccess(), at.dim);
        return dim < 0 ? at : ExtentOrigin{op.getSource(), dim};
      })
      .Case([&](PadOp op) {
        return op.getLow()[at.dim] == 0 && op.getHigh()[at.dim] == 0
                   ? ExtentOrigin{op.getSource(), at.dim}
                   : at;
      })
      .Case([&](BarrierOp op) {
        unsigned number = cast<OpResult>(at.value).getResultNumber();
        return ExtentOrigin{op.getOperand(number), at.dim};
      })
      .Case<StopGradOp, StopFuseOp, TransferOp>(
          [&](auto op) { return ExtentOrigin{op.getOperand(), at.dim}; })
      .Default([&](Operation *op) {
        return isa<ElementwiseOpInterface>(op)
                   ? ExtentOrigin{op->getOperand(0), at.dim}
                   : at;
      });
}

ExtentOrigin metaop::getExtentOrigin(Value tensor, unsigned dim) {
  // In a graph region values may depend on themselves, so there is a limit.
  constexpr int maxSteps = 1024;
  ExtentOrigin at{skipArguments(tensor), static_cast<int64_t>(dim)};
  for (int step = 0; step < maxSteps; ++step) {
    ExtentOrigin next = stepBack(at);
    next.value = skipArguments(next.value);
    if (next == at)
      break;
    at = next;
  }
  return at;
}

bool metaop::haveSameExtent(Value lhs, unsigned lhsDim, Value rhs,
                            unsigned rhsDim) {
  int64_t lhsExtent = cast<RankedTensorType>(lhs.getType()).getDimSize(lhsDim);
  int64_t rhsExtent = cast<RankedTensorType>(rhs.getType()).getDimSize(rhsDim);
  if (!ShapedType::isDynamic(lhsExtent) && !ShapedType::isDynamic(rhsExtent))
    return lhsExtent == rhsExtent;
  return getExtentOrigin(lhs, lhsDim) == getExtentOrigin(rhs, rhsDim);
}

//===----------------------------------------------------------------------===//
// Divisors
//===----------------------------------------------------------------------===//

static bool isFineDivision(AffineExpr expr) {
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
  case AffineExprKind::Mod: {
    Bound divisor = getConstant(cast<AffineBinaryOpExpr>(expr).getRHS());
    return divisor && *divisor > 0;
  }
  default:
    return true;
  }
}

bool metaop::hasOnlyPositiveConstantDivisors(AffineMap map) {
  bool fine = true;
  map.walkExprs([&](AffineExpr expr) { fine &= isFineDivision(expr); });
  return fine;
}

bool metaop::hasOnlyPositiveConstantDivisors(IntegerSet set) {
  bool fine = true;
  set.walkExprs([&](AffineExpr expr) { fine &= isFineDivision(expr); });
  return fine;
}
