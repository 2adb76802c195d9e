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
//   3. Neighbouring loops over which every access walks contiguously become
//      one.
// The loop of prefixes stays as it is.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "MetaOps/Dialect/MetaOp/Analysis/CodeSize.h"
#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "StageBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
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
  // As getCoefficient, without expressions for the parts.
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == loop;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (expr.getKind() == AffineExprKind::Add) {
    auto lhs = getConstantCoefficient(binary.getLHS(), loop);
    auto rhs = getConstantCoefficient(binary.getRHS(), loop);
    return lhs && rhs ? llvm::checkedAdd(*lhs, *rhs) : std::nullopt;
  }
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() == AffineExprKind::Mul && factor) {
    auto lhs = getConstantCoefficient(binary.getLHS(), loop);
    return lhs ? llvm::checkedMul(*lhs, factor.getValue()) : std::nullopt;
  }
  return expr.isFunctionOfDim(loop) ? std::nullopt : std::optional<int64_t>(0);
}

bool StageWrite::isFloatSum() const {
  return kind == Combiner::Add &&
         isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

int64_t Stage::getStaticExtent(unsigned loop) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(extents[loop]))
    return constant.getValue();
  return ShapedType::kDynamic;
}

bool Stage::isVarying(unsigned loop) const {
  return llvm::any_of(varying.set_bits(), [&](unsigned dim) {
    return toIterationSpace.getResult(dim).isFunctionOfDim(loop);
  });
}

int64_t Stage::getPlannedExtent(unsigned loop) const {
  int64_t extent = getStaticExtent(loop);
  for (unsigned dim : varying.set_bits())
    if (toIterationSpace.getResult(dim).isFunctionOfDim(loop)) {
      int64_t length = cast<AffineConstantExpr>(spaceExtents[dim]).getValue();
      extent = std::max<int64_t>(extent / length, 1) * kPlannedLength;
    }
  return extent;
}

/// The extents at which classes of those that vary begin, behind the first.
static constexpr int64_t kSecondClass = 8, kLastClass = 64;

int64_t Stage::getClassExtent(unsigned loop) const {
  int64_t extent = getStaticExtent(loop);
  if (!isVarying(loop))
    return extent;
  // No multiples of vectors or tiles, which other lengths are not, either.
  if (extent < kSecondClass)
    return 7;
  return extent < kLastClass ? 35 : 200;
}

bool Stage::isUnbounded(unsigned loop) const {
  return isVarying(loop) && getStaticExtent(loop) >= kLastClass;
}

int64_t Stage::scaleToPlan(int64_t count, const SmallBitVector &loops) const {
  for (unsigned loop : loops.set_bits())
    if (int64_t extent = getStaticExtent(loop); isVarying(loop) && extent > 0)
      count = multiplyCounts(count, getPlannedExtent(loop)) / extent;
  return count;
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

int64_t Stage::getCodeSize() const {
  auto getCode = [](const StagePlace &place) {
    return estimateAccessCode(place.rangeChecks.size() +
                              place.conditions.size());
  };
  int64_t code = 0;
  for (const StageRead &read : reads)
    code += getCode(read.place);
  for (Operation *inner : body)
    code += estimateCodeSize(inner);
  for (const StageWrite &write : writes)
    code += getCode(write.place);
  return code;
}

bool Stage::isIndirect(AffineExpr expr) const {
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (symbol.kind == StageSymbol::Kind::Indirect &&
        expr.isFunctionOfSymbol(i))
      return true;
  return false;
}

bool Stage::isIndirect(const StagePlace &place) const {
  auto test = [&](AffineExpr expr) { return isIndirect(expr); };
  return test(place.offset) || llvm::any_of(place.rangeChecks, test) ||
         llvm::any_of(place.conditions, test);
}

bool Stage::dependsOn(AffineExpr expr, unsigned loop) const {
  if (expr.isFunctionOfDim(loop))
    return true;
  for (auto [i, symbol] : llvm::enumerate(symbols))
    if (symbol.kind == StageSymbol::Kind::Indirect &&
        expr.isFunctionOfSymbol(i) && getLoopsOf(symbol.value).test(loop))
      return true;
  return false;
}

std::optional<int64_t> Stage::getStep(AffineExpr expr, unsigned loop) const {
  if (auto form = LinearForm::get(expr, getNumLoops());
      form && loop < getNumLoops())
    return form->factors[loop];
  auto step = getConstantCoefficient(expr, loop);
  AffineExpr dim = getAffineDimExpr(loop, getContext());
  // The rest without the linear part is to stay the same.
  if (step &&
      dependsOn(expr.replace(dim, getAffineConstantExpr(0, getContext())),
                loop))
    return std::nullopt;
  return step;
}

//===----------------------------------------------------------------------===//
// What the writes reach
//===----------------------------------------------------------------------===//

void metaop::addLoops(SmallBitVector &loops, AffineExpr expr) {
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      loops.set(dim.getPosition());
  });
}

/// Returns whether `index` numbers [0, extent) by different loops as digits,
/// each value once: `i`, or `2 * i + j` where j runs over 2. Marks those loops.
/// A range check leaves out values beyond the extent, as the last of an odd
/// number in pairs.
bool StageBuilder::areDigits(AffineExpr index, AffineExpr extent,
                             SmallBitVector &seen) {
  auto form = LinearForm::get(simplify(index), stage.extents.size());
  if (!form || form->constant != 0)
    return false;
  SmallVector<std::pair<int64_t, unsigned>> digits;
  for (auto [loop, weight] : llvm::enumerate(form->factors)) {
    if (weight == 0)
      continue;
    if (seen.test(loop))
      return false;
    seen.set(loop);
    digits.push_back({weight, loop});
  }
  llvm::sort(digits);
  AffineExpr reached = constant(1);
  for (auto [weight, loop] : digits) {
    if (constant(weight) != reached)
      return false;
    reached = reached * stage.extents[loop];
  }
  auto number = dyn_cast<AffineConstantExpr>(reached);
  auto bound = dyn_cast<AffineConstantExpr>(extent);
  return reached == extent ||
         (number && bound && number.getValue() >= bound.getValue());
}

/// Returns whether the loops that `write` names reach each element of the
/// result exactly once, the loops that it does not name being reduced.
bool StageBuilder::isProjection(const StageWrite &write) {
  SmallBitVector seen(stage.extents.size());
  return llvm::all_of(llvm::zip_equal(write.map.getResults(), write.shape),
                      [&](auto pair) {
                        auto [index, extent] = pair;
                        return areDigits(index, extent, seen);
                      });
}

/// Returns whether the loop moves along one dimension of the result only,
/// rather than along a diagonal.
static bool isInOneIndex(AffineMap map, unsigned loop) {
  return llvm::count_if(map.getResults(), [&](AffineExpr index) {
           return index.isFunctionOfDim(loop);
         }) == 1;
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
      else if (loop && stage.extents[loop.getPosition()] == extent &&
               isInOneIndex(write.map, loop.getPosition()))
        write.disjoint.set(loop.getPosition());
    }
  }
}

//===----------------------------------------------------------------------===//
// What depends on which loop
//===----------------------------------------------------------------------===//

void StageBuilder::computeLoops() {
  unsigned numLoops = stage.extents.size();
  // The loops of a place, and those of the numbers that it takes from tensors.
  auto addLoops = [&](SmallBitVector &loops, AffineExpr expr) {
    metaop::addLoops(loops, expr);
    for (auto [i, symbol] : llvm::enumerate(stage.symbols))
      if (symbol.kind == StageSymbol::Kind::Indirect &&
          expr.isFunctionOfSymbol(i))
        loops |= stage.loopsOf.lookup(symbol.value);
  };
  auto addRead = [&](const StageRead &read) {
    SmallBitVector loops(numLoops);
    addLoops(loops, read.place.offset);
    for (AffineExpr check : read.place.rangeChecks)
      addLoops(loops, check);
    for (AffineExpr check : read.place.conditions)
      addLoops(loops, check);
    stage.loopsOf[read.value] = loops;
  };
  for (const StageRead &read : stage.reads)
    if (!read.isIndirect)
      addRead(read);
  for (Operation *op : stage.body) {
    if (isa<IndirectOpInterface>(op)) {
      addRead(*stage.findRead(op->getResult(0)));
      continue;
    }
    SmallBitVector loops(numLoops);
    if (isa<ElementwiseOpInterface>(op)) {
      for (Value operand : op->getOperands())
        loops |= stage.loopsOf.lookup(operand);
    } else if (isa<PrefixOp>(op)) {
      for (Value operand : op->getOperands())
        loops |= stage.loopsOf.lookup(operand);
      loops.set(stage.carry->loop);
    } else if (auto iota = dyn_cast<IotaOp>(op)) {
      addLoops(loops, stage.toIterationSpace.getResult(iota.getDimension()));
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
    if (auto indirect = dyn_cast<IndirectOpInterface>(inner)) {
      llvm::for_each(indirect.getIndices(), readArgument);
      if (auto gather = dyn_cast<GatherOp>(inner)) {
        addRead(gather.getResult(), gather.getSource(),
                gather.getIndexAccess());
        stage.reads.back().isIndirect = true;
        stage.body.push_back(gather);
      } else {
        readArgument(indirect.getSource());
      }
    } else if (auto reindex = dyn_cast<ReindexOpInterface>(inner)) {
      addRead(inner.getResult(0), reindex.getSource(),
              reindex.getIndexAccess());
    } else if (auto reduce = dyn_cast<ReindexReduceOpInterface>(inner)) {
      readArgument(reduce.getSource());
    } else if (isa<ElementwiseOpInterface, PrefixOp>(inner)) {
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

/// The loop of the prefixes, which is neither dropped nor collapsed.
LogicalResult StageBuilder::findCarry() {
  for (Operation *op : stage.body) {
    auto prefix = dyn_cast<PrefixOp>(op);
    if (!prefix)
      continue;
    auto loop =
        cast<AffineDimExpr>(stage.toIterationSpace.getResult(prefix.getDim()));
    StageCarry carry{loop.getPosition(), prefix.getReverse()};
    if (stage.carry && (stage.carry->loop != carry.loop ||
                        stage.carry->isReverse != carry.isReverse))
      return prefix.emitOpError("goes along another dimension, or in another "
                                "direction, than a prefix before it in one "
                                "stage");
    stage.carry = carry;
  }
  if (stage.carry && stage.hasReduction())
    return stage.op.emitOpError("has prefixes and reductions in one stage");
  return success();
}

static bool isPositive(AffineExpr extent) {
  auto constant = dyn_cast<AffineConstantExpr>(extent);
  return constant && constant.getValue() > 0;
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
  stage.varying.resize(numLoops);
  if (auto dims = op->getAttrOfType<DenseI64ArrayAttr>(kVaryingAttr))
    for (int64_t dim : dims.asArrayRef())
      if (dim >= 0 && dim < int64_t(numLoops) && isPositive(space[dim]))
        stage.varying.set(dim);

  dropUnitLoops();
  if (failed(findCarry()))
    return failure();
  classifyWrites();
  if (failed(findBlocks()))
    return failure();
  collapseLoops();
  computeLoops();
  return std::move(stage);
}

FailureOr<Stage> Stage::build(FusedOp op) {
  StageModels models;
  return build(op, models);
}

FailureOr<Stage> Stage::build(FusedOp op, StageModels &models) {
  return StageBuilder(op, models).build();
}

FailureOr<const Stage *> StageModels::get(FusedOp op) {
  if (auto found = models.find(op); found != models.end())
    return found->second.get();
  FailureOr<Stage> stage = Stage::build(op, *this);
  if (failed(stage))
    return failure();
  return (models[op] = std::make_unique<Stage>(std::move(*stage))).get();
}
