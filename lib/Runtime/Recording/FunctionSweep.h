//===- FunctionSweep.h - Asking functions for derivatives -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_RECORDING_FUNCTIONSWEEP_H
#define METAOPS_LIB_RUNTIME_RECORDING_FUNCTIONSWEEP_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Transforms/Autodiff/CustomDerivatives.h"

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace metaops {

class RecordingSession;

/// Asks functions of the user's for their derivatives while others are
/// recorded. What is unfinished meanwhile lives as long as this does.
class FunctionSweep final : public mlir::metaop::CustomDerivatives {
public:
  /// `function` is what errors call the sweep. `last` is the last operation of
  /// the block that has nodes, and `adoptAfter` gives nodes to those behind
  /// one. What functions are given is noted in `given`, if that is not null.
  FunctionSweep(RecordingSession *session, Graph &graph,
                llvm::StringRef function, llvm::ArrayRef<Node *> outputs,
                llvm::ArrayRef<Node *> targets, mlir::Operation *last,
                std::function<void(mlir::Operation *)> adoptAfter,
                std::vector<NodeRef> *given = nullptr);
  ~FunctionSweep() override;
  FunctionSweep(const FunctionSweep &) = delete;
  FunctionSweep &operator=(const FunctionSweep &) = delete;

  bool knows(mlir::metaop::CustomDerivativeOp op) override;
  void begin(llvm::ArrayRef<mlir::Operation *> ops) override;
  llvm::Expected<llvm::SmallVector<mlir::Value>>
  pullBack(mlir::metaop::CustomDerivativeOp op,
           llvm::ArrayRef<mlir::Value> cotangents,
           llvm::ArrayRef<mlir::Value> made) override;
  llvm::Expected<llvm::SmallVector<mlir::Value>>
  pushForward(mlir::metaop::CustomDerivativeOp op,
              llvm::ArrayRef<mlir::Value> tangents,
              llvm::ArrayRef<mlir::Value> made) override;
  llvm::Error describeCapture(mlir::metaop::CustomDerivativeOp op,
                              mlir::Value capture) override;
  llvm::Error describeMissing(mlir::metaop::CustomDerivativeOp op) override;
  /// Throws where an operation says no derivatives, as one of a recorded
  /// function may.
  [[noreturn]] static void failMissing(llvm::StringRef function,
                                       mlir::metaop::CustomDerivativeOp op);

  /// Returns the last operation that has nodes.
  mlir::Operation *getLast() const { return last; }
  /// Returns the values, or throws what a function has thrown.
  llvm::SmallVector<mlir::Value>
  expect(llvm::Expected<llvm::SmallVector<mlir::Value>> values);

private:
  using Method = std::vector<Var> (FunctionCall::*)(std::vector<Var>);

  void keep(Node *node);
  llvm::Expected<llvm::SmallVector<mlir::Value>>
  ask(Method method, mlir::metaop::CustomDerivativeOp op,
      llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<mlir::Value> made);

  /// Null where nobody is asked.
  RecordingSession *session;
  Graph &graph;
  std::string function;
  llvm::SmallVector<Node *> outputs, targets;
  mlir::Operation *last;
  std::function<void(mlir::Operation *)> adoptAfter;
  std::vector<NodeRef> *given;
  /// The values that the sweep comes to, and those that it has made.
  std::vector<Node *> visited, made;
  std::exception_ptr exception;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_RECORDING_FUNCTIONSWEEP_H
