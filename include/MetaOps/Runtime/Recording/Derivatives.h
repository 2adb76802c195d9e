//===- Derivatives.h - Derivatives of what is recorded ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_DERIVATIVES_H
#define METAOPS_RUNTIME_RECORDING_DERIVATIVES_H

#include "MetaOps/Runtime/Recording/Recorder.h"
#include "MetaOps/Runtime/Recording/Targets.h"
#include "MetaOps/Runtime/Recording/UnusedTargets.h"
#include "MetaOps/Transforms/Autodiff/MissingDerivatives.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace metaops {

class RecordingSession;

/// Appends to a graph what computes derivatives of its values. Nothing is
/// computed, not even what targets depend on: that is up to the caller, between
/// a check and what it checks for.
class Derivatives {
public:
  /// Without a session, functions are not asked for derivatives of their own.
  explicit Derivatives(Recorder &recorder, RecordingSession *session = nullptr)
      : recorder(recorder), graph(recorder.getGraph()), session(session) {}

  /// Throw where there are no such derivatives.
  void checkGrad(Node *loss, llvm::ArrayRef<Node *> targets);
  void checkJvp(llvm::ArrayRef<Node *> outputs, llvm::ArrayRef<Node *> inputs,
                llvm::ArrayRef<Node *> tangents);

  /// Throws where outputs do not depend on targets that they have to depend on,
  /// or where what leads there is gone.
  void checkUsed(llvm::StringRef function, llvm::ArrayRef<Node *> outputs,
                 Targets &targets, UnusedTargets unused);

  /// Throws where a gradient is missing that may be by an older value of its
  /// target than any which is chosen.
  void checkLost(Node *loss, Targets &targets,
                 llvm::ArrayRef<Targets::Missing> missing,
                 llvm::ArrayRef<Targets::Chosen> chosen);

  /// Gradients of the sum of the loss by the targets, in reverse mode.
  llvm::SmallVector<Node *> grad(Node *loss, llvm::ArrayRef<Node *> targets);
  /// Returns what the last gradients are made of.
  const MadeOfLoss &getMade() const { return *made; }
  /// Returns how the outputs move where the inputs move by the tangents, in
  /// forward mode.
  llvm::SmallVector<Node *> jvp(llvm::ArrayRef<Node *> outputs,
                                llvm::ArrayRef<Node *> inputs,
                                llvm::ArrayRef<Node *> tangents);

private:
  void checkKnown(llvm::StringRef function, llvm::ArrayRef<Node *> outputs,
                  llvm::ArrayRef<Node *> targets,
                  mlir::metaop::DerivativeMode mode);
  void begin(llvm::ArrayRef<Node *> outputs, llvm::ArrayRef<Node *> targets);
  void adoptAfter(mlir::Operation *last);
  /// The nodes of values among what was emitted after `last`, each on the
  /// device of another value.
  llvm::SmallVector<Node *> finish(mlir::Operation *last,
                                   llvm::ArrayRef<mlir::Value> values,
                                   llvm::ArrayRef<Node *> like);

  Recorder &recorder;
  Graph &graph;
  RecordingSession *session;
  std::optional<MadeOfLoss> made;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_DERIVATIVES_H
