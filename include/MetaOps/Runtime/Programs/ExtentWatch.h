//===- ExtentWatch.h - Extents that vary ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_EXTENTWATCH_H
#define METAOPS_RUNTIME_PROGRAMS_EXTENTWATCH_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Graph/Slice.h"

#include <unordered_map>

namespace metaops {

/// Tells from the programs that were compiled before which extents of the next
/// one vary, and when a program has come to stay.
class ExtentWatch {
public:
  /// Returns the dimensions of the leaves along which kernels are to be shared.
  /// To be asked for each program that is to be compiled.
  std::vector<VaryingDim> note(const Slice &slice, KernelSharing sharing);

  /// Returns whether a program has run so often, among few others of its
  /// skeleton, that it deserves kernels of its own. To be asked for each run of
  /// one that was compiled with dimensions that vary.
  bool hasSettled(const ProgramKey &key);

private:
  /// A vector of numbers, and how often its program has run.
  struct Length {
    std::vector<int64_t> numbers;
    unsigned runs = 0;
  };
  /// Programs of one skeleton: lengths in use, and how many have got kernels of
  /// their own.
  struct Skeleton {
    llvm::SmallVector<Length, 0> lengths;
    unsigned numSettled = 0;
  };
  /// The extents of the leaves of the first and of the last program of a kind,
  /// by how much they had grown to the last one, and which of them are shared
  /// along.
  struct Kind {
    std::vector<int64_t> first, last, steps;
    std::vector<bool> isShared;
  };

  void markGrowing(Kind &kind, llvm::ArrayRef<int64_t> extents);

  /// By hashes, which may collide: that costs kernels, or some of their speed.
  std::unordered_map<uint64_t, Kind> kinds;
  std::unordered_map<uint64_t, Skeleton> skeletons;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_EXTENTWATCH_H
