//===- DType.cpp - Element types of tensors -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Memory/DType.h"

#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "mlir/IR/BuiltinTypes.h"
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

mlir::Type metaops::toElementType(DType dtype, mlir::MLIRContext *context) {
  switch (dtype) {
  case DType::Bool:
    return mlir::IntegerType::get(context, 1);
  case DType::F16:
    return mlir::Float16Type::get(context);
  case DType::BF16:
    return mlir::BFloat16Type::get(context);
  case DType::F32:
    return mlir::Float32Type::get(context);
  case DType::F64:
    return mlir::Float64Type::get(context);
  default:
    break;
  }
  auto signedness = isUnsignedInt(dtype) ? mlir::IntegerType::Unsigned
                                         : mlir::IntegerType::Signless;
  return mlir::IntegerType::get(context, sizeOf(dtype) * 8, signedness);
}

std::optional<DType> metaops::fromElementType(mlir::Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  auto integer = llvm::dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(DType::Bool);
  case 8:
    return isUnsigned ? DType::U8 : DType::I8;
  case 16:
    return isUnsigned ? DType::U16 : DType::I16;
  case 32:
    return isUnsigned ? DType::U32 : DType::I32;
  case 64:
    return isUnsigned ? DType::U64 : DType::I64;
  default:
    return std::nullopt;
  }
}

int64_t metaops::countElements(llvm::ArrayRef<int64_t> shape) {
  return mlir::metaop::countElements(shape);
}

int64_t metaops::countBytes(llvm::ArrayRef<int64_t> shape, DType dtype) {
  return mlir::metaop::multiplyCounts(countElements(shape), sizeOf(dtype));
}

std::string metaops::formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [index, extent] : llvm::enumerate(shape))
    text += (index ? ", " : "") + std::to_string(extent);
  return text + (shape.size() == 1 ? ",)" : ")");
}
