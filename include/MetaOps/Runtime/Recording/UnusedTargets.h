//===- UnusedTargets.h - Targets that a loss does not depend on -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_UNUSEDTARGETS_H
#define METAOPS_RUNTIME_RECORDING_UNUSEDTARGETS_H

namespace metaops {

/// Results for targets of a gradient that the loss does not depend on.
enum class UnusedTargets {
  /// Zeros, if the loss depends on some other target; else an error.
  NotAll,
  /// Zeros.
  Zero,
  /// An empty Var.
  Empty,
  /// An error.
  Error
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_UNUSEDTARGETS_H
