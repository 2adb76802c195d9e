//===- MemoryReport.h - Who holds memory ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_REPORT_MEMORYREPORT_H
#define METAOPS_RUNTIME_REPORT_MEMORYREPORT_H

#include "MetaOps/Runtime/Memory/Allocator.h"

namespace metaops {

class Graph;

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

#endif // METAOPS_RUNTIME_REPORT_MEMORYREPORT_H
