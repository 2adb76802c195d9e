//===- GradientForms.h - Gradients that are made of nothing -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gradient is linear in that of the loss. One that is not made of it, as what
// a function returns for a result that the loss does not depend on, is zero,
// whatever operations have made it.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_RECORDING_GRADIENTFORMS_H
#define METAOPS_LIB_RUNTIME_RECORDING_GRADIENTFORMS_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Recording/Targets.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace metaops {

/// Knows gradients by the operations that they are made of.
class GradientForms {
public:
  /// Looks at the values recorded from the gradient of the loss on; at none if
  /// that is gone.
  GradientForms(Graph &graph, const MadeOfLoss &made);

  /// Returns whether the gradient is made of that of the loss, by more than
  /// what is multiplied by zero.
  bool isOfSeed(const Node *gradient) const {
    return ofSeed.contains(gradient);
  }
  /// Returns whether the gradient is zero, whatever it is made of.
  bool isZero(const Node *gradient) const { return zeros.contains(gradient); }
  /// Returns whether the gradient is made of values in memory alone that have
  /// come up since, of whatever somebody has made them.
  bool isUnknown(const Node *gradient) const {
    return unknown.contains(gradient);
  }

private:
  using Set = llvm::SmallPtrSetImpl<const Node *>;

  void add(const Node *node);
  /// Returns whether the node is made of a value of the set.
  bool isMadeOfAny(const Node *node, const Set &set) const;
  bool isOfSome(const Node *node) const;
  bool isZeroByForm(const Node *node) const;

  Graph &graph;
  llvm::SmallPtrSet<const Node *, 32> ofSeed;
  llvm::SmallPtrSet<const Node *, 8> zeros, unknown;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_RECORDING_GRADIENTFORMS_H
