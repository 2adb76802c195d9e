//===- DType.h - Element types of tensors -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_MEMORY_DTYPE_H
#define METAOPS_RUNTIME_MEMORY_DTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace metaops {

enum class DType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64
};

constexpr unsigned numDTypes = 13;

/// Bytes of one element in memory; a bool takes one.
int64_t sizeOf(DType dtype);

/// "bool", "int8", ..., "uint8", ..., "float16", "bfloat16", "float32",
/// "float64".
llvm::StringRef nameOf(DType dtype);
std::optional<DType> parseDType(llvm::StringRef name);

/// All names, separated by commas, for messages.
std::string listDTypes();

inline bool isBool(DType dtype) { return dtype == DType::Bool; }
inline bool isFloat(DType dtype) { return dtype >= DType::F16; }
inline bool isSignedInt(DType dtype) {
  return dtype >= DType::I8 && dtype <= DType::I64;
}
inline bool isUnsignedInt(DType dtype) {
  return dtype >= DType::U8 && dtype <= DType::U64;
}
inline bool isInt(DType dtype) {
  return isSignedInt(dtype) || isUnsignedInt(dtype);
}

/// Returns the number of elements, or the largest number where that does not
/// fit; see Counts.h.
int64_t getNumElements(llvm::ArrayRef<int64_t> shape);
int64_t getNumBytes(llvm::ArrayRef<int64_t> shape, DType dtype);

/// As Python writes a tuple: "()", "(3,)", "(2, 3)".
std::string formatShape(llvm::ArrayRef<int64_t> shape);

} // namespace metaops

#endif // METAOPS_RUNTIME_MEMORY_DTYPE_H
