//===- TruePlaces.h - Where booleans are true -------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_TRUEPLACES_H
#define METAOPS_RUNTIME_PROGRAM_TRUEPLACES_H

#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace metaops {

/// Places of a vector at which booleans are true, in order. They are counted
/// first, since nobody knows before how much memory the places take; each
/// thread then writes the places of its part to where the counts say that they
/// begin. No operation has a result whose shape depends on elements, so this
/// runs between programs.
class TruePlaces {
public:
  /// The booleans have a byte each, and stay until the places are written.
  TruePlaces(llvm::ArrayRef<uint8_t> booleans, ThreadPool &threads);

  int64_t count() const { return begins.back(); }
  void write(int64_t *places) const;

private:
  llvm::ArrayRef<uint8_t> getPart(int64_t part) const;

  llvm::ArrayRef<uint8_t> booleans;
  ThreadPool &threads;
  /// Numbers of true ones before each part; of all in the end.
  llvm::SmallVector<int64_t, 65> begins;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_TRUEPLACES_H
