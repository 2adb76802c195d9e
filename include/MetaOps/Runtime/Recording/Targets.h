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
#include <vector>

namespace metaops {

/// The gradient of the loss by itself, which others are made of, and what
/// functions have been given of it, which may have been computed meanwhile.
struct MadeOfLoss {
  NodeRef seed;
  std::vector<NodeRef> given;
};

/// Finds, for each of the Vars by which outputs are to be differentiated, the
/// value that is meant: the present one where an output is made of that, else
/// the youngest of the former ones that an output is made of.
class Targets {
public:
  Targets(Graph &graph, llvm::ArrayRef<Node *> outputs,
          llvm::ArrayRef<const Var *> targets);

  /// By Var; the present one where no output is made of any.
  llvm::ArrayRef<Node *> getValues() const { return values; }
  bool hasOlder() const {
    return llvm::any_of(
        older, [](llvm::ArrayRef<Node *> each) { return !each.empty(); });
  }
  /// By Var: the values that its value repeats, where outputs are made of them.
  llvm::ArrayRef<llvm::SmallVector<Node *, 1>> getTwins() const {
    return twins;
  }
  /// Returns whether the node is the value of a Var, or an older one that may
  /// be meant.
  bool mayBe(unsigned target, const Node *node) const {
    return values[target] == node || llvm::is_contained(older[target], node);
  }
  /// By Var: whether an output is made of the value.
  llvm::ArrayRef<bool> areUsed() const { return used; }

  /// By Var: older values, the youngest first, of which one is meant if
  /// derivatives by those that come before it are zero, as a function with
  /// derivatives of its own may say.
  llvm::ArrayRef<llvm::SmallVector<Node *, 0>> getOlder() const {
    return older;
  }
  /// A gradient that is not made of that of the loss, and the values to be
  /// differentiated by instead.
  struct Missing {
    unsigned place, target;
    llvm::ArrayRef<Node *> candidates;
    /// It is zero, whoever has made it.
    bool isZero;
  };
  /// Gradients instead: that by the candidate that is meant, if any is,
  /// and those by younger ones that only a function which is not linear could
  /// have made. They are added up.
  struct Chosen {
    llvm::SmallVector<Node *, 1> terms;
    const Node *meant = nullptr;
    /// The gradient that is missing is added, too.
    bool isAdded = true;
  };
  /// Finds those among gradients by values, of all Vars or of those that are
  /// used. Throws where it is not known of one whether it is.
  llvm::SmallVector<Missing> findMissing(llvm::ArrayRef<Node *> gradients,
                                         const MadeOfLoss &made) const;
  /// Chooses among the gradients by the candidates of what is missing, and lets
  /// go of the rest.
  llvm::SmallVector<Chosen> choose(llvm::ArrayRef<Missing> missing,
                                   llvm::ArrayRef<Node *> gradients,
                                   const MadeOfLoss &made) const;

  /// A value of which an output is made, whose history is gone, and may have
  /// led to a former value of a Var: to any where none of its values is used,
  /// else to that one or to a younger one.
  struct Doubt {
    /// The present value of that Var.
    Node *target = nullptr;
    Node *cut = nullptr;
  };
  std::optional<Doubt> findDoubt();
  /// Finds one that may have led to a value which is older than that by which
  /// the gradient is missing, and younger than that which is chosen.
  std::optional<Doubt> findDoubt(llvm::ArrayRef<Missing> missing,
                                 llvm::ArrayRef<Chosen> chosen);
  /// Finds one that may have led to a value older than one of which outputs are
  /// made through functions alone.
  std::optional<Doubt> findDoubtOfUncertain() const;

  /// A target that was made inside of a function with derivatives of its own,
  /// of a result of which an output is made: what the function says of its
  /// arguments says nothing of that target. Or a result of a branch or a loop,
  /// where an output is made of another one that is made of it in there.
  struct Inside {
    Node *target = nullptr;
    Node *result = nullptr;
  };
  std::optional<Inside> findInside() const;

private:
  /// Places in the order of recording that history must not have led to, which
  /// was lost in one of the chains.
  struct Range {
    Node *target;
    uint64_t begin, end;
    uint64_t chains = 0;
    bool isOfAnyChain = true;
  };

  std::optional<Doubt> findCut(llvm::ArrayRef<Range> ranges) const;
  bool find(size_t numFormer);
  void findOlder();

  llvm::SmallVector<Node *, 4> outputs;
  llvm::ArrayRef<const Var *> targets;
  Graph &graph;
  llvm::SmallVector<Node *> values;
  llvm::SmallVector<bool> used;
  llvm::SmallVector<llvm::SmallVector<Node *, 1>> twins;
  llvm::SmallVector<llvm::SmallVector<Node *, 0>, 4> older;
  /// By Var: whether outputs are made of the value through functions alone.
  llvm::SmallVector<bool> areUncertain;
  /// Set where an output is made of a function's result, or of one of several
  /// that may be made of each other.
  bool mayBeInside = false;
  /// Set where an output is made of a result of a function, which may not
  /// depend on all arguments.
  bool mayBeUnread = false;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_TARGETS_H
