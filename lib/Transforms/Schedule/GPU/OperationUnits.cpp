//===- OperationUnits.cpp - Operations on the units of a GPU --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperationUnits.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::metaop;

/// Polynomials of f64 are about twice as long as those of f32.
static constexpr double kWideFactor = 2;

/// Returns what one operation of a class takes, of f32, or of halves: these are
/// computed in fewer digits (VectorToLLVM/ApproximateFunctions.cpp).
static OperationUnits getSingle(WorkClass kind, Type element) {
  bool isHalf = element.isF16() || element.isBF16();
  switch (kind) {
  case WorkClass::Arithmetic:
  case WorkClass::Move:
  case WorkClass::Scattered:
    return {1, 0, 0};
  case WorkClass::Divide:
    return {isHalf ? 6. : 8., 0, 1};
  case WorkClass::Exponential:
    return isHalf ? OperationUnits{5, 0, 1} : OperationUnits{14, 0, 0};
  case WorkClass::Logarithm:
    return element.isBF16() ? OperationUnits{6, 0, 1}
                            : OperationUnits{18, 0, 0};
  case WorkClass::Tanh:
    return isHalf ? OperationUnits{14, 0, 2} : OperationUnits{30, 0, 1};
  case WorkClass::Erf:
    return isHalf ? OperationUnits{16, 0, 1} : OperationUnits{24, 0, 0};
  case WorkClass::LibraryCall:
    return {40, 0, 0};
  }
  llvm_unreachable("all classes are handled");
}

OperationUnits OperationUnits::of(WorkClass kind, Type element) {
  OperationUnits units = getSingle(kind, element);
  if (!element.isF64())
    return units;
  double factor = kind == WorkClass::Arithmetic ? 1 : kWideFactor;
  return {0, units.single * factor, 0};
}
