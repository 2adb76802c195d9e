//===- Promotion.cpp - Element types of results ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Promotion.h"

#include "MetaOps/Runtime/Graph/Error.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace metaops;

double Number::getDouble() const {
  if (kind == Kind::Float)
    return real;
  return isUnsigned ? double(uint64_t(integer)) : double(integer);
}

std::string Number::str() const {
  switch (kind) {
  case Kind::Bool:
    return integer ? "True" : "False";
  case Kind::Int:
    return isUnsigned ? std::to_string(uint64_t(integer))
                      : std::to_string(integer);
  case Kind::Float:
    break;
  }
  llvm::SmallString<32> text;
  llvm::APFloat(real).toString(text);
  return text.str().str();
}

/// Returns whether an integer type can hold the number.
static bool fits(int64_t value, bool isUnsigned, DType dtype) {
  unsigned bits = sizeOf(dtype) * 8;
  if (isUnsigned)
    return dtype == DType::U64;
  if (isUnsignedInt(dtype))
    return value >= 0 && (bits == 64 || value < (int64_t(1) << bits));
  return bits == 64 || (value >= -(int64_t(1) << (bits - 1)) &&
                        value < (int64_t(1) << (bits - 1)));
}

static uint64_t encodeFloat(double value, DType dtype) {
  llvm::APFloat number(value);
  const llvm::fltSemantics *semantics = &llvm::APFloat::IEEEdouble();
  if (dtype == DType::F32)
    semantics = &llvm::APFloat::IEEEsingle();
  else if (dtype == DType::F16)
    semantics = &llvm::APFloat::IEEEhalf();
  else if (dtype == DType::BF16)
    semantics = &llvm::APFloat::BFloat();
  bool losesInfo = false;
  number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}

uint64_t Number::encode(DType dtype) const {
  if (::isFloat(dtype))
    return encodeFloat(getDouble(), dtype);
  if (isBool(dtype))
    return kind == Kind::Float ? real != 0 : integer != 0;
  if (kind == Kind::Float) {
    double whole = std::trunc(real);
    if (!(whole >= -9223372036854775808.0 && whole < 9223372036854775808.0))
      fail(ErrorKind::Overflow,
           str() + " is out of range for " + nameOf(dtype));
    return ofInt(static_cast<int64_t>(whole)).encode(dtype);
  }
  if (!fits(integer, isUnsigned, dtype))
    fail(ErrorKind::Overflow, str() + " is out of range for " + nameOf(dtype));
  return static_cast<uint64_t>(integer);
}

static double decodeFloat(uint64_t bits, DType dtype) {
  if (dtype == DType::F64)
    return llvm::bit_cast<double>(bits);
  const llvm::fltSemantics &semantics =
      dtype == DType::F32   ? llvm::APFloat::IEEEsingle()
      : dtype == DType::F16 ? llvm::APFloat::IEEEhalf()
                            : llvm::APFloat::BFloat();
  unsigned width = llvm::APFloat::getSizeInBits(semantics);
  return llvm::APFloat(semantics, llvm::APInt(width, bits, /*isSigned=*/false,
                                              /*implicitTrunc=*/true))
      .convertToDouble();
}

Number Number::decode(uint64_t bits, DType dtype) {
  if (::isFloat(dtype))
    return ofFloat(decodeFloat(bits, dtype));
  if (isBool(dtype))
    return ofBool(bits & 1);
  if (dtype == DType::U64)
    return ofUnsigned(bits);
  unsigned unused = 64 - 8 * getNumBytes({}, dtype);
  return ofInt(isUnsignedInt(dtype)
                   ? static_cast<int64_t>(bits << unused >> unused)
                   : static_cast<int64_t>(bits << unused) >> unused);
}

DType Number::getDType() const {
  if (own)
    return *own;
  switch (kind) {
  case Number::Kind::Bool:
    return DType::Bool;
  case Number::Kind::Int:
    return DType::I64;
  case Number::Kind::Float:
    return DType::F32;
  }
  return DType::F32;
}

/// A signed type that holds all values of an unsigned and of a signed type.
static DType promoteMixed(DType isSigned, DType isUnsigned) {
  if (isUnsigned == DType::U64)
    fail(ErrorKind::Type, "no integer type holds both " + nameOf(isSigned) +
                              " and uint64; cast one of them");
  int64_t bytes = std::max(sizeOf(isSigned), 2 * sizeOf(isUnsigned));
  return bytes == 2 ? DType::I16 : bytes == 4 ? DType::I32 : DType::I64;
}

DType metaops::promote(DType lhs, DType rhs) {
  if (lhs == rhs || isBool(rhs))
    return lhs;
  if (isBool(lhs))
    return rhs;
  if (isFloat(lhs) != isFloat(rhs))
    return isFloat(lhs) ? lhs : rhs;
  if (isFloat(lhs)) {
    if (sizeOf(lhs) == sizeOf(rhs))
      return DType::F32; // float16 and bfloat16
    return std::max(lhs, rhs);
  }
  if (isSignedInt(lhs) == isSignedInt(rhs))
    return std::max(lhs, rhs);
  return isSignedInt(lhs) ? promoteMixed(lhs, rhs) : promoteMixed(rhs, lhs);
}

DType metaops::promote(DType dtype, Number::Kind number) {
  switch (number) {
  case Number::Kind::Bool:
    return dtype;
  case Number::Kind::Int:
    return isBool(dtype) ? DType::I64 : dtype;
  case Number::Kind::Float:
    return toFloating(dtype);
  }
  return dtype;
}

DType metaops::toFloating(DType dtype) {
  return isFloat(dtype) ? dtype : DType::F32;
}

DType metaops::accumulatorOf(DType dtype) {
  if (isUnsignedInt(dtype))
    return DType::U64;
  return isFloat(dtype) ? dtype : DType::I64;
}
