//===- Scalar.h - One element while it is computed with ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_INTERPRETER_SCALAR_H
#define METAOPS_INTERPRETER_SCALAR_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include <cstdint>
#include <optional>

namespace mlir::metaop {

/// Form of a tensor's element in memory.
enum class ElementKind : uint8_t {
  Bool, // one byte, 0 or 1
  I8,
  I16,
  I32,
  I64,
  UI8,
  UI16,
  UI32,
  UI64,
  Index, // as I64
  F16,
  BF16,
  F32,
  F64
};

/// The kind of an element type; none for types that no tensor may hold.
std::optional<ElementKind> getElementKind(Type type);

/// The bits of a number.
unsigned getWidth(ElementKind kind);

/// One element while it is computed with: a double, or 64 bits of an integer
/// with or without a sign. Narrower types are represented exactly; `roundTo`
/// brings a result back to its element type.
///
/// Computing an f32, f16 or bf16 operation in double and rounding the result
/// once gives the bits that the operation has in its own type: for +, -, *, /
/// and square root the double has more than twice the digits, so the second
/// rounding never changes the first. What is exact in double (comparisons,
/// floor, remainder) is exact here as well.
class Scalar {
public:
  enum class Kind : uint8_t { Float, Signed, Unsigned };

  static Scalar ofFloat(double value) { return Scalar(value); }
  static Scalar ofFloat(const llvm::APFloat &value);
  static Scalar ofSigned(int64_t value) {
    return Scalar(static_cast<uint64_t>(value), Kind::Signed);
  }
  static Scalar ofUnsigned(uint64_t value) {
    return Scalar(value, Kind::Unsigned);
  }
  static Scalar ofBool(bool value) { return ofUnsigned(value ? 1 : 0); }

  /// A number in the kind that `kind` is computed with.
  static Scalar ofInteger(ElementKind kind, int64_t value);

  /// The value of a number or boolean attribute.
  static Scalar ofAttribute(TypedAttr attribute);

  Scalar() : Scalar(uint64_t(0), Kind::Signed) {}

  Kind getKind() const { return kind; }
  bool isFloat() const { return kind == Kind::Float; }
  bool isSigned() const { return kind == Kind::Signed; }
  bool isUnsigned() const { return kind == Kind::Unsigned; }

  double getFloat() const { return real; }
  int64_t getSigned() const { return static_cast<int64_t>(bits); }
  uint64_t getBits() const { return bits; }

  /// True for NaN and for every value but zero.
  bool isNonZero() const { return isFloat() ? !(real == 0.0) : bits != 0; }

  /// An integer of the same kind with other bits.
  Scalar withBits(uint64_t newBits) const { return Scalar(newBits, kind); }

private:
  explicit Scalar(double value) : real(value), kind(Kind::Float) {}
  Scalar(uint64_t bits, Kind kind) : bits(bits), kind(kind) {}

  union {
    double real;
    uint64_t bits;
  };
  Kind kind;
};

/// Which kind of scalar elements of a type are.
Scalar::Kind getScalarKind(ElementKind kind);

/// The value after it was stored in a tensor of that type and read again:
/// floats are rounded to nearest even, integers wrap.
Scalar roundTo(ElementKind kind, Scalar value);

/// Reads an element from memory, and writes it there with `roundTo`.
Scalar loadElement(ElementKind kind, const char *memory);
void storeElement(ElementKind kind, char *memory, Scalar value);

/// `metaop.cast`: float to integer truncates and saturates, integer to float
/// rounds once.
Scalar convert(ElementKind to, Scalar value);

/// The scalar functions of the element-wise ops and of the reductions. Operands
/// of one call are of one kind.
namespace scalar {
Scalar neg(Scalar x);
Scalar abs(Scalar x);
Scalar sign(Scalar x);
Scalar bitNot(Scalar x);
Scalar floor(Scalar x);
Scalar ceil(Scalar x);
Scalar round(Scalar x);
Scalar trunc(Scalar x);

Scalar add(Scalar x, Scalar y);
Scalar sub(Scalar x, Scalar y);
Scalar mul(Scalar x, Scalar y);
Scalar div(Scalar x, Scalar y);
Scalar floorDiv(Scalar x, Scalar y); // integers only
Scalar ceilDiv(Scalar x, Scalar y);  // integers only
Scalar mod(Scalar x, Scalar y);
Scalar fmod(Scalar x, Scalar y);
Scalar gcd(Scalar x, Scalar y);
Scalar pow(Scalar x, Scalar y);
Scalar max(Scalar x, Scalar y);
Scalar min(Scalar x, Scalar y);
Scalar bitAnd(Scalar x, Scalar y);
Scalar bitOr(Scalar x, Scalar y);
Scalar bitXor(Scalar x, Scalar y);

/// Of integers of `width` bits.
Scalar popcount(Scalar x, unsigned width);
Scalar shiftLeft(Scalar x, Scalar y, unsigned width);
Scalar shiftRight(Scalar x, Scalar y, unsigned width);
/// Among the floats of a type.
Scalar nextafter(ElementKind kind, Scalar x, Scalar y);

bool equal(Scalar x, Scalar y);
bool less(Scalar x, Scalar y);
} // namespace scalar

} // namespace mlir::metaop

#endif // METAOPS_INTERPRETER_SCALAR_H
