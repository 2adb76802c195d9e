//===- FunctionRecorder.h - Calls with derivatives of their own -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_FUNCTIONRECORDER_H
#define METAOPS_RUNTIME_RECORDING_FUNCTIONRECORDER_H

#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Runtime/Graph/NodeRef.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace metaops {

class FunctionCall;
class Graph;
class RecordingSession;

/// Records that the results of a function of the user's have derivatives of
/// its own. Made before the function is called.
class FunctionRecorder {
public:
  /// Notes what the function is given: tensors of floats.
  FunctionRecorder(RecordingSession &session,
                   llvm::ArrayRef<const Var *> arguments);

  /// Returns the number of the first argument that is another value than
  /// before, as the function has rebound it; none if all are as they were.
  std::optional<size_t> findRebound(RecordingSession &session,
                                    llvm::ArrayRef<const Var *> arguments);
  /// Emits what is in an operation's rules, each of which has an empty block.
  using EmitRules =
      llvm::function_ref<void(mlir::metaop::CustomDerivativeOp op)>;

  /// Returns handles on the results, tensors of floats, through which gradients
  /// flow as `call` says, or, where it is not known any more, as the rules say.
  /// `areGivenUp` says which results nobody will hold but for their handles.
  std::vector<Var> record(RecordingSession &session,
                          llvm::ArrayRef<const Var *> results,
                          llvm::ArrayRef<bool> areGivenUp,
                          std::shared_ptr<FunctionCall> call,
                          unsigned numRules = 0, EmitRules emitRules = nullptr);

private:
  void findInside(Graph &graph, llvm::ArrayRef<Node *> results);
  void stopInside(Graph &graph, llvm::ArrayRef<Node *> givenUp);

  llvm::SmallVector<NodeRef> arguments;
  /// The place of the last value before the call in the order of recording.
  uint64_t start;
  /// Values that gradients would flow through from the results to what is older
  /// than the call: those that it has made, and the older ones, but for its
  /// arguments.
  std::vector<Node *> inside;
  llvm::SmallVector<Node *> captures;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_FUNCTIONRECORDER_H
