//===- StagedReads.h - Reads through shared memory --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_STAGEDREADS_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_STAGEDREADS_H

#include "GpuFunction.h"
#include "LocalValues.h"
#include "MetaOps/Transforms/Schedule/GPU/StagedLayout.h"
#include "ThreadTile.h"

namespace mlir::metaop {

/// The reads of a stage whose boxes all threads of the block copy first, with
/// neighbours in memory side by side.
class StagedReads {
public:
  /// Makes the memory, and moves the stage's reads there. Bindings are those of
  /// the stage, and get that memory and the numbers that places in it need.
  static StagedReads create(GpuFunction &function, GpuStage &stage,
                            StageBindings &bindings);

  /// Says what is known of the places.
  void bindReads(ThreadTile &tile) const;
  bool contains(Value value) const;
  /// Copies the boxes of a block that is at `origins`, by dimension. All its
  /// threads get here; `isRepeated` says that they do so several times.
  void emit(GpuFunction &function, StageBindings &bindings,
            ArrayRef<Value> origins, bool isRepeated) const;

private:
  /// A dimension of a box.
  struct Side {
    unsigned dim;
    int64_t length;
    bool mayExceed;
  };
  struct Box {
    Value value;
    Value memory;
    Type element;
    /// From the longest step in the tensor to the shortest one.
    SmallVector<Side> sides;
    StagedLayout layout;
    /// Returns the number of elements without padding.
    int64_t getSize() const;
  };

  explicit StagedReads(const Stage &stage) : stage(stage) {}
  Box makeBox(GpuFunction &function, const ThreadLevels &levels,
              const StageRead &read, int64_t pad) const;
  AffineExpr getPlace(const Box &box) const;
  Value emitLoad(GpuFunction &function, const StageBindings &bindings,
                 const Box &box, Value number, ArrayRef<Value> origins,
                 Value &place) const;
  void emitRound(GpuFunction &function, const StageBindings &bindings,
                 const Box &box, ArrayRef<Value> origins, Value first,
                 int64_t count, int64_t known) const;
  void emitBox(GpuFunction &function, const StageBindings &bindings,
               const Box &box, ArrayRef<Value> origins) const;

  /// As it was before reads moved.
  Stage stage;
  SmallVector<Box> boxes;
  /// The symbol that stands for the block's place along each dimension.
  unsigned firstSymbol = 0;
  /// Divisors of these.
  SmallVector<int64_t> divisors;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_STAGEDREADS_H
