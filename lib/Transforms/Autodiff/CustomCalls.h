//===- CustomCalls.h - Where a sweep asks for derivatives -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_CUSTOMCALLS_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_CUSTOMCALLS_H

#include "ActiveOps.h"
#include "MetaOps/Transforms/Autodiff/CustomDerivatives.h"
#include "mlir/IR/Builders.h"

namespace mlir::metaop {

/// Gives a sweep the derivatives of `metaop.custom_derivative`: by the
/// operation's rules, or by asking for them.
class CustomCalls {
public:
  /// `source` may be null.
  CustomCalls(OpBuilder &builder, const ActiveOps &active,
              CustomDerivatives *source);

  /// Notes a value that the sweep goes on to read.
  void note(Value value) {
    if (asks)
      made.push_back(value);
  }
  /// Returns cotangents of the arguments, given those of the results; null
  /// stands for zeros.
  llvm::Expected<SmallVector<Value>> pullBack(CustomDerivativeOp op,
                                              ArrayRef<Value> cotangents);
  /// Returns tangents of the results, given those of the arguments.
  llvm::Expected<SmallVector<Value>> pushForward(CustomDerivativeOp op,
                                                 ArrayRef<Value> tangents);
  /// Returns the operation behind which all that is there was emitted since the
  /// sweep has asked last.
  Operation *getBefore() const { return before; }

private:
  using Method = llvm::Expected<SmallVector<Value>> (CustomDerivatives::*)(
      CustomDerivativeOp, ArrayRef<Value>, ArrayRef<Value>);

  llvm::Error checkCaptures(CustomDerivativeOp op);
  llvm::Error describeMissing(CustomDerivativeOp op);
  llvm::Expected<SmallVector<Value>> ask(Method method, CustomDerivativeOp op,
                                         ArrayRef<Value> given);

  OpBuilder &builder;
  const ActiveOps &active;
  CustomDerivatives *source;
  /// The source will be asked; it has been told so.
  bool asks = false, hasBegun = false;
  Operation *before;
  SmallVector<Value> made;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_CUSTOMCALLS_H
