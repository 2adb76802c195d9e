//===- OpTable.h - What the files of the interpreter share ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_INTERPRETER_OPTABLE_H
#define METAOPS_LIB_INTERPRETER_OPTABLE_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Interpreter/Interpreter.h"

namespace mlir::metaop {

/// From the name of an op to its meaning.
using OpFunctions = llvm::StringMap<Interpreter::OpFunction>;

/// Adds the function of an op with one result.
template <typename OpTy>
void addOp(OpFunctions &functions,
           std::function<llvm::Expected<Tensor>(OpTy, ArrayRef<Tensor>)> f) {
  functions[OpTy::getOperationName()] =
      [f = std::move(f)](Operation *op,
                         ArrayRef<Tensor> operands) -> llvm::Expected<Tensors> {
    llvm::Expected<Tensor> result = f(cast<OpTy>(op), operands);
    if (!result)
      return result.takeError();
    Tensors results;
    results.push_back(std::move(*result));
    return results;
  };
}

void addElementwiseOps(OpFunctions &functions);
void addPlacementOps(OpFunctions &functions);
void addCheckOps(OpFunctions &functions);
void addReindexOps(OpFunctions &functions);
void addReduceOps(OpFunctions &functions);
void addLeafOps(OpFunctions &functions);
void addHostOps(OpFunctions &functions);
void addPrefixOps(OpFunctions &functions);
void addRoutineOps(OpFunctions &functions);
void addFftOp(OpFunctions &functions);

/// Returns the results of a routine by its name; fails where it is another than
/// those of linear algebra.
llvm::Expected<Tensors> evaluateRoutine(RoutineOp op,
                                        ArrayRef<Tensor> operands);

/// Combines two elements, exactly or in f64; null for what `linear` and `none`
/// do, of which operations have an own way.
using ScalarCombiner = Scalar (*)(Scalar, Scalar);
ScalarCombiner getCombiner(Combiner combiner);
/// Returns the value that leaves elements as they are.
Scalar getIdentity(Combiner combiner, ElementKind kind);

/// "file:line:col: 'metaop.x' op ", for errors.
std::string describePlace(Operation *op);

/// The values of some of an op's operands.
inline ArrayRef<Tensor> valuesOf(OperandRange range,
                                 ArrayRef<Tensor> operands) {
  return operands.slice(range.empty() ? 0 : range.getBeginOperandIndex(),
                        range.size());
}

/// Fails where there are not as many values as types, or one is no value of its
/// type; `what` names one of them.
llvm::Error checkTypes(ArrayRef<Tensor> values, TypeRange types,
                       const llvm::Twine &what);

/// Returns whether the interpreter knows the op, and runs its regions with the
/// values of the function around it.
bool isBranchOrLoop(Operation *op);

/// The numbers in 0-d tensors of integers or `index`.
SmallVector<int64_t> getIntegers(ArrayRef<Tensor> values);

/// A tensor of zeros of an op's result type, whose dynamic extents are given in
/// order.
llvm::Expected<Tensor> createResult(Value result, ArrayRef<Tensor> extents);

} // namespace mlir::metaop

#endif // METAOPS_LIB_INTERPRETER_OPTABLE_H
