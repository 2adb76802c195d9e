//===- ElementTypes.cpp - Element types in the IR -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Compiler/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace metaops;

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
