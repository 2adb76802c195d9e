//===- Panel.h - What a contraction packs on its way ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage that shares blocks of loops with the contraction behind it packs the
// part of a factor that one iteration of these blocks reads. Its region is
// known from the reader's maps: each index of the packed tensor is a loop of
// the contraction, and goes through that loop's step. So the part is a box,
// which lies densely in a buffer of the kernel's own.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_PANEL_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_PANEL_H

#include "LoopTree.h"

namespace mlir::metaop {

/// The part of a packed factor that is in memory at a time.
struct Panel {
  /// Of each index of the packed tensor, the loop of the stage that packs and
  /// that of the contraction.
  struct Index {
    unsigned writer, reader;
    /// Elements of the part along it, and from one to the next.
    int64_t extent = 1, stride = 1;
    /// Blocks of it are shared: the part begins where the block does.
    bool isBlocked = false;
  };
  SmallVector<Index> indices;
  int64_t numElements = 1;

  /// The panel of a kernel of two stages. Fails, with a diagnostic, where their
  /// schedules do not share the same blocks, or share too much.
  static FailureOr<Panel> build(const ScheduledStage &writer,
                                const ScheduledStage &reader);

  /// Makes both stages find the elements of the part in its buffer, as if that
  /// began with the whole tensor's first element.
  void rewritePlaces(Stage &writer, Stage &reader) const;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_PANEL_H
