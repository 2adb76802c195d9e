//===- OperationUnits.h - Operations on the units of a GPU ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_OPERATIONUNITS_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_OPERATIONUNITS_H

#include "MetaOps/Target/Description/CostModel.h"
#include "mlir/IR/Types.h"

namespace mlir::metaop {

/// Instructions that one operation is: arithmetic of f32 and integers; of f64;
/// reciprocals, roots, and powers and logarithms of two.
struct OperationUnits {
  double single = 0, wide = 0, special = 0;

  static OperationUnits of(WorkClass kind, Type element);
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_GPU_OPERATIONUNITS_H
