//===- FunctionParts.h - Arguments and results of functions -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_AUTODIFF_FUNCTIONPARTS_H
#define METAOPS_LIB_TRANSFORMS_AUTODIFF_FUNCTIONPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::metaop {

/// The arguments that `wrt` names, or all that have gradients. Emits an error
/// where `wrt` names one that is not there, has none, or is named twice.
FailureOr<SmallVector<Value>> getTargets(func::FuncOp function,
                                         ArrayRef<int64_t> wrt);

/// The return of a function of one block; emits an error for another one.
FailureOr<func::ReturnOp> getReturn(func::FuncOp function);

/// Emits an error for a function that others of the module refer to: they would
/// not fit the type that it is given.
LogicalResult verifyIsNotCalled(func::FuncOp function, ModuleOp module);

/// Has the function return `results`, with the arguments that it has now.
void setResults(func::FuncOp function, func::ReturnOp exit,
                ArrayRef<Value> results);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_AUTODIFF_FUNCTIONPARTS_H
