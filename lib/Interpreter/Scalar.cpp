//===- Scalar.cpp - The arithmetic of single elements ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Scalar.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

using namespace mlir;
using namespace mlir::metaop;
using llvm::APFloat;
using llvm::APInt;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

std::optional<ElementKind> metaop::getElementKind(Type type) {
  if (!type)
    return std::nullopt;
  if (type.isIndex())
    return ElementKind::Index;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(ElementKind::Bool);
  case 8:
    return isUnsigned ? ElementKind::UI8 : ElementKind::I8;
  case 16:
    return isUnsigned ? ElementKind::UI16 : ElementKind::I16;
  case 32:
    return isUnsigned ? ElementKind::UI32 : ElementKind::I32;
  case 64:
    return isUnsigned ? ElementKind::UI64 : ElementKind::I64;
  default:
    return std::nullopt;
  }
}

unsigned metaop::getWidth(ElementKind kind) {
  switch (kind) {
  case ElementKind::Bool:
    return 1;
  case ElementKind::I8:
  case ElementKind::UI8:
    return 8;
  case ElementKind::I16:
  case ElementKind::UI16:
  case ElementKind::F16:
  case ElementKind::BF16:
    return 16;
  case ElementKind::I32:
  case ElementKind::UI32:
  case ElementKind::F32:
    return 32;
  case ElementKind::I64:
  case ElementKind::UI64:
  case ElementKind::Index:
  case ElementKind::F64:
    return 64;
  }
  llvm_unreachable("all kinds are handled");
}

Scalar::Kind metaop::getScalarKind(ElementKind kind) {
  switch (kind) {
  case ElementKind::Bool:
  case ElementKind::UI8:
  case ElementKind::UI16:
  case ElementKind::UI32:
  case ElementKind::UI64:
    return Scalar::Kind::Unsigned;
  case ElementKind::I8:
  case ElementKind::I16:
  case ElementKind::I32:
  case ElementKind::I64:
  case ElementKind::Index:
    return Scalar::Kind::Signed;
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::F32:
  case ElementKind::F64:
    return Scalar::Kind::Float;
  }
  llvm_unreachable("all kinds are handled");
}

static const llvm::fltSemantics &getSemantics(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return APFloat::IEEEhalf();
  case ElementKind::BF16:
    return APFloat::BFloat();
  case ElementKind::F32:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Scalar Scalar::ofInteger(ElementKind kind, int64_t value) {
  switch (getScalarKind(kind)) {
  case Kind::Float:
    return ofFloat(static_cast<double>(value));
  case Kind::Signed:
    return ofSigned(value);
  case Kind::Unsigned:
    return ofUnsigned(static_cast<uint64_t>(value));
  }
  llvm_unreachable("all kinds are handled");
}

/// Returns the number of stored digits of a float.
static unsigned getFractionWidth(const llvm::fltSemantics &semantics) {
  return APFloat::semanticsPrecision(semantics) - 1;
}

/// A NaN of the same sign and digits. A conversion would make it quiet; where
/// elements are only moved, or their bits read, nothing does that.
static double decodeNaN(const APFloat &value) {
  unsigned width = getFractionWidth(value.getSemantics());
  uint64_t bits = value.bitcastToAPInt().getZExtValue();
  uint64_t fraction = bits & llvm::maskTrailingOnes<uint64_t>(width);
  APInt wide = APFloat::getInf(APFloat::IEEEdouble(), value.isNegative())
                   .bitcastToAPInt();
  wide |= fraction << (getFractionWidth(APFloat::IEEEdouble()) - width);
  return wide.bitsToDouble();
}

/// The other way. Digits are lost at the end; if no other is left, a quiet NaN
/// remains.
static uint64_t encodeNaN(const llvm::fltSemantics &semantics, double value) {
  unsigned width = getFractionWidth(semantics);
  unsigned wideWidth = getFractionWidth(APFloat::IEEEdouble());
  uint64_t fraction = llvm::bit_cast<uint64_t>(value) &
                      llvm::maskTrailingOnes<uint64_t>(wideWidth);
  fraction >>= wideWidth - width;
  if (fraction == 0)
    fraction = uint64_t(1) << (width - 1);
  APInt bits = APFloat::getInf(semantics, std::signbit(value)).bitcastToAPInt();
  return bits.getZExtValue() | fraction;
}

static double toDouble(APFloat value) {
  if (value.isNaN())
    return decodeNaN(value);
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

Scalar Scalar::ofFloat(const APFloat &value) {
  return ofFloat(toDouble(value));
}

Scalar Scalar::ofAttribute(TypedAttr attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return ofFloat(number.getValue());
  auto integer = cast<IntegerAttr>(attribute);
  auto type = dyn_cast<IntegerType>(integer.getType());
  if (type && (type.isUnsigned() || type.getWidth() == 1))
    return ofUnsigned(integer.getValue().getZExtValue());
  return ofSigned(integer.getValue().getSExtValue());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

template <typename T> static T load(const char *memory) {
  T value;
  std::memcpy(&value, memory, sizeof(T));
  return value;
}

template <typename T> static void store(char *memory, T value) {
  std::memcpy(memory, &value, sizeof(T));
}

/// f16 and bf16 from and to their bits.
static double decodeFloat16(ElementKind kind, uint16_t bits) {
  return toDouble(APFloat(getSemantics(kind), APInt(16, bits)));
}

static uint16_t encodeFloat16(ElementKind kind, double value) {
  if (std::isnan(value))
    return static_cast<uint16_t>(encodeNaN(getSemantics(kind), value));
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(getSemantics(kind), APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
}

/// f32, which the processor converts unless it is a NaN.
static double loadFloat32(const char *memory) {
  auto value = load<float>(memory);
  return std::isnan(value) ? decodeNaN(APFloat(value)) : value;
}

static void storeFloat32(char *memory, double value) {
  if (std::isnan(value))
    store<uint32_t>(memory, encodeNaN(APFloat::IEEEsingle(), value));
  else
    store<float>(memory, static_cast<float>(value));
}

Scalar metaop::loadElement(ElementKind kind, const char *memory) {
  switch (kind) {
  case ElementKind::Bool:
    return Scalar::ofBool(*memory != 0);
  case ElementKind::I8:
    return Scalar::ofSigned(load<int8_t>(memory));
  case ElementKind::I16:
    return Scalar::ofSigned(load<int16_t>(memory));
  case ElementKind::I32:
    return Scalar::ofSigned(load<int32_t>(memory));
  case ElementKind::I64:
  case ElementKind::Index:
    return Scalar::ofSigned(load<int64_t>(memory));
  case ElementKind::UI8:
    return Scalar::ofUnsigned(load<uint8_t>(memory));
  case ElementKind::UI16:
    return Scalar::ofUnsigned(load<uint16_t>(memory));
  case ElementKind::UI32:
    return Scalar::ofUnsigned(load<uint32_t>(memory));
  case ElementKind::UI64:
    return Scalar::ofUnsigned(load<uint64_t>(memory));
  case ElementKind::F16:
  case ElementKind::BF16:
    return Scalar::ofFloat(decodeFloat16(kind, load<uint16_t>(memory)));
  case ElementKind::F32:
    return Scalar::ofFloat(loadFloat32(memory));
  case ElementKind::F64:
    return Scalar::ofFloat(load<double>(memory));
  }
  llvm_unreachable("all kinds are handled");
}

void metaop::storeElement(ElementKind kind, char *memory, Scalar value) {
  switch (kind) {
  case ElementKind::Bool:
    return store<uint8_t>(memory, value.getBits() & 1);
  case ElementKind::I8:
  case ElementKind::UI8:
    return store<uint8_t>(memory, value.getBits());
  case ElementKind::I16:
  case ElementKind::UI16:
    return store<uint16_t>(memory, value.getBits());
  case ElementKind::I32:
  case ElementKind::UI32:
    return store<uint32_t>(memory, value.getBits());
  case ElementKind::I64:
  case ElementKind::UI64:
  case ElementKind::Index:
    return store<uint64_t>(memory, value.getBits());
  case ElementKind::F16:
  case ElementKind::BF16:
    return store<uint16_t>(memory, encodeFloat16(kind, value.getFloat()));
  case ElementKind::F32:
    return storeFloat32(memory, value.getFloat());
  case ElementKind::F64:
    return store<double>(memory, value.getFloat());
  }
  llvm_unreachable("all kinds are handled");
}

Scalar metaop::roundTo(ElementKind kind, Scalar value) {
  char memory[8];
  storeElement(kind, memory, value);
  return loadElement(kind, memory);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Rounds once. By way of a double, a 64-bit integer would be rounded twice.
static Scalar integerToFloat(ElementKind to, Scalar value) {
  APFloat result(getSemantics(to));
  result.convertFromAPInt(APInt(64, value.getBits()), value.isSigned(),
                          APFloat::rmNearestTiesToEven);
  return Scalar::ofFloat(toDouble(result));
}

static Scalar floatToInteger(ElementKind to, double value) {
  unsigned width = getWidth(to);
  bool isUnsigned = getScalarKind(to) == Scalar::Kind::Unsigned;
  llvm::APSInt result(width, isUnsigned);
  bool isExact;
  // APFloat truncates, saturates and makes zero of NaN, as the op does.
  APFloat(value).convertToInteger(result, APFloat::rmTowardZero, &isExact);
  return isUnsigned ? Scalar::ofUnsigned(result.getZExtValue())
                    : Scalar::ofSigned(result.getSExtValue());
}

Scalar metaop::convert(ElementKind to, Scalar value) {
  if (to == ElementKind::Bool)
    return Scalar::ofBool(value.isNonZero());
  bool toFloat = getScalarKind(to) == Scalar::Kind::Float;
  if (value.isFloat())
    return toFloat ? roundTo(to, value) : floatToInteger(to, value.getFloat());
  return toFloat ? integerToFloat(to, value) : roundTo(to, value);
}

//===----------------------------------------------------------------------===//
// Unary functions
//===----------------------------------------------------------------------===//

Scalar scalar::neg(Scalar x) {
  return x.isFloat() ? Scalar::ofFloat(-x.getFloat())
                     : x.withBits(-x.getBits());
}

Scalar scalar::abs(Scalar x) {
  if (x.isFloat())
    return Scalar::ofFloat(std::fabs(x.getFloat()));
  return x.isSigned() && x.getSigned() < 0 ? neg(x) : x;
}

Scalar scalar::sign(Scalar x) {
  if (x.isFloat()) {
    double value = x.getFloat();
    if (std::isnan(value))
      return x;
    return Scalar::ofFloat((value > 0) - (value < 0));
  }
  if (x.isSigned())
    return Scalar::ofSigned((x.getSigned() > 0) - (x.getSigned() < 0));
  return Scalar::ofBool(x.isNonZero());
}

Scalar scalar::bitNot(Scalar x) { return x.withBits(~x.getBits()); }

Scalar scalar::floor(Scalar x) {
  return Scalar::ofFloat(std::floor(x.getFloat()));
}
Scalar scalar::ceil(Scalar x) {
  return Scalar::ofFloat(std::ceil(x.getFloat()));
}
Scalar scalar::round(Scalar x) {
  return Scalar::ofFloat(std::nearbyint(x.getFloat()));
}
Scalar scalar::trunc(Scalar x) {
  return Scalar::ofFloat(std::trunc(x.getFloat()));
}

//===----------------------------------------------------------------------===//
// Binary functions
//===----------------------------------------------------------------------===//

Scalar scalar::add(Scalar x, Scalar y) {
  return x.isFloat() ? Scalar::ofFloat(x.getFloat() + y.getFloat())
                     : x.withBits(x.getBits() + y.getBits());
}

Scalar scalar::sub(Scalar x, Scalar y) {
  return x.isFloat() ? Scalar::ofFloat(x.getFloat() - y.getFloat())
                     : x.withBits(x.getBits() - y.getBits());
}

Scalar scalar::mul(Scalar x, Scalar y) {
  return x.isFloat() ? Scalar::ofFloat(x.getFloat() * y.getFloat())
                     : x.withBits(x.getBits() * y.getBits());
}

Scalar scalar::div(Scalar x, Scalar y) {
  return Scalar::ofFloat(x.getFloat() / y.getFloat());
}

/// x - y * floor(x / y) without an intermediate rounding: fmod is exact and has
/// the sign of x; where that is not the sign of y, y is added.
static double floorMod(double x, double y) {
  double remainder = std::fmod(x, y);
  if (remainder == 0)
    return std::copysign(0.0, y);
  return (remainder < 0) != (y < 0) ? remainder + y : remainder;
}

Scalar scalar::floorDiv(Scalar x, Scalar y) {
  if (y.getBits() == 0)
    return x.withBits(0);
  if (!x.isSigned())
    return x.withBits(x.getBits() / y.getBits());
  int64_t a = x.getSigned(), b = y.getSigned();
  if (b == -1) // The lowest number wraps.
    return neg(x);
  return Scalar::ofSigned(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

Scalar scalar::mod(Scalar x, Scalar y) {
  if (x.isFloat())
    return Scalar::ofFloat(floorMod(x.getFloat(), y.getFloat()));
  if (y.getBits() == 0)
    return x.withBits(0);
  return sub(x, mul(y, floorDiv(x, y)));
}

Scalar scalar::ceilDiv(Scalar x, Scalar y) {
  Scalar isInexact = x.withBits(mod(x, y).isNonZero());
  return add(floorDiv(x, y), isInexact);
}

/// x - y * trunc(x / y).
Scalar scalar::fmod(Scalar x, Scalar y) {
  if (x.isFloat())
    return Scalar::ofFloat(std::fmod(x.getFloat(), y.getFloat()));
  if (y.getBits() == 0)
    return x.withBits(0);
  if (!x.isSigned())
    return x.withBits(x.getBits() % y.getBits());
  return Scalar::ofSigned(y.getSigned() == -1 ? 0
                                              : x.getSigned() % y.getSigned());
}

Scalar scalar::gcd(Scalar x, Scalar y) {
  uint64_t a = abs(x).getBits(), b = abs(y).getBits();
  while (b != 0)
    a = std::exchange(b, a % b);
  return x.withBits(a);
}

/// A negative power of an integer is truncated.
static Scalar integerPower(Scalar x, Scalar y) {
  bool isNegative = y.isSigned() && y.getSigned() < 0;
  uint64_t base = x.getBits(), power = 1;
  bool isUnit = x.isSigned() && (x.getSigned() == 1 || x.getSigned() == -1);
  if (isNegative && !isUnit)
    return x.withBits(0);
  for (uint64_t rest = isNegative ? y.getBits() & 1 : y.getBits(); rest != 0;
       rest >>= 1, base *= base)
    if (rest & 1)
      power *= base;
  return x.withBits(power);
}

Scalar scalar::pow(Scalar x, Scalar y) {
  return x.isFloat() ? Scalar::ofFloat(std::pow(x.getFloat(), y.getFloat()))
                     : integerPower(x, y);
}

/// IEEE 754's maximum and minimum: NaN wins, and -0 is less than +0.
Scalar scalar::max(Scalar x, Scalar y) {
  if (x.isFloat()) {
    double a = x.getFloat(), b = y.getFloat();
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? x : y;
    if (a == b)
      return std::signbit(a) ? y : x;
  }
  return less(x, y) ? y : x;
}

Scalar scalar::min(Scalar x, Scalar y) {
  if (x.isFloat()) {
    double a = x.getFloat(), b = y.getFloat();
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? x : y;
    if (a == b)
      return std::signbit(a) ? x : y;
  }
  return less(y, x) ? y : x;
}

Scalar scalar::bitAnd(Scalar x, Scalar y) {
  return x.withBits(x.getBits() & y.getBits());
}
Scalar scalar::bitOr(Scalar x, Scalar y) {
  return x.withBits(x.getBits() | y.getBits());
}
Scalar scalar::bitXor(Scalar x, Scalar y) {
  return x.withBits(x.getBits() ^ y.getBits());
}

/// A negative number has its sign in more bits than those of its type.
Scalar scalar::popcount(Scalar x, unsigned width) {
  return x.withBits(
      llvm::popcount(x.getBits() & llvm::maskTrailingOnes<uint64_t>(width)));
}

static bool isShiftedOut(Scalar amount, unsigned width) {
  return (amount.isSigned() && amount.getSigned() < 0) ||
         amount.getBits() >= width;
}

Scalar scalar::shiftLeft(Scalar x, Scalar y, unsigned width) {
  return x.withBits(isShiftedOut(y, width) ? 0 : x.getBits() << y.getBits());
}

Scalar scalar::shiftRight(Scalar x, Scalar y, unsigned width) {
  bool isOut = isShiftedOut(y, width);
  if (x.isSigned())
    return Scalar::ofSigned(x.getSigned() >> (isOut ? 63 : y.getBits()));
  return x.withBits(isOut ? 0 : x.getBits() >> y.getBits());
}

Scalar scalar::nextafter(ElementKind kind, Scalar x, Scalar y) {
  if (equal(x, y))
    return y;
  double from = x.getFloat(), to = y.getFloat();
  if (std::isnan(from) || std::isnan(to))
    return Scalar::ofFloat(from + to);
  bool isExact;
  APFloat number(from);
  number.convert(getSemantics(kind), APFloat::rmNearestTiesToEven, &isExact);
  // From zero, the sign is that of the way.
  number.next(/*nextDown=*/to < from);
  return Scalar::ofFloat(toDouble(number));
}

bool scalar::equal(Scalar x, Scalar y) {
  return x.isFloat() ? x.getFloat() == y.getFloat()
                     : x.getBits() == y.getBits();
}

bool scalar::less(Scalar x, Scalar y) {
  if (x.isFloat())
    return x.getFloat() < y.getFloat();
  return x.isSigned() ? x.getSigned() < y.getSigned()
                      : x.getBits() < y.getBits();
}
