//===- Tensor.h - A tensor value on the host --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_INTERPRETER_TENSOR_H
#define METAOPS_INTERPRETER_TENSOR_H

#include "MetaOps/Interpreter/Scalar.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <string>
#include <system_error>
#include <vector>

namespace mlir::metaop {

/// The error of a value for which there is no memory.
class ShortOfMemory : public llvm::ErrorInfo<ShortOfMemory> {
public:
  static char ID;

  explicit ShortOfMemory(std::string message) : message(std::move(message)) {}

  void log(raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::not_enough_memory);
  }

private:
  std::string message;
};

/// A tensor value on the host: an element type, extents and the elements, one
/// after the other in row-major order, as in the runtime's buffers. A boolean
/// is one byte. Numbers of type `index` are 0-d tensors of `index`.
class Tensor {
public:
  /// No tensor may be larger, so that a wrong extent is an error and not the
  /// end of the process.
  static constexpr int64_t maxBytes = int64_t(1) << 33;

  /// Without a type; only good for assignment.
  Tensor() = default;

  /// A tensor of zeros. Fails on element types that tensors do not have, on
  /// negative extents, on more than `maxBytes`, and with ShortOfMemory.
  static llvm::Expected<Tensor> create(Type elementType,
                                       ArrayRef<int64_t> shape);

  /// Fails where `value` is of another type or form than dense.
  static llvm::Expected<Tensor> fromElements(ElementsAttr value);

  /// A 0-d tensor.
  static llvm::Expected<Tensor> fromScalar(Type elementType, Scalar value);

  Type getElementType() const { return elementType; }
  ElementKind getElementKind() const { return kind; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const { return numElements; }
  RankedTensorType getType() const {
    return RankedTensorType::get(shape, elementType);
  }

  ArrayRef<char> getData() const { return storage; }
  MutableArrayRef<char> getMutableData() { return storage; }

  /// The element at a row-major position.
  Scalar get(int64_t position) const {
    return loadElement(kind, storage.data() + position * elementBytes);
  }
  /// Rounds or wraps the value to the element type.
  void set(int64_t position, Scalar value) {
    storeElement(kind, storage.data() + position * elementBytes, value);
  }

  /// The row-major position of an index that is in range.
  int64_t linearize(ArrayRef<int64_t> index) const;
  bool isInRange(ArrayRef<int64_t> index) const;

  /// The same elements under another shape with as many elements.
  llvm::Expected<Tensor> reshaped(ArrayRef<int64_t> newShape) const;

  /// Nested brackets, one row a line; floats as by `%g`, booleans as True and
  /// False.
  void print(raw_ostream &os) const;

private:
  Type elementType;
  ElementKind kind = ElementKind::Bool;
  int64_t elementBytes = 1;
  int64_t numElements = 0;
  SmallVector<int64_t> shape;
  std::vector<char> storage;
};

/// Calls `visit(index, position)` for every index of a shape in row-major
/// order; not at all where an extent is zero.
void forEachIndex(
    ArrayRef<int64_t> shape,
    llvm::function_ref<void(ArrayRef<int64_t> index, int64_t position)> visit);

/// "2x3", or "()" for the shape of a 0-d tensor.
std::string formatShape(ArrayRef<int64_t> shape);

} // namespace mlir::metaop

#endif // METAOPS_INTERPRETER_TENSOR_H
