//===- OutsideHistories.h - Paths around a recorded function -----*- C++ -*-=//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that is recorded has no histories of what it is given. Where it
// differentiates by a Var, and uses another one that is made of that outside,
// the derivative inside would be a part of what it is without recording.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_OUTSIDEHISTORIES_H
#define METAOPS_RUNTIME_RECORDING_OUTSIDEHISTORIES_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <list>

namespace metaops {

/// Derivatives in a recorded function, by numbers of its arguments.
struct InsideDerivatives {
  /// Arguments that the outputs depend on.
  llvm::SmallVector<unsigned> used;
  /// Arguments that derivatives are by, and those of which no value is used
  /// inside: of these a former value may be meant.
  llvm::SmallVector<unsigned> by, byFormer;
};

/// Finds paths from values that functions use to targets, outside of these.
/// Calls that are pending are a part of what the next ones are made of: what is
/// known to lead to none of some targets is not walked again.
class OutsidePaths {
public:
  /// Returns a value of a target that another value which is used is made of;
  /// null if there is none. Of Vars in `byFormer` former values are targets,
  /// too.
  const Node *find(Graph &graph, llvm::ArrayRef<Node *> used,
                   llvm::ArrayRef<const Var *> by,
                   llvm::ArrayRef<const Var *> byFormer);

private:
  /// Values, with their places in the order of recording, that lead to none of
  /// the targets, as far as these are still there.
  struct Search {
    llvm::SmallVector<uint64_t> targets;
    llvm::DenseMap<const Node *, uint64_t> seen;
  };

  Search &getSearch(llvm::SmallVector<uint64_t> targets, size_t numNodes);

  /// The last ones, the latest first.
  std::list<Search> searches;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_OUTSIDEHISTORIES_H
