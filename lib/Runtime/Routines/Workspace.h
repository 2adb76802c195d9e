//===- Workspace.h - Scratch memory of the library's functions --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_ROUTINES_WORKSPACE_H
#define METAOPS_LIB_RUNTIME_ROUTINES_WORKSPACE_H

#include "MetaOps/Support/Counts.h"

#include <cstdint>
#include <limits>

namespace metaops {

/// Arrays of scratch memory, one behind the other.
class Workspace {
public:
  /// Returns where an array begins, in bytes.
  template <typename T> int64_t add(int64_t count) {
    int64_t begin = bytes;
    int64_t lines = addCounts(multiplyCounts(count, sizeof(T)), 63) / 64;
    bytes = addCounts(bytes, multiplyCounts(lines, 64));
    return begin;
  }
  /// Saturated.
  int64_t getBytes() const { return bytes; }

private:
  int64_t bytes = 0;
};

/// Returns the elements of a workspace from what the library answers when it is
/// asked for them. A float rounds numbers above 2^24, down, too.
template <typename T> int64_t readWorkspace(T answer) {
  return static_cast<int64_t>(answer *
                              (1 + double(std::numeric_limits<T>::epsilon()))) +
         1;
}

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_ROUTINES_WORKSPACE_H
