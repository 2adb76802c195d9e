//===- Targets.h - The values that derivatives are by -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_TARGETS_H
#define METAOPS_RUNTIME_RECORDING_TARGETS_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace metaops {

/// Finds, for each of the Vars by which outputs are to be differentiated, the
/// value that is meant: the present one where an output is made of that, else
/// the youngest of the former ones that an output is made of.
class Targets {
public:
  Targets(Graph &graph, llvm::ArrayRef<Node *> outputs,
          llvm::ArrayRef<const Var *> targets);

  /// By Var; the present one where no output is made of any.
  llvm::ArrayRef<Node *> getValues() const { return values; }
  /// By Var: whether an output is made of the value.
  llvm::ArrayRef<bool> areUsed() const { return used; }

  /// A value of which an output is made, whose history is gone, and may have
  /// led to a former value of a Var: to any where none of its values is used,
  /// else to that one or to a younger one.
  struct Doubt {
    /// The present value of that Var.
    Node *target = nullptr;
    Node *cut = nullptr;
  };
  std::optional<Doubt> findDoubt();

  /// A target that was made inside of a function with derivatives of its own,
  /// of a result of which an output is made: what the function says of its
  /// arguments says nothing of that target. Or a result of a checkpoint, where
  /// an output is made of another one, which may be made of it.
  struct Inside {
    Node *target = nullptr;
    Node *result = nullptr;
  };
  std::optional<Inside> findInside() const;

private:
  bool find(size_t numFormer);

  llvm::SmallVector<Node *, 4> outputs;
  llvm::ArrayRef<const Var *> targets;
  Graph &graph;
  llvm::SmallVector<Node *> values;
  llvm::SmallVector<bool> used;
  /// Set where an output is made of a function's result, or a checkpoint's.
  bool mayBeInside = false;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_TARGETS_H
