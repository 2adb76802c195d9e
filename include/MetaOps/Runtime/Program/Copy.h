//===- Copy.h - Tensors copied into windows of others -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_COPY_H
#define METAOPS_RUNTIME_PROGRAM_COPY_H

#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace metaops {

/// One dimension of a tensor that is copied into a window of another. Both are
/// dense and row-major.
struct CopyDim {
  /// Of the tensor that is copied, and of the one that it is copied into.
  int64_t extent, room;
  /// The first element of the window.
  int64_t start;
  /// The buffer of a 64-bit number that is added to the start, or -1. What lies
  /// outside of the room then is left out.
  int64_t startBuffer;
};

struct Copy {
  /// The buffer that is read.
  int64_t source;
  int64_t elementBytes;
  /// Outermost first.
  std::vector<CopyDim> dims;
};

/// Returns the number of threads that there is work for in copies of so many
/// bytes.
int64_t getMaxCopyThreads(int64_t bytes);

/// Does copies into windows of one tensor, which do not overlap, shared among
/// threads by bytes. `buffers` holds what the copies name by number, and the
/// tensor at `dest`. Returns where it was when it was stopped, for `begin`
/// another time.
std::optional<int64_t> runCopies(llvm::ArrayRef<Copy> copies,
                                 llvm::ArrayRef<void *> buffers, void *dest,
                                 ThreadPool &threads,
                                 StopCheck shouldStop = nullptr,
                                 int64_t begin = 0);

/// The same for bytes that are as they are.
std::optional<int64_t> copyBytes(void *to, const void *from, int64_t bytes,
                                 ThreadPool &threads, StopCheck shouldStop,
                                 int64_t begin);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_COPY_H
