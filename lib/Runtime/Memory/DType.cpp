//===- DType.cpp - Element types of tensors -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/DType.h"

#include "MetaOps/Support/Counts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <iterator>

using namespace metaops;

namespace {
struct Row {
  llvm::StringLiteral name;
  int64_t bytes;
};
} // namespace

/// In the order of the enumeration.
static constexpr Row table[numDTypes] = {
    {"bool", 1},   {"int8", 1},    {"int16", 2},    {"int32", 4},
    {"int64", 8},  {"uint8", 1},   {"uint16", 2},   {"uint32", 4},
    {"uint64", 8}, {"float16", 2}, {"bfloat16", 2}, {"float32", 4},
    {"float64", 8}};

int64_t metaops::sizeOf(DType dtype) { return table[unsigned(dtype)].bytes; }

llvm::StringRef metaops::nameOf(DType dtype) {
  return table[unsigned(dtype)].name;
}

std::optional<DType> metaops::parseDType(llvm::StringRef name) {
  for (auto [index, row] : llvm::enumerate(table))
    if (row.name == name)
      return DType(index);
  return std::nullopt;
}

std::string metaops::listDTypes() {
  return llvm::join(
      llvm::map_range(table, [](const Row &row) { return row.name.str(); }),
      ", ");
}

int64_t metaops::getNumElements(llvm::ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements = multiplyCounts(elements, extent);
  return elements;
}

int64_t metaops::getNumBytes(llvm::ArrayRef<int64_t> shape, DType dtype) {
  return multiplyCounts(getNumElements(shape), sizeOf(dtype));
}

std::string metaops::formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [index, extent] : llvm::enumerate(shape))
    text += (index ? ", " : "") + std::to_string(extent);
  return text + (shape.size() == 1 ? ",)" : ")");
}
