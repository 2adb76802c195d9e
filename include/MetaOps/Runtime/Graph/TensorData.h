//===- TensorData.h - Values in memory --------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_TENSORDATA_H
#define METAOPS_RUNTIME_GRAPH_TENSORDATA_H

#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Queue/Queue.h"

#include <cstdint>
#include <vector>

namespace metaops {

/// A value in memory. To be read when `ready` has run; see Session::wait.
struct TensorData {
  BufferRef buffer;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Ticket ready;
};

/// A fetch whose values are computed, or will be by runs in the queue.
struct CompletedFetch {
  uint64_t id;
  std::vector<TensorData> values;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_TENSORDATA_H
