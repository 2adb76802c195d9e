//===- CallPlace.h - Places of calls in the user's program ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_CALLPLACE_H
#define METAOPS_RUNTIME_GRAPH_CALLPLACE_H

#include <cstdint>

namespace metaops {

/// The place of a call in the user's program: a hash of the instructions at
/// which it and its callers stand. A loop that comes round is at the same place
/// again; a layer that is called from two lines is at two.
struct CallPlace {
  /// 0 where nobody knows.
  uint64_t hash = 0;

  bool isKnown() const { return hash != 0; }
  bool operator==(CallPlace other) const { return hash == other.hash; }
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_CALLPLACE_H
