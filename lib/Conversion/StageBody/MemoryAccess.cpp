//===- MemoryAccess.cpp - Elements and vectors in memory ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes that are neighbours in memory are a vector there, those a short step
// apart a few vectors and shuffles (InterleavedAccess.cpp), all others are
// gathered and scattered. Of what is stored past the caches, masked vectors are
// not: they fill no line.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Conversion/StageBody/InterleavedAccess.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Types and buffers
//===----------------------------------------------------------------------===//

Type metaop::getMemoryType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return getStorageType(element);
}

Value metaop::toComputeType(OpBuilder &b, Location loc, Value value,
                            Type element) {
  if (!element.isInteger(1))
    return value;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

Value metaop::toMemoryType(OpBuilder &b, Location loc, Value value,
                           Type element) {
  if (!element.isInteger(1))
    return value;
  Type type = b.getI8Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = VectorType::get(vector.getShape(), type);
  return arith::ExtUIOp::create(b, loc, type, value);
}

Value metaop::emitLocalBuffer(OpBuilder &b, Location loc, Type element,
                              int64_t numElements) {
  // The size is a number like others: kernels that differ in it only are the
  // same code.
  return memref::AllocaOp::create(
      b, loc, MemRefType::get({ShapedType::kDynamic}, getMemoryType(element)),
      ValueRange{arith::ConstantIndexOp::create(b, loc, numElements)},
      b.getI64IntegerAttr(64));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

llvm::MaybeAlign LaneAddress::getAlignment(VectorType type) const {
  int64_t lanes = type.getNumElements();
  if (divisor % lanes != 0)
    return {};
  return llvm::Align(lanes * type.getElementTypeBitWidth() / 8);
}

Value metaop::emitVectorLoad(OpBuilder &b, Location loc, VectorType type,
                             Value buffer, const LaneAddress &at, Value mask,
                             Value passThrough) {
  if (at.step == 1 && !at.offsets && !mask)
    return vector::LoadOp::create(b, loc, type, buffer, ValueRange{at.base},
                                  /*nontemporal=*/false, at.getAlignment(type));
  if (at.offsets && !mask)
    mask = emitConstantMask(b, loc, true, type.getNumElements());
  if (mask && !passThrough)
    passThrough = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  if (at.offsets)
    return vector::GatherOp::create(b, loc, type, buffer, ValueRange{at.base},
                                    at.offsets, mask, passThrough);
  if (at.step != 1)
    return emitInterleavedLoad(b, loc, type, buffer, at, mask, passThrough);
  return vector::MaskedLoadOp::create(b, loc, type, buffer, ValueRange{at.base},
                                      mask, passThrough);
}

void metaop::emitVectorStore(OpBuilder &b, Location loc, Value value,
                             Value buffer, const LaneAddress &at, Value mask,
                             llvm::MaybeAlign stream) {
  if (at.offsets) {
    if (!mask)
      mask = emitConstantMask(
          b, loc, true, cast<VectorType>(value.getType()).getNumElements());
    vector::ScatterOp::create(b, loc, /*resultType=*/Type(), buffer,
                              ValueRange{at.base}, at.offsets, mask, value);
    return;
  }
  assert(at.step == 1 && "lanes between which others lie are scattered");
  if (mask)
    vector::MaskedStoreOp::create(b, loc, buffer, ValueRange{at.base}, mask,
                                  value);
  else
    vector::StoreOp::create(
        b, loc, value, buffer, ValueRange{at.base},
        /*nontemporal=*/stream.has_value(),
        stream ? stream : at.getAlignment(cast<VectorType>(value.getType())));
}

void metaop::emitPrefetch(OpBuilder &b, Location loc, Value buffer,
                          Value place) {
  memref::PrefetchOp::create(b, loc, buffer, place, /*isWrite=*/false,
                             /*localityHint=*/3, /*isDataCache=*/true);
}
