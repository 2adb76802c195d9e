//===- FixedPointSums.cpp - Sums of floats in any order -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers add up to the same in any order. So a value is added as a multiple
// of a unit, a power of two, that is as small as the sum of all values allows:
// where N values are added, and those of an element of the result are below
// 2^e, each is rounded towards zero to a multiple of
//
//   2^-scale,  scale = 62 - log2(N) - e,
//
// and no sum of them leaves 63 bits. Of doubles, what is left of the value is
// added to a second word in units of 2^-(62 - log2(N)) of the first one's. A
// pass before finds the largest exponent of each element's values. Exponents
// lie side by side, in front of the words: most values only read them.
//
// Addends that are infinite or no numbers are added to the result as a float,
// in which the order does not matter either. At the end the words become floats
// where the result is still zero.
//
// Arithmetic is that of doubles, in which multiplying by a power of two is
// exact; a large one is two factors.
//
//===----------------------------------------------------------------------===//

#include "FixedPointSums.h"
#include "Addresses.h"
#include "AtomicResults.h"
#include "GpuFunction.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "ResultFill.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

/// Bits of a sum's word, without the sign and one for what is rounded.
static constexpr int64_t kWordBits = 62;

FixedPointSum FixedPointSum::create(const Stage &stage,
                                    const StageWrite &write) {
  FixedPointSum sum{&stage, &write, 1, 1, 0};
  uint64_t terms = 1;
  for (unsigned loop = 0; loop < stage.getNumLoops(); ++loop) {
    int64_t extent = stage.getStaticExtent(loop);
    assert(!ShapedType::isDynamic(extent) && "extents are known: G19");
    terms *= extent;
  }
  sum.termBits = llvm::Log2_64_Ceil(terms);
  for (auto [extent, stride] : llvm::zip_equal(write.shape, write.strides)) {
    auto count = cast<AffineConstantExpr>(extent);
    auto step = cast<AffineConstantExpr>(stride);
    sum.numElements += (count.getValue() - 1) * step.getValue();
  }
  sum.wordsPerElement = getElementTypeOrSelf(write.value).isF64() ? 2 : 1;
  return sum;
}

namespace {

/// Integers and doubles at the insertion point.
class Arithmetic {
public:
  explicit Arithmetic(GpuFunction &function)
      : function(function), b(function.getBuilder()), loc(function.getLoc()),
        i64(b.getI64Type()), f64(b.getF64Type()) {}

  Value number(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(b, loc, lhs, rhs);
  }
  Value subtract(Value lhs, Value rhs) {
    return arith::SubIOp::create(b, loc, lhs, rhs);
  }
  Value multiply(Value lhs, Value rhs) {
    return arith::MulFOp::create(b, loc, lhs, rhs);
  }
  /// The exponent field of a float, in 32 bits.
  Value emitExponent(Value value);
  /// The scale of an element, from the largest exponent of its values.
  Value emitScale(const FixedPointSum &sum, Value exponent);
  /// `value * 2^exponent`, in doubles.
  Value emitScaled(Value value, Value exponent);
  Value toWord(Value value) {
    return arith::FPToSIOp::create(b, loc, i64, value);
  }
  Value toDouble(Value word) {
    return arith::SIToFPOp::create(b, loc, f64, word);
  }
  Value widen(Value value) {
    return value.getType() == f64
               ? value
               : arith::ExtFOp::create(b, loc, f64, value).getResult();
  }
  /// The address of an element's largest exponent.
  Value emitExponentAddress(Value words, Value place) {
    return emitAddress(b, loc, words, place, b.getI32Type());
  }
  /// The scale of an element, of which all exponents have been seen.
  Value emitScaleOf(const FixedPointSum &sum, Value words, Value place) {
    return emitScale(sum,
                     LLVM::LoadOp::create(b, loc, b.getI32Type(),
                                          emitExponentAddress(words, place)));
  }
  /// The place of a word of an element.
  Value emitWordPlace(const FixedPointSum &sum, Value place, int64_t word);

private:
  Value emitPower(Value exponent);

  GpuFunction &function;
  OpBuilder &b;
  Location loc;
  Type i64, f64;
};

/// The format of a float of 32 or 64 bits.
struct Format {
  explicit Format(Type type) : isWide(type.isF64()) {}
  int64_t getWidth() const { return isWide ? 64 : 32; }
  int64_t getFractionBits() const { return isWide ? 52 : 23; }
  /// The exponent field of infinities and of what is not a number.
  int64_t getLastExponent() const { return isWide ? 0x7ff : 0xff; }
  /// A number whose exponent field is e is below 2^(e - this).
  int64_t getBias() const { return isWide ? 1022 : 126; }
  bool isWide;
};

} // namespace

Value Arithmetic::emitExponent(Value value) {
  Format format(value.getType());
  Type type = b.getIntegerType(format.getWidth());
  auto constant = [&](int64_t bits) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, bits));
  };
  Value bits = arith::BitcastOp::create(b, loc, type, value);
  bits =
      arith::ShRUIOp::create(b, loc, bits, constant(format.getFractionBits()));
  bits =
      arith::AndIOp::create(b, loc, bits, constant(format.getLastExponent()));
  Type narrow = b.getI32Type();
  return format.isWide
             ? arith::TruncIOp::create(b, loc, narrow, bits).getResult()
             : bits;
}

Value Arithmetic::emitScale(const FixedPointSum &sum, Value exponent) {
  Format format(getElementTypeOrSelf(sum.write->value));
  exponent = arith::ExtUIOp::create(b, loc, i64, exponent);
  // Numbers without an exponent are below the least one that has.
  exponent = arith::MaxSIOp::create(b, loc, exponent, number(1));
  return subtract(number(kWordBits - sum.termBits + format.getBias()),
                  exponent);
}

/// Two to a power that a double has.
Value Arithmetic::emitPower(Value exponent) {
  constexpr int64_t bias = 1023, fractionBits = 52;
  Value bits = arith::ShLIOp::create(b, loc, add(exponent, number(bias)),
                                     number(fractionBits));
  return arith::BitcastOp::create(b, loc, f64, bits);
}

Value Arithmetic::emitScaled(Value value, Value exponent) {
  Value half = arith::ShRSIOp::create(b, loc, exponent, number(1));
  Value scaled = multiply(value, emitPower(half));
  return multiply(scaled, emitPower(subtract(exponent, half)));
}

Value Arithmetic::emitWordPlace(const FixedPointSum &sum, Value place,
                                int64_t word) {
  Value first = arith::MulIOp::create(b, loc, place,
                                      function.emitIndex(sum.wordsPerElement));
  return arith::AddIOp::create(
      b, loc, first, function.emitIndex(sum.getNumExponentWords() + word));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const FixedPointSums::Bound *FixedPointSums::find(Value result) const {
  const auto *found = llvm::find_if(
      sums, [&](const Bound &bound) { return bound.result == result; });
  return found == sums.end() ? nullptr : found;
}

/// Emits the test that an exponent is that of a number.
static Value emitIsFinite(OpBuilder &b, Location loc, Value exponent,
                          Type type) {
  Value last = arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(Format(type).getLastExponent()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, exponent,
                               last);
}

void FixedPointSums::emit(GpuFunction &function, Value result, Value place,
                          Value value) const {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  const Bound &bound = *find(result);
  const FixedPointSum &sum = bound.sum;
  Value buffer = bound.result, words = bound.words;
  Arithmetic arithmetic(function);
  Type type = value.getType(), word = b.getI64Type();
  Value exponent = arithmetic.emitExponent(value);
  Value isFinite = emitIsFinite(b, loc, exponent, type);
  auto addWord = [&](Value at, Value number) {
    emitAtomic(b, loc, Combiner::Add, word, words, at, number);
  };
  if (isMeasuring()) {
    // Few values are larger than all before: the others only read.
    Value address = arithmetic.emitExponentAddress(words, place);
    Type narrow = exponent.getType();
    Value largest = emitAtomicLoad(b, loc, narrow, address);
    Value isLarger = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                           exponent, largest);
    emitIf(b, loc, emitAnd(b, loc, isFinite, isLarger), [&] {
      emitAtomicTo(b, loc, Combiner::Max, narrow, address, exponent);
    });
    return;
  }
  auto ifOp = scf::IfOp::create(b, loc, isFinite, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(ifOp.elseBlock());
  emitAtomic(b, loc, Combiner::Add, type, buffer, place, value);
  b.setInsertionPointToStart(ifOp.thenBlock());
  Value scale = arithmetic.emitScaleOf(sum, words, place);
  Value scaled = arithmetic.emitScaled(arithmetic.widen(value), scale);
  Value whole = arithmetic.toWord(scaled);
  addWord(arithmetic.emitWordPlace(sum, place, 0), whole);
  if (sum.wordsPerElement == 1)
    return;
  Value rest =
      arith::SubFOp::create(b, loc, scaled, arithmetic.toDouble(whole));
  rest =
      arithmetic.emitScaled(rest, arithmetic.number(kWordBits - sum.termBits));
  addWord(arithmetic.emitWordPlace(sum, place, 1), arithmetic.toWord(rest));
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

void metaop::emitZeroWords(GpuFunction &function, const FixedPointSum &sum,
                           Value words) {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  Value zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  function.emitGridLoop(function.emitIndex(sum.getNumWords()),
                        [&](Value number) {
                          memref::StoreOp::create(b, loc, zero, words, number);
                        });
}

void metaop::emitFloatsOfWords(GpuFunction &function, const FixedPointSum &sum,
                               Value result, Value words) {
  OpBuilder &b = function.getBuilder();
  Location loc = function.getLoc();
  Arithmetic arithmetic(function);
  Type type = cast<MemRefType>(result.getType()).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto loadWord = [&](Value place, int64_t word) {
    return arithmetic.toDouble(memref::LoadOp::create(
        b, loc, words, arithmetic.emitWordPlace(sum, place, word)));
  };
  emitForElements(function, *sum.write, /*symbols=*/{}, [&](Value place) {
    Value added = memref::LoadOp::create(b, loc, result, place);
    Value isFixed =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, added, zero);
    emitIf(b, loc, isFixed, [&] {
      Value value = loadWord(place, 0);
      if (sum.wordsPerElement == 2) {
        Value rest = arithmetic.emitScaled(
            loadWord(place, 1), arithmetic.number(sum.termBits - kWordBits));
        value = arith::AddFOp::create(b, loc, value, rest);
      }
      Value scale = arithmetic.emitScaleOf(sum, words, place);
      value = arithmetic.emitScaled(
          value, arithmetic.subtract(arithmetic.number(0), scale));
      if (value.getType() != type)
        value = arith::TruncFOp::create(b, loc, type, value);
      memref::StoreOp::create(b, loc, value, result, place);
    });
  });
}
