//===- Stage.cpp - A fused stage as (S, maps, body) -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model is built in these steps:
//   1. One loop per dimension of S. Each access becomes a row-major offset and
//      the checks that interval arithmetic cannot prove.
//   2. Loops of extent 1 are replaced by 0.
//   3. A single reduction whose map holds `i - j` (the gradient of a
//      convolution) is re-indexed by the result: the loop i becomes k = i - j.
//      What was a scatter into memory becomes a gather into an accumulator.
//      With a stride, `s * i + j`, the result's index k is split into k1 and
//      its remainder k0 by s: for one k0, the taps j are s apart, and i moves
//      with k1 in unit steps. Both pay only while the new loops do not run over
//      much more than the old ones.
//   4. Neighbouring loops over which every access walks contiguously become
//      one.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage.h"
#include "MetaOps/Dialect/MetaOp/AccessAnalysis.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::SmallBitVector;

std::optional<AffineExpr> metaop::getCoefficient(AffineExpr expr,
                                                 unsigned loop) {
  MLIRContext *ctx = expr.getContext();
  if (!expr.isFunctionOfDim(loop))
    return getAffineConstantExpr(0, ctx);
  if (expr.getKind() == AffineExprKind::DimId)
    return getAffineConstantExpr(1, ctx);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    auto lhs = getCoefficient(binary.getLHS(), loop);
    auto rhs = getCoefficient(binary.getRHS(), loop);
    if (!lhs || !rhs)
      return std::nullopt;
    return *lhs + *rhs;
  }
  if (expr.getKind() == AffineExprKind::Mul &&
      binary.getRHS().isSymbolicOrConstant()) {
    auto lhs = getCoefficient(binary.getLHS(), loop);
    if (!lhs)
      return std::nullopt;
    return *lhs * binary.getRHS();
  }
  return std::nullopt;
}

std::optional<int64_t> metaop::getConstantCoefficient(AffineExpr expr,
                                                      unsigned loop) {
  auto coefficient = getCoefficient(expr, loop);
  if (!coefficient)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(*coefficient))
    return constant.getValue();
  return std::nullopt;
}

int64_t Stage::getStaticExtent(unsigned loop) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(extents[loop]))
    return constant.getValue();
  return ShapedType::kDynamic;
}

bool Stage::isEmpty() const {
  return llvm::any_of(extents, [](AffineExpr extent) {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    return constant && constant.getValue() == 0;
  });
}

bool Stage::hasReduction() const {
  return llvm::any_of(writes, [](const StageWrite &w) { return w.kind; });
}

namespace mlir::metaop {

class StageBuilder {
public:
  explicit StageBuilder(FusedOp op) : ctx(op.getContext()) { stage.op = op; }

  FailureOr<Stage> build();

private:
  LogicalResult verifySizes();
  LogicalResult collectBody();

  /// The extents of a value of the body or of the region's arguments.
  SmallVector<AffineExpr> getShape(Value value);
  AffineExpr getSymbol(StageSymbol symbol);
  AffineExpr constant(int64_t value) {
    return getAffineConstantExpr(value, ctx);
  }

  void addRead(Value value, Value source, const IndexAccess &access);
  void addWrite(unsigned result, Value yielded);
  /// The place that `map` reaches in a tensor of the given shape.
  StagePlace makePlace(AffineMap map, ArrayRef<AffineExpr> shape);
  void remakePlaces();
  void addCheck(SmallVectorImpl<AffineExpr> &checks, AffineExpr expr);
  bool isProvablyNonNegative(AffineExpr expr);

  /// Rewrites every expression of the stage in new loops.
  void substitute(ArrayRef<AffineExpr> oldLoops, unsigned numNewLoops);
  void dropUnitLoops();
  void gatherScatter();
  bool tryGather(StageWrite &write, unsigned position, unsigned loop);
  bool tryStridedGather(StageWrite &write, unsigned position);
  void reverseLoop(unsigned loop);
  void collapseLoops();
  bool canCollapse(unsigned loop);
  bool areDigits(AffineExpr index, AffineExpr extent,
                 llvm::SmallBitVector &seen);
  bool isProjection(const StageWrite &write);
  void classifyWrites();
  void computeLoops();

  template <typename Fn> void forEachPlace(Fn fn) {
    for (StageRead &read : stage.reads)
      fn(read.place);
    for (StageWrite &write : stage.writes)
      fn(write.place);
  }

  MLIRContext *ctx;
  Stage stage;
};

} // namespace mlir::metaop

//===----------------------------------------------------------------------===//
// Shapes and symbols
//===----------------------------------------------------------------------===//

AffineExpr StageBuilder::getSymbol(StageSymbol symbol) {
  for (auto [i, other] : llvm::enumerate(stage.symbols))
    if (other.kind == symbol.kind && other.value == symbol.value &&
        other.dim == symbol.dim)
      return getAffineSymbolExpr(i, ctx);
  stage.symbols.push_back(symbol);
  return getAffineSymbolExpr(stage.symbols.size() - 1, ctx);
}

/// The operand whose shape an element-wise op has, or null.
static Value getShapeSource(Operation *op) {
  if (isa<ElementwiseOpInterface>(op) && op->getNumOperands())
    return op->getOperand(0);
  return nullptr;
}

SmallVector<AffineExpr> StageBuilder::getShape(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<AffineExpr> shape;
  if (type.hasStaticShape()) {
    for (int64_t extent : type.getShape())
      shape.push_back(constant(extent));
    return shape;
  }
  Operation *def = value.getDefiningOp();
  if (def)
    if (Value source = getShapeSource(def))
      return getShape(source);
  // A dynamic extent is an index operand of the op that makes the value, the
  // extent of a kept dimension of a reduction, or that of an argument.
  SmallVector<Value> indices;
  if (def)
    for (Value operand : def->getOperands())
      if (operand.getType().isIndex())
        indices.push_back(operand);
  auto reduce = dyn_cast_or_null<ReindexReduceOpInterface>(def);
  auto reindex = dyn_cast_or_null<ReindexOpInterface>(def);
  unsigned next = 0;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      shape.push_back(constant(extent));
    } else if (!def) {
      shape.push_back(getSymbol({StageSymbol::Kind::Extent, value,
                                 static_cast<unsigned>(dim)}));
    } else if (next < indices.size()) {
      shape.push_back(
          getSymbol({StageSymbol::Kind::Operand, indices[next++], 0}));
    } else if (reduce) {
      auto kept = cast<AffineDimExpr>(
          reduce.getIndexAccess().map.getResult(dim));
      shape.push_back(getShape(reduce.getSource())[kept.getPosition()]);
    } else if (auto pad = dyn_cast<PadOp>(def)) {
      shape.push_back(getShape(pad.getSource())[dim] + pad.getLow()[dim] +
                      pad.getHigh()[dim]);
    } else {
      // A transposition: of the reindexes with implied extents the other one.
      AffineMap map = reindex.getIndexAccess().map;
      unsigned source = *map.getResultPosition(getAffineDimExpr(dim, ctx));
      shape.push_back(getShape(reindex.getSource())[source]);
    }
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool StageBuilder::isProvablyNonNegative(AffineExpr expr) {
  unsigned numLoops = stage.extents.size(), numSymbols = stage.symbols.size();
  SmallVector<int64_t> extents;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    extents.push_back(stage.getStaticExtent(loop));
  // Nothing needs to be proven of no iterations; no interval describes them.
  if (llvm::is_contained(extents, 0))
    return true;
  IndexInterval interval = getInterval(expr, extents);
  if (interval.lower && *interval.lower >= 0)
    return true;
  // extent(i) - 1 - i >= 0 holds for symbolic extents as well.
  for (auto [loop, extent] : llvm::enumerate(stage.extents))
    if (simplifyAffineExpr(expr - (extent - 1 - getAffineDimExpr(loop, ctx)),
                           numLoops, numSymbols) == constant(0))
      return true;
  return false;
}

void StageBuilder::addCheck(SmallVectorImpl<AffineExpr> &checks,
                            AffineExpr expr) {
  expr = simplifyAffineExpr(expr, stage.extents.size(), stage.symbols.size());
  if (!isProvablyNonNegative(expr) && !llvm::is_contained(checks, expr))
    checks.push_back(expr);
}

StagePlace StageBuilder::makePlace(AffineMap map,
                                   ArrayRef<AffineExpr> shape) {
  StagePlace place;
  AffineExpr offset = constant(0);
  for (auto [index, extent] : llvm::zip_equal(map.getResults(), shape)) {
    offset = offset * extent + index;
    addCheck(place.rangeChecks, index);
    addCheck(place.rangeChecks, extent - 1 - index);
  }
  place.offset = simplifyAffineExpr(offset, stage.extents.size(),
                                    stage.symbols.size());
  return place;
}

/// Replaces the symbols of an access by the stage's own.
static AffineExpr withSymbols(AffineExpr expr, ArrayRef<AffineExpr> symbols) {
  return expr.replaceSymbols(symbols);
}

void StageBuilder::addRead(Value value, Value source,
                           const IndexAccess &access) {
  SmallVector<AffineExpr> symbols, results;
  for (Value symbol : access.symbols)
    symbols.push_back(getSymbol({StageSymbol::Kind::Scalar, symbol, 0}));
  for (AffineExpr result : access.map.getResults())
    results.push_back(withSymbols(result, symbols));
  StageRead read{value, source, {}, {}, access.fill};
  SmallVector<AffineExpr> shape = getShape(source);
  read.map = AffineMap::get(stage.extents.size(), stage.symbols.size(),
                            results, ctx);
  read.place = makePlace(read.map, shape);
  if (access.conditions != IntegerSet())
    for (unsigned i = 0; i < access.conditions.getNumConstraints(); ++i) {
      AffineExpr expr =
          withSymbols(access.conditions.getConstraint(i), symbols);
      addCheck(read.place.conditions, expr);
      if (access.conditions.isEq(i))
        addCheck(read.place.conditions, -expr);
    }
  stage.reads.push_back(std::move(read));
}

void StageBuilder::addWrite(unsigned result, Value yielded) {
  unsigned numLoops = stage.extents.size();
  StageWrite write;
  write.result = result;
  write.value = yielded;
  IndexAccess access;
  access.map = AffineMap::getMultiDimIdentityMap(numLoops, ctx);
  if (auto reduce = yielded.getDefiningOp<ReindexReduceOpInterface>()) {
    access = reduce.getIndexAccess();
    write.value = reduce.getSource();
    write.kind = reduce.getReduceKind();
  }
  SmallVector<AffineExpr> symbols, results;
  for (Value symbol : access.symbols)
    symbols.push_back(getSymbol({StageSymbol::Kind::Scalar, symbol, 0}));
  for (AffineExpr expr : access.map.getResults())
    results.push_back(withSymbols(expr, symbols));
  write.shape = getShape(yielded);
  write.map = AffineMap::get(numLoops, stage.symbols.size(), results, ctx);
  write.place = makePlace(write.map, write.shape);
  if (access.conditions != IntegerSet())
    for (unsigned i = 0; i < access.conditions.getNumConstraints(); ++i) {
      AffineExpr expr =
          withSymbols(access.conditions.getConstraint(i), symbols);
      addCheck(write.place.conditions, expr);
      if (access.conditions.isEq(i))
        addCheck(write.place.conditions, -expr);
    }
  stage.writes.push_back(std::move(write));
}

//===----------------------------------------------------------------------===//
// Changes of loops
//===----------------------------------------------------------------------===//

void StageBuilder::substitute(ArrayRef<AffineExpr> oldLoops,
                              unsigned numNewLoops) {
  unsigned numSymbols = stage.symbols.size();
  auto rewrite = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr.replaceDims(oldLoops), numNewLoops,
                              numSymbols);
  };
  auto rewriteMap = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(rewrite(result));
    return AffineMap::get(numNewLoops, numSymbols, results, ctx);
  };
  auto rewriteAll = [&](SmallVectorImpl<AffineExpr> &exprs) {
    for (AffineExpr &expr : exprs)
      expr = rewrite(expr);
  };
  forEachPlace([&](StagePlace &place) {
    place.offset = rewrite(place.offset);
    rewriteAll(place.rangeChecks);
    rewriteAll(place.conditions);
  });
  for (StageRead &read : stage.reads)
    read.map = rewriteMap(read.map);
  for (StageWrite &write : stage.writes)
    write.map = rewriteMap(write.map);
  rewriteAll(stage.domain);
  stage.toIterationSpace = rewriteMap(stage.toIterationSpace);
}

void StageBuilder::dropUnitLoops() {
  SmallVector<AffineExpr> oldLoops, extents;
  for (AffineExpr extent : stage.extents) {
    if (extent == constant(1)) {
      oldLoops.push_back(constant(0));
      continue;
    }
    oldLoops.push_back(getAffineDimExpr(extents.size(), ctx));
    extents.push_back(extent);
  }
  if (extents.size() == stage.extents.size())
    return;
  substitute(oldLoops, extents.size());
  stage.extents = extents;
}

/// Adds the loops that `expr` depends on.
static void addLoops(SmallBitVector &loops, AffineExpr expr) {
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      loops.set(dim.getPosition());
  });
}

/// Whether `index` numbers [0, extent) by different loops as digits, each value
/// once: `i`, or `2 * i + j` where j runs over 2. Marks those loops.
bool StageBuilder::areDigits(AffineExpr index, AffineExpr extent,
                             SmallBitVector &seen) {
  SmallVector<std::pair<int64_t, unsigned>> digits;
  AffineExpr rest = index;
  for (unsigned loop = 0; loop < stage.extents.size(); ++loop) {
    if (!index.isFunctionOfDim(loop))
      continue;
    auto weight = getConstantCoefficient(index, loop);
    if (!weight || seen.test(loop))
      return false;
    seen.set(loop);
    digits.push_back({*weight, loop});
    rest = rest - getAffineDimExpr(loop, ctx) * *weight;
  }
  if (simplifyAffineExpr(rest, stage.extents.size(), stage.symbols.size()) !=
      constant(0))
    return false;
  llvm::sort(digits);
  AffineExpr reached = constant(1);
  for (auto [weight, loop] : digits) {
    if (constant(weight) != reached)
      return false;
    reached = reached * stage.extents[loop];
  }
  return reached == extent;
}

/// Whether the loops that `write` names reach each element of the result
/// exactly once, the loops that it does not name being reduced.
bool StageBuilder::isProjection(const StageWrite &write) {
  SmallBitVector seen(stage.extents.size());
  return llvm::all_of(llvm::zip_equal(write.map.getResults(), write.shape),
                      [&](auto pair) {
                        auto [index, extent] = pair;
                        return areDigits(index, extent, seen);
                      });
}

void StageBuilder::classifyWrites() {
  for (StageWrite &write : stage.writes) {
    write.isProjection = isProjection(write);
    write.disjoint = SmallBitVector(stage.extents.size());
    for (auto [index, extent] :
         llvm::zip_equal(write.map.getResults(), write.shape)) {
      auto loop = dyn_cast<AffineDimExpr>(index);
      if (write.isProjection)
        addLoops(write.disjoint, index);
      else if (loop && stage.extents[loop.getPosition()] == extent)
        write.disjoint.set(loop.getPosition());
    }
  }
}

bool StageBuilder::tryGather(StageWrite &write, unsigned position,
                             unsigned loop) {
  AffineExpr index = write.map.getResult(position);
  auto coefficient = getConstantCoefficient(index, loop);
  int64_t oldExtent = stage.getStaticExtent(loop);
  auto type = cast<RankedTensorType>(stage.op.getResult(write.result).getType());
  int64_t newExtent = type.getDimSize(position);
  if (!coefficient || std::abs(*coefficient) != 1 ||
      ShapedType::isDynamic(oldExtent) || ShapedType::isDynamic(newExtent) ||
      newExtent > 2 * oldExtent)
    return false;
  for (auto [other, expr] : llvm::enumerate(write.map.getResults()))
    if (other != position && expr.isFunctionOfDim(loop))
      return false;

  // index = c * i + rest = k, so i = c * (k - rest) where c is 1 or -1.
  unsigned numLoops = stage.extents.size();
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < numLoops; ++i)
    loops.push_back(getAffineDimExpr(i, ctx));
  AffineExpr k = loops[loop];
  SmallVector<AffineExpr> withZero(loops);
  withZero[loop] = constant(0);
  AffineExpr rest = index.replaceDims(withZero);
  loops[loop] = simplifyAffineExpr((k - rest) * *coefficient, numLoops,
                                   stage.symbols.size());
  // The old bounds of i become conditions; k is in range by construction.
  AffineExpr old = loops[loop];
  substitute(loops, numLoops);
  stage.extents[loop] = constant(newExtent);
  addCheck(stage.domain, old);
  addCheck(stage.domain, constant(oldExtent - 1) - old);
  return true;
}

/// Counts a loop downwards, which changes the sign of its coefficients.
void StageBuilder::reverseLoop(unsigned loop) {
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < stage.extents.size(); ++i)
    loops.push_back(getAffineDimExpr(i, ctx));
  loops[loop] = stage.extents[loop] - 1 - loops[loop];
  substitute(loops, stage.extents.size());
}

bool StageBuilder::tryStridedGather(StageWrite &write, unsigned position) {
  AffineExpr index = write.map.getResult(position);
  std::optional<unsigned> strided, unit;
  for (unsigned loop = 0; loop < stage.extents.size(); ++loop) {
    if (!index.isFunctionOfDim(loop))
      continue;
    auto factor = getConstantCoefficient(index, loop);
    bool isElsewhere = llvm::any_of(
        llvm::enumerate(write.map.getResults()), [&](auto other) {
          return other.index() != position && other.value().isFunctionOfDim(loop);
        });
    if (!factor || isElsewhere ||
        ShapedType::isDynamic(stage.getStaticExtent(loop)))
      return false;
    std::optional<unsigned> &role = std::abs(*factor) == 1 ? unit : strided;
    if (role)
      return false;
    role = loop;
  }
  auto type = cast<RankedTensorType>(stage.op.getResult(write.result).getType());
  int64_t newExtent = type.getDimSize(position);
  if (!strided || ShapedType::isDynamic(newExtent))
    return false;
  for (auto loop : {strided, unit})
    if (loop && *getConstantCoefficient(index, *loop) < 0) {
      reverseLoop(*loop);
      index = write.map.getResult(position);
    }
  int64_t stride = *getConstantCoefficient(index, *strided);
  int64_t stridedExtent = stage.getStaticExtent(*strided);
  int64_t unitExtent = unit ? stage.getStaticExtent(*unit) : 1;
  int64_t steps = llvm::divideCeil(newExtent, stride);
  int64_t taps = llvm::divideCeil(unitExtent, stride);
  if (steps * stride * taps > 4 * stridedExtent * unitExtent)
    return false;

  // index = stride * i + j + rest = k with k = stride * k1 + k0 and
  // k0 - rest = stride * a + b, so i = k1 + a - t and j = b + stride * t.
  unsigned numLoops = stage.extents.size();
  SmallVector<AffineExpr> loops, zeros(numLoops, constant(0));
  for (unsigned i = 0; i < numLoops; ++i)
    loops.push_back(getAffineDimExpr(i, ctx));
  auto rest = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      index.replaceDims(zeros), numLoops, stage.symbols.size()));
  if (!rest)
    return false;
  AffineExpr k1 = loops[*strided], k0 = getAffineDimExpr(numLoops, ctx);
  AffineExpr t = unit ? loops[*unit] : constant(0);
  AffineExpr shifted = k0 - rest.getValue();
  AffineExpr i = k1 + shifted.floorDiv(stride) - t;
  AffineExpr j = shifted % stride + t * stride;
  loops[*strided] = i;
  if (unit)
    loops[*unit] = j;
  substitute(loops, numLoops + 1);
  stage.extents[*strided] = constant(steps);
  if (unit)
    stage.extents[*unit] = constant(taps);
  stage.extents.push_back(constant(stride));
  SmallVector<AffineExpr> results(write.map.getResults());
  results[position] = k1 * stride + k0;
  write.map = AffineMap::get(numLoops + 1, stage.symbols.size(), results, ctx);
  addCheck(stage.domain, i);
  addCheck(stage.domain, constant(stridedExtent - 1) - i);
  addCheck(stage.domain, constant(unitExtent - 1) - j);
  return true;
}

/// Computes the places again, from the indices in new loops: what was proven of
/// the old loops may not hold of the new ones, where they leave the domain.
void StageBuilder::remakePlaces() {
  for (StageRead &read : stage.reads) {
    StagePlace place = makePlace(read.map, getShape(read.source));
    place.conditions = read.place.conditions;
    read.place = std::move(place);
  }
  for (StageWrite &write : stage.writes) {
    StagePlace place = makePlace(write.map, write.shape);
    place.conditions = write.place.conditions;
    write.place = std::move(place);
  }
}

void StageBuilder::gatherScatter() {
  if (stage.writes.size() != 1 || !stage.writes[0].kind || stage.isEmpty())
    return;
  bool changed = false;
  for (unsigned position = 0;
       position < stage.writes[0].map.getNumResults(); ++position) {
    AffineExpr index = stage.writes[0].map.getResult(position);
    if (isa<AffineDimExpr, AffineConstantExpr>(index))
      continue;
    // The loop of the largest extent changes least.
    SmallVector<unsigned> candidates;
    for (unsigned loop = 0; loop < stage.extents.size(); ++loop)
      if (index.isFunctionOfDim(loop))
        candidates.push_back(loop);
    llvm::sort(candidates, [&](unsigned a, unsigned b) {
      int64_t extentA = stage.getStaticExtent(a);
      int64_t extentB = stage.getStaticExtent(b);
      return std::tie(extentB, a) < std::tie(extentA, b);
    });
    changed |= llvm::any_of(candidates,
                            [&](unsigned loop) {
                              return tryGather(stage.writes[0], position, loop);
                            }) ||
               tryStridedGather(stage.writes[0], position);
  }
  if (changed)
    remakePlaces();
}

bool StageBuilder::canCollapse(unsigned loop) {
  AffineExpr inner = stage.extents[loop + 1];
  bool contiguous = true;
  auto isFree = [&](AffineExpr expr) {
    return !expr.isFunctionOfDim(loop) && !expr.isFunctionOfDim(loop + 1);
  };
  forEachPlace([&](StagePlace &place) {
    auto outerStep = getCoefficient(place.offset, loop);
    auto innerStep = getCoefficient(place.offset, loop + 1);
    contiguous &= outerStep && innerStep &&
                  simplifyAffineExpr(*outerStep - *innerStep * inner, 0,
                                     stage.symbols.size()) == constant(0);
    contiguous &= llvm::all_of(place.rangeChecks, isFree) &&
                  llvm::all_of(place.conditions, isFree);
  });
  contiguous &= llvm::all_of(stage.domain, isFree);
  for (StageWrite &write : stage.writes)
    contiguous &= write.isProjection;
  return contiguous;
}

void StageBuilder::collapseLoops() {
  // A generator other than a constant computes from the indices themselves.
  for (Operation *op : stage.body)
    if (isa<GeneratorOpInterface>(op) && !isa<ConstantOp>(op))
      return;
  for (unsigned loop = stage.extents.size(); loop-- > 1;) {
    unsigned outer = loop - 1;
    if (!canCollapse(outer))
      continue;
    // The pair (i, j) becomes one loop k: i is 0 and j is k in every place.
    AffineExpr innerExtent = stage.extents[loop];
    SmallVector<AffineExpr> loops, space, extents;
    for (unsigned i = 0; i < stage.extents.size(); ++i) {
      unsigned now = i > outer ? i - 1 : i;
      loops.push_back(i == outer ? constant(0) : getAffineDimExpr(now, ctx));
      space.push_back(getAffineDimExpr(now, ctx));
      if (i != loop)
        extents.push_back(stage.extents[i]);
    }
    extents[outer] = stage.extents[outer] * innerExtent;
    AffineExpr k = getAffineDimExpr(outer, ctx);
    space[outer] = k.floorDiv(innerExtent);
    space[loop] = k % innerExtent;
    AffineMap toSpace = stage.toIterationSpace;
    SmallVector<AffineExpr> results;
    for (AffineExpr result : toSpace.getResults())
      results.push_back(result.replaceDims(space));
    // A pair is either kept or reduced as a whole.
    for (StageWrite &write : stage.writes) {
      SmallBitVector disjoint(extents.size());
      for (unsigned i : write.disjoint.set_bits())
        disjoint.set(i > outer ? i - 1 : i);
      write.disjoint = disjoint;
    }
    substitute(loops, extents.size());
    stage.toIterationSpace = AffineMap::get(
        extents.size(), stage.symbols.size(), results, ctx);
    stage.extents = extents;
  }
}

//===----------------------------------------------------------------------===//
// What depends on which loop
//===----------------------------------------------------------------------===//

void StageBuilder::computeLoops() {
  unsigned numLoops = stage.extents.size();
  for (StageRead &read : stage.reads) {
    SmallBitVector loops(numLoops);
    addLoops(loops, read.place.offset);
    for (AffineExpr check : read.place.rangeChecks)
      addLoops(loops, check);
    for (AffineExpr check : read.place.conditions)
      addLoops(loops, check);
    stage.loopsOf[read.value] = loops;
  }
  for (Operation *op : stage.body) {
    SmallBitVector loops(numLoops);
    if (isa<ElementwiseOpInterface>(op)) {
      for (Value operand : op->getOperands())
        loops |= stage.loopsOf.lookup(operand);
    } else if (!isa<ConstantOp>(op)) {
      loops.set();
    }
    stage.loopsOf[op->getResult(0)] = loops;
  }
  for (StageWrite &write : stage.writes) {
    write.loops = SmallBitVector(numLoops);
    addLoops(write.loops, write.place.offset);
    for (AffineExpr check : write.place.rangeChecks)
      addLoops(write.loops, check);
    // A kept loop of extent 0 is in no offset.
    if (write.isProjection)
      write.loops |= write.disjoint;
  }
}

/// A constant with several values: data that is read, not a number in code.
static bool isTable(Operation *op) {
  auto constantOp = dyn_cast<ConstantOp>(op);
  return constantOp && !isa<SplatElementsAttr>(constantOp.getValue());
}

/// Offsets and counts are computed in 64 bits, also where an extent of 0 would
/// make the product small.
LogicalResult StageBuilder::verifySizes() {
  auto verify = [&](Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t elements = 1;
    for (int64_t extent : tensor ? tensor.getShape() : ArrayRef<int64_t>())
      if (!ShapedType::isDynamic(extent) &&
          (llvm::MulOverflow(elements, std::max<int64_t>(extent, 1),
                             elements) ||
           elements > Stage::maxElements))
        return stage.op.emitOpError("has a value of type ")
               << type << ": more elements than can be numbered";
    return success();
  };
  for (Type type : stage.op->getOperandTypes())
    if (failed(verify(type)))
      return failure();
  for (Operation &inner : stage.op.getBody().front())
    for (Type type : inner.getResultTypes())
      if (failed(verify(type)))
        return failure();
  return success();
}

LogicalResult StageBuilder::collectBody() {
  FusedOp op = stage.op;
  IndexAccess identity;
  identity.map = stage.toIterationSpace;
  llvm::DenseSet<Value> seen;
  auto readArgument = [&](Value value) {
    if (isa<BlockArgument>(value) && seen.insert(value).second)
      addRead(value, value, identity);
  };
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (auto reindex = dyn_cast<ReindexOpInterface>(inner)) {
      addRead(inner.getResult(0), reindex.getSource(),
              reindex.getIndexAccess());
    } else if (auto reduce = dyn_cast<ReindexReduceOpInterface>(inner)) {
      readArgument(reduce.getSource());
    } else if (isa<ElementwiseOpInterface>(inner)) {
      for (Value operand : inner.getOperands())
        readArgument(operand);
      stage.body.push_back(&inner);
    } else if (isTable(&inner)) {
      if (!isa<DenseElementsAttr>(cast<ConstantOp>(inner).getValue()))
        return inner.emitOpError("expects its value as dense<...>");
      addRead(inner.getResult(0), inner.getResult(0), identity);
    } else if (isa<GeneratorOpInterface>(inner)) {
      stage.body.push_back(&inner);
    } else {
      return inner.emitOpError("is not a meta-operator");
    }
  }
  for (auto [i, yielded] : llvm::enumerate(op.getYield().getOperands()))
    addWrite(i, yielded);
  return success();
}

FailureOr<Stage> StageBuilder::build() {
  FusedOp op = stage.op;
  if (failed(verifySizes()))
    return failure();
  SmallVector<AffineExpr> space = getShape(op.getIterationValue());
  stage.spaceExtents = space;
  stage.extents = space;
  unsigned numLoops = space.size();
  stage.toIterationSpace = AffineMap::getMultiDimIdentityMap(numLoops, ctx);

  if (failed(collectBody()))
    return failure();

  dropUnitLoops();
  gatherScatter();
  dropUnitLoops();
  classifyWrites();
  collapseLoops();
  computeLoops();
  return std::move(stage);
}

FailureOr<Stage> Stage::build(FusedOp op) { return StageBuilder(op).build(); }
