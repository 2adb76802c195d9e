//===- ExportTrace.h - Exported functions as slices -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_SESSION_EXPORTTRACE_H
#define METAOPS_LIB_RUNTIME_SESSION_EXPORTTRACE_H

#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Session/Export.h"
#include "MetaOps/Runtime/Trace/Trace.h"

namespace metaops {

/// Returns the type of a value by a name.
TensorSpec describeTensor(std::string name, const Node *node);

/// The operations of a function, in a trace of their own.
class ExportTrace {
public:
  ExportTrace(const std::shared_ptr<RecordingSession> &host,
              const ExportedRecording &function)
      : function(function), trace(std::make_shared<Trace>(host)) {
    record();
  }

  Graph &getGraph() const { return trace->getRecorder().getGraph(); }
  /// Returns the slice of the outputs. Its leaves are the inputs, then others.
  const Slice &getSlice() const { return slice; }
  size_t getNumInputs() const { return inputs.size(); }
  /// Returns what holds the value of a leaf that is no input: a value of the
  /// session, or the leaf, if it is a number.
  Node *getSource(Node *leaf) const {
    Node *source = sources.lookup(leaf);
    return source ? source : leaf;
  }
  /// Returns what the function takes and gives, but for weights.
  FunctionSignature describe() const;

private:
  bool draws() const {
    return function.drawsFromState && function.recorded->drawsRandom();
  }
  void addArguments();
  void addOutputs();
  void record();
  void cut();

  const ExportedRecording &function;
  std::shared_ptr<Trace> trace;
  /// Arguments, in places that stay; what random numbers are made of; results.
  std::vector<Var> vars, random, results;
  std::vector<std::pair<std::string, Node *>> inputs, outputs;
  llvm::DenseMap<Node *, Node *> sources;
  Slice slice;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_SESSION_EXPORTTRACE_H
