//===- CustomDerivatives.h - Derivatives that others know -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_AUTODIFF_CUSTOMDERIVATIVES_H
#define METAOPS_TRANSFORMS_AUTODIFF_CUSTOMDERIVATIVES_H

#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "llvm/Support/Error.h"

namespace mlir::metaop {

/// Knows derivatives of `metaop.custom_derivative` that are in no program, such
/// as those of functions of the host's language.
///
/// A sweep of derivatives pauses while it is asked. It may do anything with the
/// block meanwhile but for erasing or changing the operations that the sweep is
/// to look at, and values that the sweep has made.
class CustomDerivatives {
public:
  virtual ~CustomDerivatives() = default;

  /// Returns whether it knows the derivatives of an operation.
  virtual bool knows(CustomDerivativeOp op) = 0;
  /// Is told of the operations that a sweep looks at, before it is asked for
  /// the first time.
  virtual void begin(ArrayRef<Operation *> ops) = 0;
  /// Returns cotangents of the operation's arguments, given those of its
  /// results; null stands for zeros. The sweep goes on to read values that it
  /// has `made` since it has asked last.
  virtual llvm::Expected<SmallVector<Value>>
  pullBack(CustomDerivativeOp op, ArrayRef<Value> cotangents,
           ArrayRef<Value> made) = 0;
  /// Returns tangents of the operation's results, given those of its arguments.
  virtual llvm::Expected<SmallVector<Value>>
  pushForward(CustomDerivativeOp op, ArrayRef<Value> tangents,
              ArrayRef<Value> made) = 0;
  /// Returns what is wrong where a derivative is asked for by what a capture is
  /// made of.
  virtual llvm::Error describeCapture(CustomDerivativeOp op, Value capture) = 0;
  /// Returns what is wrong where neither it nor a rule knows derivatives.
  virtual llvm::Error describeMissing(CustomDerivativeOp op) = 0;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_AUTODIFF_CUSTOMDERIVATIVES_H
