//===- KeptValues.h - Values that a program keeps for later -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_PLAN_KEPTVALUES_H
#define METAOPS_LIB_RUNTIME_PLAN_KEPTVALUES_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace metaops {

/// Finds the values of a slice that its program is to keep beside what is asked
/// for: the slice has just been traced, and its outputs are marked so.
class KeptValues {
public:
  /// `savesFor` says of which values gradients are to be expected.
  KeptValues(Graph &graph, const Slice &slice,
             llvm::function_ref<bool(const Node *)> savesFor);

  /// Returns what is to be kept, in the order of the slice. It fits as far as
  /// that is `budget` bytes.
  std::vector<PlannedValue> choose(int64_t budget);
  /// Values that will be asked for again, and that are not kept.
  llvm::ArrayRef<Node *> getLeftOut() const { return leftOut; }
  /// Counts the operators that have been computed before for values that
  /// somebody was waiting for then.
  int64_t countRepeated() const { return repeated; }

private:
  /// Facts about a value of the slice.
  struct Value {
    /// Somebody will ask for it.
    bool isLive = false;
    /// A reduction or a routine lies between it and what is in memory.
    bool isFar = false;
    /// A gradient may read it, or compute what it reads of it.
    bool isRead = false;
    /// It is kept for gradients.
    bool isForGradient = false;
  };
  struct Candidate {
    Node *node;
    KeptFor reason;
    int64_t bytes;
    /// Between it and what is in memory, where that has been counted.
    uint32_t operators = 0;
    bool fits = true;
  };

  void findLive();
  void findRepeated();
  void countOperators();
  void fit(int64_t budget);
  void findCandidates();
  void findReadRows(Node *op, llvm::function_ref<bool(const Node *)> savesFor);
  void findForGradients(llvm::function_ref<bool(const Node *)> savesFor);
  std::optional<KeptFor> findReason(const Node *node, bool isFar) const;
  bool isAwaited(const Node *node);
  bool isLiveOutside(Node *node);
  bool feedsReindex(const Node *node) const;
  bool mayBeKept(const Node *node) const;
  bool isWritten(const Node *node) const;
  bool isEnlarged(const Node *node) const;

  Value &valueOf(const Node *node) { return values[node->position]; }
  const Value &valueOf(const Node *node) const {
    return values[node->position];
  }

  Graph &graph;
  const Slice &slice;
  /// By position.
  std::vector<Value> values;
  std::vector<Candidate> candidates;
  std::vector<Node *> leftOut;
  /// Of pending values outside of the slice: whether they are live.
  llvm::DenseMap<Node *, bool> outside;
  int64_t repeated = 0;
  bool anyLive = false;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_PLAN_KEPTVALUES_H
