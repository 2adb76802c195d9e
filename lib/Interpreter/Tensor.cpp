//===- Tensor.cpp - A tensor value on the host ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Tensor.h"

#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>
#include <new>

using namespace mlir;
using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Expected;

char ShortOfMemory::ID = 0;

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string metaop::formatShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "()";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text;
}

void metaop::forEachIndex(
    ArrayRef<int64_t> shape,
    llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t position = 0;; ++position) {
    visit(index, position);
    // Count up: the last dimension is the fastest.
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++index[dim] == shape[dim])
      index[dim--] = 0;
    if (dim < 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Expected<Tensor> Tensor::create(Type elementType, ArrayRef<int64_t> shape) {
  std::optional<ElementKind> kind = metaop::getElementKind(elementType);
  if (!kind)
    return createStringError("no tensor has elements of type " +
                             formatType(elementType));
  for (int64_t extent : shape)
    if (extent < 0)
      return createStringError("a tensor cannot have the shape " +
                               formatShape(shape) + ": an extent is negative");

  Tensor tensor;
  tensor.elementType = elementType;
  tensor.kind = *kind;
  tensor.elementBytes = getElementBytes(elementType);
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.numElements = countElements(shape);
  int64_t bytes = multiplyCounts(tensor.numElements, tensor.elementBytes);
  if (bytes > maxBytes)
    return createStringError("a tensor of shape " + formatShape(shape) +
                             " and type " + formatType(elementType) +
                             " is larger than the limit of " + Twine(maxBytes) +
                             " bytes");
  try {
    tensor.storage.assign(bytes, 0);
  } catch (const std::bad_alloc &) {
    return llvm::make_error<ShortOfMemory>("no memory for a tensor of shape " +
                                           formatShape(shape) + " and type " +
                                           formatType(elementType));
  }
  return tensor;
}

Expected<Tensor> Tensor::fromScalar(Type elementType, Scalar value) {
  Expected<Tensor> tensor = create(elementType, {});
  if (tensor)
    tensor->set(0, value);
  return tensor;
}

Expected<Tensor> Tensor::fromElements(ElementsAttr value) {
  ShapedType type = value.getShapedType();
  Expected<Tensor> tensor = create(type.getElementType(), type.getShape());
  if (!tensor)
    return tensor;

  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    // Blobs lie in memory as tensors do.
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != tensor->storage.size())
      return createStringError(
          "the resource '" + resource.getRawHandle().getKey() +
          "' does not hold the " + Twine(tensor->storage.size()) +
          " bytes of " + formatType(type));
    llvm::copy(blob->getData(), tensor->storage.begin());
    return tensor;
  }

  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return createStringError("a constant has to be dense");
  int64_t position = 0;
  if (isa<FloatType>(type.getElementType())) {
    for (const llvm::APFloat &element : dense.getValues<llvm::APFloat>())
      tensor->set(position++, Scalar::ofFloat(element));
    return tensor;
  }
  for (const llvm::APInt &element : dense.getValues<llvm::APInt>())
    tensor->set(position++, Scalar::ofUnsigned(element.getZExtValue()));
  return tensor;
}

Expected<Tensor> Tensor::reshaped(ArrayRef<int64_t> newShape) const {
  Expected<Tensor> result = create(elementType, newShape);
  if (!result)
    return result;
  if (result->numElements != numElements)
    return createStringError("a tensor of shape " + formatShape(shape) +
                             " cannot be reshaped to " + formatShape(newShape) +
                             ": it has " + Twine(numElements) +
                             " elements, not " + Twine(result->numElements));
  result->storage = storage;
  return result;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

int64_t Tensor::linearize(ArrayRef<int64_t> index) const {
  int64_t position = 0;
  for (auto [i, extent] : llvm::zip_equal(index, shape))
    position = position * extent + i;
  return position;
}

bool Tensor::isInRange(ArrayRef<int64_t> index) const {
  return llvm::all_of(llvm::zip_equal(index, shape), [](auto pair) {
    auto [i, extent] = pair;
    return 0 <= i && i < extent;
  });
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printElement(raw_ostream &os, ElementKind kind, Scalar value) {
  if (kind == ElementKind::Bool)
    os << (value.isNonZero() ? "True" : "False");
  else if (value.isSigned())
    os << value.getSigned();
  else if (value.isUnsigned())
    os << value.getBits();
  else if (std::isnan(value.getFloat()))
    os << "nan"; // The sign of a NaN means nothing.
  else
    os << llvm::format("%g", value.getFloat());
}

/// Prints the part of the tensor under the first `depth` dimensions, from
/// `position` on, which moves past it.
static void printNested(raw_ostream &os, const Tensor &tensor, int64_t depth,
                        int64_t &position) {
  if (depth == tensor.getRank()) {
    printElement(os, tensor.getElementKind(), tensor.get(position++));
    return;
  }
  bool isRow = depth + 1 == tensor.getRank();
  os << '[';
  for (int64_t i = 0; i < tensor.getShape()[depth]; ++i) {
    if (i != 0) {
      os << (isRow ? ", " : ",\n");
      if (!isRow)
        os.indent(depth + 1);
    }
    printNested(os, tensor, depth + 1, position);
  }
  os << ']';
}

void Tensor::print(raw_ostream &os) const {
  int64_t position = 0;
  printNested(os, *this, 0, position);
}
