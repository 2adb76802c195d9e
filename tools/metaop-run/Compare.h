//===- Compare.h - Results of two runs side by side -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TOOLS_METAOP_RUN_COMPARE_H
#define METAOPS_TOOLS_METAOP_RUN_COMPARE_H

#include "MetaOps/Interpreter/Tensor.h"

#include <optional>

namespace mlir::metaop {

/// `computed` is accepted where it differs from `expected` by no more than
/// `absolute + relative * |expected|`.
struct Tolerance {
  double relative = 0;
  double absolute = 0;

  /// Returns what rounding explains in a few hundred operations of an element
  /// type; nothing for integers and booleans.
  static Tolerance ofType(ElementKind kind);
  /// "1e-5,1e-6", or one number for both.
  static llvm::Expected<Tolerance> parse(StringRef text);
};

/// Difference of two tensors of one type.
struct Difference {
  int64_t elements = 0;
  /// Elements beyond the tolerance.
  int64_t beyond = 0;
  /// The largest difference, where it is and what stands there. NaN beside a
  /// number is infinitely different.
  double largest = 0;
  SmallVector<int64_t> place;
  double computed = 0;
  double expected = 0;
};

Difference findDifference(const Tensor &computed, const Tensor &expected,
                          Tolerance tolerance);

} // namespace mlir::metaop

#endif // METAOPS_TOOLS_METAOP_RUN_COMPARE_H
