//===- ForkMark.h - Telling a forked child from its parent ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_THREADS_FORKMARK_H
#define METAOPS_RUNTIME_THREADS_FORKMARK_H

namespace metaops {

/// Knows whether the process has been forked since the mark was made. Asked
/// before every recorded operation, so it is a read of memory and no system
/// call: of a page that the kernel clears in children.
class ForkMark {
public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark &) = delete;
  ForkMark &operator=(const ForkMark &) = delete;

  /// Returns whether this process is a child of the one that made the mark.
  bool isChild() const;
  /// Makes the mark anew, for the present process.
  void renew();

private:
  /// 1 in the process that made the mark; null where the kernel has no such
  /// pages.
  volatile char *page = nullptr;
  int owner;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_THREADS_FORKMARK_H
