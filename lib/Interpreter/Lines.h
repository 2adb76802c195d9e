//===- Lines.h - Elements along one dimension -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_INTERPRETER_LINES_H
#define METAOPS_LIB_INTERPRETER_LINES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace mlir::metaop {

/// Calls `visit` with the places of the elements of each line along `dim`.
inline void forEachLine(ArrayRef<int64_t> shape, int64_t dim,
                        llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  int64_t extent = shape[dim], inner = 1, outer = 1;
  for (int64_t k = 0; k < dim; ++k)
    outer *= shape[k];
  for (int64_t k = dim + 1; k < static_cast<int64_t>(shape.size()); ++k)
    inner *= shape[k];
  std::vector<int64_t> places(extent);
  for (int64_t line = 0; line < outer * inner; ++line) {
    int64_t first = line / inner * extent * inner + line % inner;
    for (int64_t k = 0; k < extent; ++k)
      places[k] = first + k * inner;
    visit(places);
  }
}

} // namespace mlir::metaop

#endif // METAOPS_LIB_INTERPRETER_LINES_H
