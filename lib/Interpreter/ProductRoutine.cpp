//===- ProductRoutine.cpp - The meaning of products by strides ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of products in f64, of elements that are found by their strides. The
// attributes are described in lib/Runtime/Routines/ProductRoutine.cpp.
//
//===----------------------------------------------------------------------===//

#include "Matrices.h"
#include "MetaOps/Support/Counts.h"

using namespace mlir;
using namespace mlir::metaop;

/// Returns numbers of a product, none of which is negative; empty where they
/// are not there.
static ArrayRef<int64_t> getNumbers(const MatrixCall &call, StringRef name,
                                    size_t count) {
  DictionaryAttr parameters = call.getParameters();
  auto values = parameters ? parameters.getAs<DenseI64ArrayAttr>(name)
                           : DenseI64ArrayAttr();
  if (!values || values.size() != static_cast<int64_t>(count) ||
      llvm::any_of(values.asArrayRef(), [](int64_t n) { return n < 0; }))
    return {};
  return values;
}

/// Returns whether the last element of a matrix is inside of a tensor.
static bool isInside(const Tensor &tensor, std::array<int64_t, 3> extents,
                     ArrayRef<int64_t> strides) {
  int64_t last = 0, elements = 1;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides))
    last = metaops::addCounts(
        last,
        metaops::multiplyCounts(std::max<int64_t>(extent - 1, 0), stride));
  for (int64_t extent : tensor.getShape())
    elements = metaops::multiplyCounts(elements, extent);
  return last < elements;
}

llvm::Error metaop::runProduct(const MatrixCall &call) {
  ArrayRef<int64_t> extents = getNumbers(call, "extents", 4);
  ArrayRef<int64_t> a = getNumbers(call, "strides_a", 3);
  ArrayRef<int64_t> b = getNumbers(call, "strides_b", 3);
  ArrayRef<int64_t> c = getNumbers(call, "strides_product", 3);
  if (extents.empty() || a.empty() || b.empty() || c.empty() ||
      call.operands.size() != 2 || call.results.size() != 1 ||
      llvm::is_contained(extents, 0) ||
      !isInside(call.operands[0], {extents[0], extents[1], extents[3]}, a) ||
      !isInside(call.operands[1], {extents[0], extents[3], extents[2]}, b) ||
      !isInside(call.results[0], {extents[0], extents[1], extents[2]}, c))
    return llvm::createStringError("is no product of its operands");
  for (int64_t batch = 0; batch < extents[0]; ++batch)
    for (int64_t i = 0; i < extents[1]; ++i)
      for (int64_t j = 0; j < extents[2]; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < extents[3]; ++k)
          sum += call.operands[0]
                     .get(batch * a[0] + i * a[1] + k * a[2])
                     .getFloat() *
                 call.operands[1]
                     .get(batch * b[0] + k * b[1] + j * b[2])
                     .getFloat();
        call.results[0].set(batch * c[0] + i * c[1] + j * c[2],
                            Scalar::ofFloat(sum));
      }
  return llvm::Error::success();
}
