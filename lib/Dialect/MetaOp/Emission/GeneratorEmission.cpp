//===- GeneratorEmission.cpp - Elements of constant, iota and random ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// emitElement of the leaf ops. An op of rank 0 has no indices that could say
// how long a vector is, so its element is a scalar.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace mlir::metaop;

/// The indices' shape with element type `element`.
static Type shapedLike(ValueRange indices, Type element) {
  if (indices.empty())
    return element;
  return ScalarEmitter::withElement(indices[0].getType(), element);
}

/// A scalar in all places of `type`.
static Value emitSplat(ScalarEmitter &emit, Value scalar, Type type) {
  if (!isa<VectorType>(type))
    return scalar;
  return emit.create<vector::BroadcastOp>(type, scalar);
}

/// The row-major position of the element at `indices`, as 64-bit integers.
static Value emitLinearIndex(ScalarEmitter &emit, RankedTensorType tensor,
                             ValueRange indices, ValueRange extents) {
  Type i64 = IntegerType::get(tensor.getContext(), 64);
  Type type = shapedLike(indices, i64);
  if (indices.empty())
    return emit.constant(type, 0);

  Value linear;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value position = emit.create<arith::IndexCastOp>(type, index);
    if (!linear) {
      linear = position;
      continue;
    }
    Value extent;
    if (extents.empty()) {
      extent = emit.constant(type, tensor.getDimSize(dim));
    } else {
      Value scalar = emit.create<arith::IndexCastOp>(i64, extents[dim]);
      extent = emitSplat(emit, scalar, type);
    }
    linear = emit.create<arith::MulIOp>(linear, extent);
    linear = emit.create<arith::AddIOp>(linear, position);
  }
  return linear;
}

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

/// An element as arith.constant wants it, without the sign of its type.
static TypedAttr toStorage(Attribute element) {
  if (auto integer = dyn_cast<IntegerAttr>(element))
    return IntegerAttr::get(getStorageType(integer.getType()),
                            integer.getValue());
  return cast<TypedAttr>(element);
}

/// Halves the table once for each bit of the position, lowest bit first.
static Value emitTable(ScalarEmitter &emit, SmallVector<Value> table,
                       Value position) {
  Type positionType = position.getType();
  Type boolType = ScalarEmitter::withElement(
      positionType, IntegerType::get(position.getContext(), 1));
  for (int64_t bit = 0; table.size() > 1; ++bit) {
    Value shifted =
        emit.create<arith::ShRUIOp>(position, emit.constant(positionType, bit));
    Value isOdd = emit.create<arith::TruncIOp>(boolType, shifted);
    SmallVector<Value> half;
    for (size_t i = 0; i + 1 < table.size(); i += 2)
      half.push_back(emit.select(isOdd, table[i + 1], table[i]));
    if (table.size() % 2 == 1)
      half.push_back(table.back());
    table = std::move(half);
  }
  return table.front();
}

/// Emits a whole number as one of the kernel's, which may become an argument.
static Value emitNumber(OpBuilder &builder, Location loc, Type type,
                        int64_t number) {
  Value index = arith::ConstantIndexOp::create(builder, loc, number);
  if (isa<IntegerType>(type))
    return arith::IndexCastOp::create(builder, loc, type, index);
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  return arith::SIToFPOp::create(builder, loc, type, integer);
}

Value ConstantOp::emitElement(OpBuilder &builder, ValueRange operands,
                              ValueRange indices, ValueRange extents) {
  ScalarEmitter emit(builder, getLoc());
  auto elements = dyn_cast<DenseElementsAttr>(getValue());
  if (!elements || elements.empty())
    return {};
  RankedTensorType tensor = getResult().getType();
  Type type = shapedLike(indices, getStorageType(tensor.getElementType()));
  // It follows an extent.
  if (auto number = getWholeNumber(*this);
      number && (*this)->hasAttr(kVaryingAttr) && !isa<VectorType>(type))
    return emitNumber(builder, getLoc(), type, *number);
  if (elements.isSplat())
    return emit.constant(type, toStorage(elements.getSplatValue<Attribute>()));
  if (elements.getNumElements() > kMaxInlineElements)
    return {};
  Value position = emitLinearIndex(emit, tensor, indices, extents);
  SmallVector<Value> table;
  for (Attribute element : elements.getValues<Attribute>())
    table.push_back(emit.constant(type, toStorage(element)));
  return emitTable(emit, std::move(table), position);
}

//===----------------------------------------------------------------------===//
// Iota
//===----------------------------------------------------------------------===//

Value IotaOp::emitElement(OpBuilder &builder, ValueRange operands,
                          ValueRange indices, ValueRange extents) {
  Type i64 = builder.getI64Type();
  Value index = arith::IndexCastOp::create(
      builder, getLoc(), shapedLike(indices, i64), indices[getDimension()]);
  return emitCast(builder, getLoc(), index, i64,
                  getResult().getType().getElementType());
}

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

namespace {
/// Philox2x32-10: ten rounds, each of which multiplies one word of the counter
/// to 64 bits and mixes the upper half with the other word and the key.
///
/// Words are held in 64 bits, of which the upper half is anything: a product of
/// two lower halves is one instruction for as many 64-bit lanes as fit a
/// register, and nothing has to be brought from one width to the other.
class Philox {
public:
  Philox(ScalarEmitter &emit, MLIRContext *context, Type shape)
      : emit(emit),
        i32(ScalarEmitter::withElement(shape, IntegerType::get(context, 32))),
        i64(ScalarEmitter::withElement(shape, IntegerType::get(context, 64))) {}

  /// The two words of the block at `counter`.
  std::pair<Value, Value> emitWords(Value key, Value counter) {
    Value left = counter, right = emitUpper(counter);
    for (int round = 0; round < 10; ++round) {
      if (round != 0)
        key = emit.create<arith::AddIOp>(key, constant(0x9E3779B9));
      Value product =
          emit.create<arith::MulIOp>(emitLower(left), constant(0xD256D193));
      left = emit.create<arith::XOrIOp>(
          emit.create<arith::XOrIOp>(emitUpper(product), key), right);
      right = product;
    }
    return {left, right};
  }

  /// A word of 32 bits.
  Value narrow(Value word) { return emit.create<arith::TruncIOp>(i32, word); }

  Value join(Value low, Value high) {
    Value shifted = emit.create<arith::ShLIOp>(high, constant(32));
    return emit.create<arith::OrIOp>(shifted, emitLower(low));
  }

  Value emitLower(Value wide) {
    return emit.create<arith::AndIOp>(wide, constant(0xFFFFFFFF));
  }
  Value emitUpper(Value wide) {
    return emit.create<arith::ShRUIOp>(wide, constant(32));
  }

private:
  Value constant(int64_t number) { return emit.constant(i64, number); }

  ScalarEmitter &emit;
  Type i32, i64;
};
} // namespace

/// A float in [0, 1) from the upper bits of `bits`, as many as the significand
/// holds: nothing is rounded.
static Value emitUniform(ScalarEmitter &emit, Value bits, FloatType element) {
  unsigned width = getElementTypeOrSelf(bits).getIntOrFloatBitWidth();
  unsigned precision = element.getFPMantissaWidth();
  Type wide =
      element.isF64() ? Type(element) : Float32Type::get(element.getContext());
  Type wideType = ScalarEmitter::withElement(bits.getType(), wide);
  Value shifted = emit.create<arith::ShRUIOp>(
      bits, emit.constant(bits.getType(), int64_t(width - precision)));
  // Not negative as a signed integer either, for which conversion is cheaper.
  Value number = emit.create<arith::SIToFPOp>(wideType, shifted);
  Value scale =
      emit.constant(wideType, std::ldexp(1.0, -static_cast<int>(precision)));
  Value result = emit.create<arith::MulFOp>(number, scale);
  return emit.narrow(result,
                     ScalarEmitter::withElement(bits.getType(), element));
}

Value RandomOp::emitElement(OpBuilder &builder, ValueRange operands,
                            ValueRange indices, ValueRange extents) {
  ScalarEmitter emit(builder, getLoc());
  RankedTensorType tensor = getResult().getType();
  Type i64 = shapedLike(indices, builder.getI64Type());
  Value linear = emitLinearIndex(emit, tensor, indices, extents);
  Philox philox(emit, getContext(), i64);
  Value counter =
      emit.create<arith::AddIOp>(emitSplat(emit, operands[1], i64), linear);
  // The upper half of the key is part of the counter.
  Value upper = emit.create<arith::AndIOp>(
      operands[0], emit.constant(builder.getI64Type(), -(int64_t(1) << 32)));
  counter = emit.create<arith::XOrIOp>(counter, emitSplat(emit, upper, i64));

  auto [word0, word1] =
      philox.emitWords(emitSplat(emit, operands[0], i64), counter);
  auto element = dyn_cast<FloatType>(tensor.getElementType());
  if (!element)
    return philox.narrow(word0);
  Value bits =
      element.isF64() ? philox.join(word0, word1) : philox.narrow(word0);
  return emitUniform(emit, bits, element);
}
