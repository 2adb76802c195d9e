//===- MemoryHolders.h - Holders of memory ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RUN_MEMORYHOLDERS_H
#define METAOPS_RUNTIME_RUN_MEMORYHOLDERS_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Memory/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

/// Whom a value in memory is kept for: a Var or a fetch holds it; what has been
/// recorded and not run reads it; or gradients of what is held may.
enum class MemoryReason { Held, Pending, Gradients };

/// A value in memory that the session knows of.
struct MemoryHolder {
  int64_t bytes = 0;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  /// Vars that hold it.
  unsigned vars = 0;
  /// The line that recorded it.
  std::string line;
  /// Whom it is kept for.
  MemoryReason use = MemoryReason::Held;
  /// The line of a value that somebody holds, and that needs this one; empty
  /// where somebody holds this one.
  std::string neededBy;
};

/// The values in memory, largest first. The session is entered.
std::vector<MemoryHolder> findHolders(Graph &graph);

/// The error with the largest values in memory at its end: what each is, and
/// the line that recorded it. The session is entered.
OutOfMemory explainShortage(Graph &graph, const OutOfMemory &error);

/// Calls `take`, which allocates, and returns what it returns. Where there is
/// no memory, has `makeRoom` free some and tries once more. Throws OutOfMemory
/// that names the largest holders. The session is entered.
template <typename MakeRoom, typename Take>
auto takeMemory(Graph &graph, MakeRoom makeRoom, Take take) {
  try {
    return take();
  } catch (const OutOfMemory &) {
  }
  makeRoom();
  try {
    return take();
  } catch (const OutOfMemory &error) {
    throw explainShortage(graph, error);
  }
}

} // namespace metaops

#endif // METAOPS_RUNTIME_RUN_MEMORYHOLDERS_H
