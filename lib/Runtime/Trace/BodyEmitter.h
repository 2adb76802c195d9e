//===- BodyEmitter.h - Recorded functions in regions ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_TRACE_BODYEMITTER_H
#define METAOPS_LIB_RUNTIME_TRACE_BODYEMITTER_H

#include "MetaOps/Runtime/Recording/RecordingSession.h"
#include "MetaOps/Runtime/Trace/ControlFlow.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ValueRange.h"

namespace metaops {

/// Returns a counter of random numbers behind another one.
mlir::Value addOffset(mlir::OpBuilder &builder, mlir::Location location,
                      mlir::Value counter, int64_t offset);

/// Emits the operations of a body in a region. Leaves stay outside, where
/// numbers are no part of programs, and are captured.
class BodyEmitter {
public:
  /// The source of a body's random numbers, in a loop.
  struct Stream {
    mlir::Value key;
    /// Of the body's first number in this trip.
    mlir::Value counter;
  };

  /// Records the leaves, and adds all that the body captures to the values that
  /// the operation is given. Where `ownsStream` is set, random numbers are made
  /// of what `emit` is given.
  BodyEmitter(RecordingSession &session, const RecordedBody &body,
              llvm::SmallVectorImpl<Node *> &given, bool ownsStream = false);

  /// Emits the body's operations of its arguments at the builder's place, and
  /// returns the results. `given` are the values that the operation was given.
  llvm::SmallVector<mlir::Value> emit(mlir::OpBuilder &builder,
                                      mlir::ValueRange arguments,
                                      mlir::ValueRange given,
                                      const Stream &stream = {}) const;

private:
  using Step = RecordedFunction::Step;

  Node *recordLeaf(RecordingSession &session, const Step &step) const;
  void emitStep(mlir::OpBuilder &builder, const Step &step,
                llvm::SmallVectorImpl<mlir::Value> &values) const;

  const RecordedFunction &function;
  bool ownsStream;
  /// The place among the given values of captures, then of leaves.
  size_t begin, numCaptured;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_TRACE_BODYEMITTER_H
