//===- KernelNumbers.h - The numbers of a kernel ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_KERNELNUMBERS_H
#define METAOPS_CONVERSION_KERNELNUMBERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::metaop {

/// Returns the kernels over buffers, for any target, that run one after another
/// in a call of `module`'s only kernel: on a GPU, what its results start from
/// is set by functions of their own.
SmallVector<FunctionOpInterface, 2> collectKernels(ModuleOp module);

/// Makes an argument of each index constant of kernels over buffers, as
/// `metaop-abstract-numbers` describes. All take the numbers of all. Kernels
/// that were abstracted stay as they are.
LogicalResult abstractNumbers(ArrayRef<FunctionOpInterface> kernels);

/// Returns the first of so many numbers among the arguments of an abstracted
/// kernel.
unsigned getFirstNumber(FunctionOpInterface kernel, unsigned count);

/// The binding of one number of an abstracted kernel.
struct NumberBinding {
  /// A constant in the code, or an argument that the code is called with.
  enum class Kind { Constant, Argument } kind = Kind::Constant;
  /// The constant's value, or the argument's position among the arguments.
  /// Numbers may share an argument; positions are used without gaps.
  int64_t value = 0;

  bool operator==(const NumberBinding &other) const {
    return kind == other.kind && value == other.value;
  }
};

/// Replaces the numbers of an abstracted kernel as `bindings` say, one for
/// each, and takes `metaop.numbers` away.
void bindNumbers(FunctionOpInterface kernel, ArrayRef<NumberBinding> bindings);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_KERNELNUMBERS_H
