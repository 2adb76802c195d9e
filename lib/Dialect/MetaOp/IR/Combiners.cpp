//===- Combiners.cpp - The table of combiners -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row for each combiner, in the order of the enumeration, and the functions
// that read it. A row says how elements are combined and differentiated; where
// MLIR has a name for the combination, it says that.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/CombinerDerivatives.h"
#include "MetaOps/Dialect/MetaOp/Derivatives/ExtremeElements.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/FloatFunctionOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::metaop;
using namespace mlir::metaop::detail;

template <typename OpT>
static Value createBinary(TensorEmitter &emit, Value x, Value y) {
  return emit.create<OpT>(x, y);
}

//===----------------------------------------------------------------------===//
// LogAddExp
//===----------------------------------------------------------------------===//
//
// log(e^x + e^y) is the larger one plus log1p of e to the smaller one's
// distance. Infinities of one sign have no difference.

static Value addLogs(ScalarEmitter &emit, Value x, Value y) {
  Value high = emit.create<arith::MaximumFOp>(x, y);
  Value low = emit.create<arith::MinimumFOp>(x, y);
  Value areEqual = emit.compare(arith::CmpFPredicate::OEQ, x, y);
  Value zero = emit.constant(x.getType(), 0.0);
  Value difference =
      emit.select(areEqual, zero, emit.create<arith::SubFOp>(low, high));
  Value more = emit.create<math::Log1pOp>(emit.create<math::ExpOp>(difference));
  return emit.create<arith::AddFOp>(high, more);
}

static Value addLogs(TensorEmitter &emit, Value x, Value y) {
  Value high = emit.create<MaxOp>(x, y), low = emit.create<MinOp>(x, y);
  Value areEqual = emit.compare(ComparePredicate::Eq, x, y);
  Value zero = emit.splat(x, 0.0);
  Value difference = emit.select(areEqual, zero, emit.sub(low, high));
  return emit.add(high, emit.create<Log1pOp>(emit.create<ExpOp>(difference)));
}

namespace {
/// The shares of elements in a sum of exponentials, e^(x - r). Where the result
/// is infinite, it is the extreme that the elements which attain it share.
class LogShares {
public:
  explicit LogShares(CombinedElements &elements)
      : elements(elements), emit(elements.emit), extremes(elements) {
    // An element that takes no part counts as one of an infinite result, which
    // it does not attain.
    Value ofResult = elements.read(elements.result, kInfinity);
    isInfinite = isInfinity(ofResult);
    Value zero = emit.splat(ofResult, 0.0);
    Value exponent =
        emit.select(isInfinite, zero, emit.sub(elements.source, ofResult));
    share = emit.create<ExpOp>(exponent);
  }

  Value emitVjp(Value cotangent) {
    Value shared = emit.mul(elements.read(cotangent), share);
    Value attaining = extremes.mask(elements.read(extremes.divide(cotangent)));
    return emit.select(isInfinite, attaining, shared);
  }

  Value emitJvp(Value tangent) {
    Value zero = emit.splat(tangent, 0.0);
    Value shared =
        elements.sum(emit.select(isInfinite, zero, emit.mul(tangent, share)));
    Value attaining = extremes.divide(elements.sum(extremes.mask(tangent)));
    return emit.select(isInfinity(elements.result), attaining, shared);
  }

private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Value isInfinity(Value value) {
    return emit.compare(ComparePredicate::Eq, emit.create<AbsOp>(value),
                        kInfinity);
  }

  CombinedElements &elements;
  TensorEmitter &emit;
  ExtremeElements extremes;
  Value isInfinite, share;
};
} // namespace

static Value vjpOfLogs(CombinedElements &elements, Value cotangent) {
  return LogShares(elements).emitVjp(cotangent);
}

static Value jvpOfLogs(CombinedElements &elements, Value tangent) {
  return LogShares(elements).emitJvp(tangent);
}

/// Returns the shares of h[k-1] and x[k] in the sum. Where that is -inf, both
/// are: the element has it all.
static PrefixSlopes getSlopesOfLogs(PrefixSteps &steps) {
  TensorEmitter &emit = steps.emit;
  Value last = steps.getBefore(), now = steps.getAfter();
  Value isNothing = emit.compare(ComparePredicate::Eq, now,
                                 -std::numeric_limits<double>::infinity());
  Value safe = emit.select(isNothing, emit.splat(now, 0.0), now);
  Value one = emit.splat(now, 1.0);
  auto share = [&](Value part, Value ofNothing) {
    return emit.select(isNothing, ofNothing,
                       emit.create<ExpOp>(emit.sub(part, safe)));
  };
  Value ofX = share(steps.op.getSource(), one);
  return {
      share(last, emit.splat(now, 0.0)),
      [=](TensorEmitter &emit, Value value) { return emit.mul(value, ofX); }};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Kind = arith::AtomicRMWKind;

static constexpr ArithCombiner kAdd{Kind::addf, Kind::addi, Kind::addi};
static constexpr ArithCombiner kMul{Kind::mulf, Kind::muli, Kind::muli};
static constexpr ArithCombiner kMax{Kind::maximumf, Kind::maxs, Kind::maxu};
static constexpr ArithCombiner kMin{Kind::minimumf, Kind::mins, Kind::minu};

/// Returns a row of bits, which round nothing and have no derivatives.
static constexpr CombinerInfo
makeBitwise(Combiner combiner, CombinerIdentity identity, Kind kind,
            Value (*emitTensors)(TensorEmitter &, Value, Value)) {
  CombinerInfo row = {};
  row.combiner = combiner;
  row.isReduction = true;
  row.types = CombinedTypes::Bits;
  row.identity = identity;
  row.arith = ArithCombiner{kind, kind, kind};
  row.emitTensors = emitTensors;
  return row;
}

static const CombinerInfo kCombiners[] = {
    {Combiner::Add, /*isReduction=*/true, CombinedTypes::Numbers,
     CombinerIdentity::Zero, kAdd, /*emitScalar=*/nullptr, createBinary<AddOp>,
     /*rounds=*/true, /*accumulatesError=*/true, /*extraCode=*/0, vjpOfSum,
     jvpOfSum, getSlopesOfSum, /*hasBlocks=*/true},
    {Combiner::Mul, /*isReduction=*/true, CombinedTypes::Numbers,
     CombinerIdentity::One, kMul, /*emitScalar=*/nullptr, createBinary<MulOp>,
     /*rounds=*/true, /*accumulatesError=*/false, /*extraCode=*/0, vjpOfProduct,
     jvpOfProduct, getSlopesOfProduct, /*hasBlocks=*/false},
    {Combiner::Max, /*isReduction=*/true, CombinedTypes::Numbers,
     CombinerIdentity::Lowest, kMax, /*emitScalar=*/nullptr,
     createBinary<MaxOp>, /*rounds=*/false, /*accumulatesError=*/false,
     /*extraCode=*/0, vjpOfExtreme, jvpOfExtreme, getSlopesOfExtreme,
     /*hasBlocks=*/true},
    {Combiner::Min, /*isReduction=*/true, CombinedTypes::Numbers,
     CombinerIdentity::Highest, kMin, /*emitScalar=*/nullptr,
     createBinary<MinOp>, /*rounds=*/false, /*accumulatesError=*/false,
     /*extraCode=*/0, vjpOfExtreme, jvpOfExtreme, getSlopesOfExtreme,
     /*hasBlocks=*/true},
    makeBitwise(Combiner::And, CombinerIdentity::AllOnes, Kind::andi,
                createBinary<AndOp>),
    makeBitwise(Combiner::Or, CombinerIdentity::Zero, Kind::ori,
                createBinary<OrOp>),
    makeBitwise(Combiner::Xor, CombinerIdentity::Zero, Kind::xori,
                createBinary<XorOp>),
    {Combiner::LogAddExp, /*isReduction=*/true, CombinedTypes::Floats,
     CombinerIdentity::Lowest, std::nullopt, addLogs, addLogs, /*rounds=*/true,
     /*accumulatesError=*/false, /*extraCode=*/43, vjpOfLogs, jvpOfLogs,
     getSlopesOfLogs, /*hasBlocks=*/true},
    // A step has a factor, and is emitted with it.
    {Combiner::Linear, /*isReduction=*/false, CombinedTypes::Numbers,
     CombinerIdentity::Zero, std::nullopt, /*emitScalar=*/nullptr,
     /*emitTensors=*/nullptr, /*rounds=*/true, /*accumulatesError=*/false,
     /*extraCode=*/0, /*vjp=*/nullptr, /*jvp=*/nullptr, getSlopesOfLinear,
     /*hasBlocks=*/false},
};

const CombinerInfo &metaop::getCombinerInfo(Combiner combiner) {
  static_assert(std::size(kCombiners) == size_t(Combiner::None));
  assert(combiner != Combiner::None && "combines nothing");
  const CombinerInfo &info = kCombiners[static_cast<unsigned>(combiner)];
  assert(info.combiner == combiner && "rows are in the enumeration's order");
  return info;
}

//===----------------------------------------------------------------------===//
// Operations and elements
//===----------------------------------------------------------------------===//

bool metaop::isUsedBy(CombinerUse use, Combiner combiner) {
  if (combiner == Combiner::None)
    return use == CombinerUse::Insertion;
  const CombinerInfo &info = getCombinerInfo(combiner);
  switch (use) {
  case CombinerUse::Reduction:
    return info.isReduction;
  case CombinerUse::Insertion:
    // One element-wise operation, whose derivatives are the insert's.
    return info.isReduction && info.arith;
  case CombinerUse::Prefix:
    return info.getSlopes != nullptr;
  }
  llvm_unreachable("all uses are handled");
}

std::string metaop::listCombiners(CombinerUse use) {
  SmallVector<StringRef> names;
  for (uint64_t k = 0; k <= getMaxEnumValForCombiner(); ++k)
    if (auto combiner = symbolizeCombiner(static_cast<uint32_t>(k));
        combiner && isUsedBy(use, *combiner))
      names.push_back(stringifyCombiner(*combiner));
  StringRef last = names.pop_back_val();
  return (llvm::join(names, ", ") + " or " + last).str();
}

bool metaop::takesElements(Combiner combiner, Type elementType) {
  switch (getCombinerInfo(combiner).types) {
  case CombinedTypes::Numbers:
    return !elementType.isInteger(1);
  case CombinedTypes::Bits:
    return isa<IntegerType>(elementType);
  case CombinedTypes::Floats:
    return isa<FloatType>(elementType);
  }
  llvm_unreachable("all types are handled");
}

StringRef metaop::describeElements(Combiner combiner) {
  switch (getCombinerInfo(combiner).types) {
  case CombinedTypes::Numbers:
    return "numbers";
  case CombinedTypes::Bits:
    return "integers or booleans";
  case CombinedTypes::Floats:
    return "floats";
  }
  llvm_unreachable("all types are handled");
}

LogicalResult metaop::verifyCombiner(Operation *op, CombinerUse use,
                                     Combiner combiner, Type elementType) {
  if (!isUsedBy(use, combiner))
    return op->emitOpError()
           << "does not combine by `" << stringifyCombiner(combiner)
           << "`, expected " << listCombiners(use);
  if (combiner == Combiner::None || takesElements(combiner, elementType))
    return success();
  return op->emitOpError() << "combines by `" << stringifyCombiner(combiner)
                           << "`, which expects " << describeElements(combiner)
                           << ", given " << elementType;
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

/// Returns the lowest value of a type, or the highest.
static TypedAttr getLimit(Type type, bool isLowest) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(
        type, APFloat::getInf(floatType.getFloatSemantics(), isLowest));
  unsigned width = type.getIntOrFloatBitWidth();
  if (isUnsigned(type))
    return IntegerAttr::get(type, isLowest ? APInt::getMinValue(width)
                                           : APInt::getMaxValue(width));
  return IntegerAttr::get(type, isLowest ? APInt::getSignedMinValue(width)
                                         : APInt::getSignedMaxValue(width));
}

TypedAttr metaop::getIdentity(Combiner combiner, Type elementType) {
  Builder builder(elementType.getContext());
  switch (getCombinerInfo(combiner).identity) {
  case CombinerIdentity::Zero:
    return builder.getZeroAttr(elementType);
  case CombinerIdentity::One:
    return builder.getOneAttr(elementType);
  case CombinerIdentity::Lowest:
    return getLimit(elementType, /*isLowest=*/true);
  case CombinerIdentity::Highest:
    return getLimit(elementType, /*isLowest=*/false);
  case CombinerIdentity::AllOnes:
    return IntegerAttr::get(
        elementType, APInt::getAllOnes(elementType.getIntOrFloatBitWidth()));
  }
  llvm_unreachable("all identities are handled");
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

std::optional<Kind> metaop::getArithKind(Combiner combiner, Type elementType) {
  const std::optional<ArithCombiner> &arith = getCombinerInfo(combiner).arith;
  if (!arith)
    return std::nullopt;
  return isa<FloatType>(elementType) ? arith->ofFloats
         : isUnsigned(elementType)   ? arith->ofUnsigned
                                     : arith->ofSigned;
}

Value metaop::emitCombined(OpBuilder &b, Location loc, Combiner combiner,
                           Type elementType, Value lhs, Value rhs) {
  if (auto kind = getArithKind(combiner, elementType))
    return arith::getReductionOp(*kind, b, loc, lhs, rhs);
  ScalarEmitter emit(b, loc);
  return getCombinerInfo(combiner).emitScalar(emit, lhs, rhs);
}
