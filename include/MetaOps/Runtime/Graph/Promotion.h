//===- Promotion.h - Element types of results -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of the Python array API: kinds rise from bool over the
// integers to the floats, Python's own numbers are weak (they take the type of
// the tensor beside them where its kind is theirs or above), and the defaults
// are int64 and float32.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_PROMOTION_H
#define METAOPS_RUNTIME_GRAPH_PROMOTION_H

#include "MetaOps/Runtime/Memory/DType.h"

#include <cstdint>
#include <optional>

namespace metaops {

/// One of Python's numbers, or of NumPy's, which has a type of its own where no
/// tensor is beside it.
class Number {
public:
  enum class Kind : uint8_t { Bool, Int, Float };

  static Number ofBool(bool value) { return Number(Kind::Bool, value); }
  static Number ofInt(int64_t value) { return Number(Kind::Int, value); }
  /// An integer that only 64 bits without a sign can hold.
  static Number ofUnsigned(uint64_t value) {
    Number number(Kind::Int, static_cast<int64_t>(value));
    number.isUnsigned = true;
    return number;
  }
  static Number ofFloat(double value) {
    Number number(Kind::Float, 0);
    number.real = value;
    return number;
  }

  /// The same number, of NumPy's type for `dtype`.
  Number withDType(DType dtype) const {
    Number number = *this;
    number.own = dtype;
    return number;
  }

  Kind getKind() const { return kind; }
  /// The type of a tensor made of the number alone.
  DType getDType() const;
  double getDouble() const;
  /// The integer, where the number is one in the range of int64_t.
  bool isInt(int64_t value) const {
    return kind == Kind::Int && !isUnsigned && integer == value;
  }
  int64_t getInt() const { return integer; }
  bool fitsInt64() const { return kind != Kind::Float && !isUnsigned; }

  /// The number as an element of `dtype` lies in memory, in the low bytes.
  /// Throws where an integer type cannot hold it.
  uint64_t encode(DType dtype) const;
  /// Returns the number that lies in memory so.
  static Number decode(uint64_t bits, DType dtype);

  /// As Python writes it.
  std::string str() const;

private:
  Number(Kind kind, int64_t integer) : kind(kind), integer(integer) {}

  Kind kind;
  bool isUnsigned = false;
  int64_t integer = 0;
  double real = 0;
  std::optional<DType> own;
};

/// The common type of two tensors. Throws where there is none (uint64 and
/// a signed integer).
DType promote(DType lhs, DType rhs);

/// The common type of a tensor and a Python number.
DType promote(DType dtype, Number::Kind number);

/// The type in which a function of real numbers is computed: floats stay,
/// everything else becomes float32.
DType toFloating(DType dtype);

/// The type of a sum or product of all elements, as NumPy has it: small
/// integers grow to 64 bits.
DType accumulatorOf(DType dtype);

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_PROMOTION_H
