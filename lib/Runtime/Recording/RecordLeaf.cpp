//===- RecordLeaf.cpp - Recording leaves and generators -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "RecordingTables.h"
#include <utility>

using namespace mlir;
using namespace metaops;

RankedTensorType Recorder::typeOf(llvm::ArrayRef<int64_t> shape, DType dtype) {
  return RankedTensorType::get(shape, toElementType(dtype, context));
}

void metaops::checkShape(llvm::StringRef what, llvm::ArrayRef<int64_t> shape) {
  int64_t bytes = 8;
  for (int64_t extent : shape) {
    if (extent < 0)
      fail(ErrorKind::Value, what + ": shape " + formatShape(shape) +
                                 " has a negative extent; expected 0 or more");
    // An extent of 0 must not hide that offsets overflow.
    bytes = metaop::multiplyCounts(bytes, std::max<int64_t>(extent, 1));
  }
  if (bytes == metaop::kMaxCount)
    fail(ErrorKind::Value, what + ": shape " + formatShape(shape) +
                               " has too many elements; expected fewer than "
                               "2**60, extents of 0 counted as 1");
}

TypedAttr Recorder::fillOf(Number value, DType dtype) {
  Type type = toElementType(dtype, context);
  if (isFloat(dtype))
    return FloatAttr::get(type, value.getDouble());
  return IntegerAttr::get(type, llvm::APInt(type.getIntOrFloatBitWidth(),
                                            value.encode(dtype),
                                            /*isSigned=*/false,
                                            /*implicitTrunc=*/true));
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Node *Recorder::buffer(DType dtype, llvm::ArrayRef<int64_t> shape,
                       BufferRef data) {
  Node *node =
      adopt(metaop::BufferOp::create(at(), line, typeOf(shape, dtype)));
  node->buffer = std::move(data);
  return node;
}

Node *Recorder::placeholder(DType dtype, llvm::ArrayRef<int64_t> shape) {
  Node *node =
      adopt(metaop::BufferOp::create(at(), line, typeOf(shape, dtype)));
  node->isPlaceholder = true;
  return node;
}

Node *Recorder::scalar(Number value, DType dtype) {
  uint64_t bits = value.encode(dtype);
  Node *node = adopt(metaop::ScalarOp::create(at(), line, typeOf({}, dtype)));
  node->scalar = bits;
  return node;
}

Node *Recorder::recordInteger(int64_t value) {
  return scalar(Number::ofInt(value), DType::I64);
}

Node *Recorder::recordZeroIndex() {
  // If operators run at once, it has been computed, and is a device's.
  if (zeroIndex && zeroIndex->isLeaf())
    graph.unpin(std::exchange(zeroIndex, nullptr));
  if (!zeroIndex) {
    zeroIndex = recordSplat({}, at().getI64IntegerAttr(0));
    graph.pin(zeroIndex);
  }
  return zeroIndex;
}

Node *Recorder::recordSplat(llvm::ArrayRef<int64_t> shape, TypedAttr value) {
  auto type = RankedTensorType::get(shape, value.getType());
  return adopt(metaop::ConstantOp::create(
      at(), line,
      llvm::cast<ElementsAttr>(DenseElementsAttr::get(type, value))));
}

Node *Recorder::constant(llvm::ArrayRef<int64_t> shape, Number value,
                         DType dtype) {
  return recordSplat(shape, fillOf(value, dtype));
}

Node *Recorder::full(llvm::ArrayRef<int64_t> shape, Operand value,
                     DType dtype) {
  checkShape("full", shape);
  if (Node *node = value.getNode(); node && node->type().getRank() != 0)
    fail(ErrorKind::Value, "full: the value has shape " +
                               formatShape(node->shape()) +
                               ", expected a single number");
  return recordOperand(value, dtype, shape);
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

Node *Recorder::iota(llvm::ArrayRef<int64_t> shape, int64_t dimension,
                     DType dtype) {
  checkShape("iota", shape);
  int64_t rank = shape.size();
  if (dimension < -rank || dimension >= rank)
    fail(ErrorKind::Value, "iota: dimension " + llvm::Twine(dimension) +
                               " is out of range for shape " +
                               formatShape(shape));
  if (isBool(dtype))
    fail(ErrorKind::Type, "iota: given bool, expected a type of numbers");
  if (dimension < 0)
    dimension += rank;
  return adopt(metaop::IotaOp::create(at(), line, typeOf(shape, dtype),
                                      dimension, ValueRange()));
}

Node *Recorder::random(llvm::ArrayRef<int64_t> shape, DType dtype) {
  checkShape("random", shape);
  if (!isFloat(dtype) && dtype != DType::U32)
    fail(ErrorKind::Type, "random: given " + nameOf(dtype) +
                              ", expected a float type or uint32");
  Node *ofKey = randomKey();
  Node *counter = randomCounter(0);
  // Each element has a counter of its own, so no two calls share numbers.
  skipRandom(getNumElements(shape));
  return adopt(metaop::RandomOp::create(at(), line, typeOf(shape, dtype),
                                        ofKey->value(), counter->value(),
                                        ValueRange()));
}

void Recorder::seed(int64_t newKey) {
  key = newKey;
  drawn = 0;
}

/// Adds counters, which begin again behind the last one.
static int64_t addWrapping(int64_t count, int64_t more) {
  return static_cast<int64_t>(static_cast<uint64_t>(count) +
                              static_cast<uint64_t>(more));
}

void Recorder::drawFrom(Node *key, Node *counter) {
  givenKey = key;
  givenCounter = counter;
}

Node *Recorder::randomKey() {
  if (givenKey)
    return givenKey;
  Node *number = recordInteger(key);
  if (onDraw)
    onDraw(number, /*isCounter=*/false);
  return number;
}

Node *Recorder::randomCounter(int64_t offset) {
  int64_t count = getRandomCounter(offset);
  if (givenCounter)
    return binary("add", givenCounter, Number::ofInt(count));
  Node *number = recordInteger(count);
  if (onDraw)
    onDraw(number, /*isCounter=*/true);
  return number;
}

int64_t Recorder::getRandomCounter(int64_t offset) const {
  return addWrapping(drawn, offset);
}

void Recorder::skipRandom(int64_t count) { drawn = addWrapping(drawn, count); }
