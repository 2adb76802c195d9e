//===- LocalValues.h - What stages of a kernel hand on ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A result that later stages of the kernel read lives where its stage's
// schedule says: in the registers of the threads that computed it, in memory of
// the block, or in the kernel's own results.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_LOCALVALUES_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_LOCALVALUES_H

#include "GpuFunction.h"
#include "MetaOps/Conversion/StageBody/StageBindings.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuStage.h"
#include "ThreadTile.h"

namespace mlir::metaop {

/// The threads that a barrier is for.
enum class Meeting { None, Block, Cluster };

/// The results that stages of a kernel hand on to later ones.
class LocalValues {
public:
  LocalValues(GpuFunction &function, MutableArrayRef<GpuStage> stages,
              const llvm::DenseMap<Value, Value> &buffers);

  /// Makes the memory of values that live in that of the block, and moves reads
  /// of them there. Fails, with a diagnostic, where a value cannot live at its
  /// place.
  void allocate();
  /// Adds to a stage's bindings the memory, and the numbers that places in it
  /// need.
  void bind(unsigned stage, StageBindings &bindings);
  /// Says where reads of a stage find what is in registers, and what is known
  /// of the numbers.
  void bindReads(unsigned stage, ThreadTile &tile) const;
  /// The level at this depth of a stage is open, and the block at `at`.
  void openLevel(const Stage &stage, StageBindings &bindings, unsigned depth,
                 Value at) const;

  /// Returns the stores of a result: to the kernel's result, memory of the
  /// block, both or neither.
  ArrayRef<StageWrite> getStores(const Stage &stage,
                                 const StageWrite &write) const;
  /// Returns whether a store is one to memory of the block.
  static bool isInBlock(const Stage &stage, const StageWrite &store);
  /// Returns whether a result is kept in registers, and what they are.
  bool isKept(const Stage &stage, const StageWrite &write) const;
  void keep(const Stage &stage, const StageWrite &write, RegisterValue value);

  /// Those threads that have to meet before a stage reads what others of them
  /// have written; they do.
  Meeting meetBefore(unsigned stage);
  /// Those among which some of these stages hand something on.
  Meeting getMeeting(unsigned first, unsigned number) const;

private:
  struct Local {
    OpResult result;
    unsigned writer;
    const StageWrite *write;
    ResultPlace place;
    Value memory;
    /// The elements that a block has of it.
    int64_t size = 0;
    RegisterValue kept;
    /// All threads see it.
    bool isSeen = false;
  };
  /// A number that says where the block is along a dimension of a stage.
  struct Origin {
    unsigned depth;
    unsigned symbol;
  };

  const Local *find(Value result) const;
  unsigned getNumShared(unsigned writer, Value result) const;
  void addMemory(Local &local, unsigned numShared);
  AffineExpr getOffset(unsigned stage, AffineMap map, ArrayRef<int64_t> shape,
                       unsigned numShared);
  AffineExpr getClusterOffset(const Local &local, unsigned reader,
                              const StageRead &read, ArrayRef<int64_t> shape,
                              unsigned numShared);
  AffineExpr getOrigin(unsigned stage, unsigned depth);

  GpuFunction &function;
  MutableArrayRef<GpuStage> stages;
  const llvm::DenseMap<Value, Value> &buffers;
  SmallVector<Local> locals;
  llvm::DenseMap<Value, SmallVector<StageWrite, 2>> stores;
  /// Of each stage, what its bindings get.
  SmallVector<SmallVector<Value>> memories;
  SmallVector<SmallVector<Origin>> origins;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_LOCALVALUES_H
