//===- Interpreter.h - What every op means ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_INTERPRETER_INTERPRETER_H
#define METAOPS_INTERPRETER_INTERPRETER_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <system_error>

namespace mlir::metaop {

using Tensors = llvm::SmallVector<Tensor>;

/// The reference interpreter: it defines what every op means. It is written to
/// be read and checked against, not to be fast: plain loops over all elements,
/// one function for each op, nothing fused, every value kept to the end of its
/// function.
///
/// Reductions of floats accumulate in f64 and round once at the end, so results
/// are at least as accurate as those of compiled code. The dialects understood
/// are metaop, func (with calls inside of a module), the branches and loops of
/// scf, and as much of arith and tensor as computes extents and conditions.
class Interpreter {
public:
  /// Gives the value of a `metaop.buffer` or `metaop.scalar`.
  using LeafFunction = std::function<llvm::Expected<Tensor>(Operation *)>;
  /// The meaning of one kind of op: its results from its operands.
  using OpFunction =
      std::function<llvm::Expected<Tensors>(Operation *, ArrayRef<Tensor>)>;

  /// Returns true if the interpreter is to stop.
  using StopFunction = std::function<bool()>;

  /// Calls may nest so deep before an error is given.
  static constexpr unsigned maxCallDepth = 200;

  /// Without `leaf`, buffers and scalars are errors.
  explicit Interpreter(LeafFunction leaf = {});
  Interpreter(const Interpreter &) = delete;
  Interpreter &operator=(const Interpreter &) = delete;

  /// Has `shouldStop` asked before each iteration of a loop, so that a loop
  /// without end has one. What runs then fails with InterpreterStopped.
  void stopWhen(StopFunction shouldStop) { stop = std::move(shouldStop); }

  /// Runs a function. Arguments have to match its type; they are tensors, or
  /// 0-d tensors of `index` for arguments of type `index`. Fails with
  /// ShortOfMemory where there is none, as evaluateAmong does.
  llvm::Expected<Tensors> run(func::FuncOp function,
                              ArrayRef<Tensor> arguments);

  /// Returns whether there is a meaning for the op, apart from what is inside
  /// of it.
  bool knows(Operation *op) const;

  /// The values of a function so far.
  using Values = llvm::DenseMap<Value, Tensor>;

  /// Evaluates one op, a branch or a loop too, on the values around it, to
  /// which those inside of it are added.
  llvm::Expected<Tensors> evaluateAmong(Operation *op, Values &values);

  /// Evaluates one op on values of its operands: any but a branch or a loop,
  /// which reads values from around it.
  llvm::Expected<Tensors> evaluateAll(Operation *op, ArrayRef<Tensor> operands);

  /// The same for an op with one result.
  llvm::Expected<Tensor> evaluate(Operation *op, ArrayRef<Tensor> operands);

private:
  /// The values that the block's last op has.
  llvm::Expected<Tensors> runBlock(Block &block, ArrayRef<Tensor> arguments,
                                   Values &values);
  llvm::Expected<Tensors>
  runBranchOrLoop(Operation *op, ArrayRef<Tensor> operands, Values &values);
  llvm::Expected<Tensors> runIf(scf::IfOp op, ArrayRef<Tensor> operands,
                                Values &values);
  llvm::Expected<Tensors> runFor(scf::ForOp op, ArrayRef<Tensor> operands,
                                 Values &values);
  llvm::Expected<Tensors> runWhile(scf::WhileOp op, ArrayRef<Tensor> operands,
                                   Values &values);
  llvm::Expected<Tensors> runScan(ScanOp op, ArrayRef<Tensor> operands,
                                  Values &values);
  /// Fails if the loop is to stop.
  llvm::Error checkStop(Operation *loop);
  llvm::Expected<Tensors> runCall(Operation *op, ArrayRef<Tensor> operands);

  llvm::StringMap<OpFunction> functions;
  StopFunction stop;
  unsigned callDepth = 0;
};

/// The error of a loop that was to stop.
class InterpreterStopped : public llvm::ErrorInfo<InterpreterStopped> {
public:
  static char ID;

  /// `place` names the loop.
  explicit InterpreterStopped(std::string place) : place(std::move(place)) {}

  void log(raw_ostream &os) const override { os << place; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::operation_canceled);
  }

private:
  std::string place;
};

/// The error of indices that are out of range.
class IndicesOutOfRange : public llvm::ErrorInfo<IndicesOutOfRange> {
public:
  static char ID;

  /// `place` names the op, with what is between it and the message.
  IndicesOutOfRange(std::string place, std::string message)
      : place(std::move(place)), message(std::move(message)) {}

  /// Without the place.
  const std::string &getMessage() const { return message; }
  void log(raw_ostream &os) const override { os << place << message; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::argument_out_of_domain);
  }

private:
  std::string place, message;
};

/// Fails where a matrix is singular, or not positive definite.
class MatrixIsInvalid
    : public llvm::ErrorInfo<MatrixIsInvalid, IndicesOutOfRange> {
public:
  static char ID;

  using ErrorInfo::ErrorInfo;
};

/// Fails, saying what was expected, where `value` is no value of `type`:
/// another element type, rank or static extent.
llvm::Error checkType(const Tensor &value, Type type, const llvm::Twine &what);

/// An error "file:line:col: 'metaop.x' message".
llvm::Error makeOpError(Operation *op, const llvm::Twine &message);

} // namespace mlir::metaop

#endif // METAOPS_INTERPRETER_INTERPRETER_H
