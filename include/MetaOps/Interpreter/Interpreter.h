//===- Interpreter.h - What every op means ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_INTERPRETER_INTERPRETER_H
#define METAOPS_INTERPRETER_INTERPRETER_H

#include "MetaOps/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace mlir::metaop {

using Tensors = llvm::SmallVector<Tensor>;

/// The reference interpreter: it defines what every op means. It is written to
/// be read and checked against, not to be fast: plain loops over all elements,
/// one function for each op, nothing fused, every value kept to the end of its
/// function.
///
/// Reductions of floats accumulate in f64 and round once at the end, so results
/// are at least as accurate as those of compiled code. The dialects understood
/// are metaop, func (with calls inside of a module), and as much of arith and
/// tensor as computes extents.
class Interpreter {
public:
  /// Gives the value of a `metaop.buffer` or `metaop.scalar`.
  using LeafFunction = std::function<llvm::Expected<Tensor>(Operation *)>;
  /// The meaning of one kind of op: its results from its operands.
  using OpFunction =
      std::function<llvm::Expected<Tensors>(Operation *, ArrayRef<Tensor>)>;

  /// Calls may nest so deep before an error is given.
  static constexpr unsigned maxCallDepth = 200;

  /// Without `leaf`, buffers and scalars are errors.
  explicit Interpreter(LeafFunction leaf = {});
  Interpreter(const Interpreter &) = delete;
  Interpreter &operator=(const Interpreter &) = delete;

  /// Runs a function. Arguments have to match its type; they are tensors, or
  /// 0-d tensors of `index` for arguments of type `index`.
  llvm::Expected<Tensors> run(func::FuncOp function,
                              ArrayRef<Tensor> arguments);

  /// Evaluates one op on values of its operands.
  llvm::Expected<Tensors> evaluateAll(Operation *op, ArrayRef<Tensor> operands);

  /// The same for an op with one result.
  llvm::Expected<Tensor> evaluate(Operation *op, ArrayRef<Tensor> operands);

private:
  llvm::Expected<Tensors> runBlock(Block &block, ArrayRef<Tensor> arguments);
  llvm::Expected<Tensors> runCall(Operation *op, ArrayRef<Tensor> operands);

  llvm::StringMap<OpFunction> functions;
  unsigned callDepth = 0;
};

/// Fails, saying what was expected, where `value` is no value of `type`:
/// another element type, rank or static extent.
llvm::Error checkType(const Tensor &value, Type type, const llvm::Twine &what);

/// An error "file:line:col: 'metaop.x' message".
llvm::Error makeOpError(Operation *op, const llvm::Twine &message);

} // namespace mlir::metaop

#endif // METAOPS_INTERPRETER_INTERPRETER_H
