//===- Accumulators.h - The results of reductions ------------- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that reductions of a stage combine: in registers as long as no kept
// loop opens inside, and in memory otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_ACCUMULATORS_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_ACCUMULATORS_H

#include "IdentityFill.h"
#include "MetaOps/Conversion/StageBody/Reduction.h"
#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"
#include "UnrolledBody.h"

namespace mlir::metaop {

/// The accumulators of a stage's reductions. Copies of an unrolled loop have
/// their own.
class Accumulators {
public:
  Accumulators(OpBuilder &b, const Stage &stage, ScheduleAttr schedule,
               const StageBindings &bindings, unsigned openedLoops,
               UnrolledBody &body);

  /// Sets what a write combines in memory to the identity: all elements that
  /// the open loops own, and the open parts of further ones.
  void initialiseMemory(const StageWrite &write, ArrayRef<PartOfLoop> parts);
  /// Opens and stores those that start at a depth.
  void open(unsigned depth);
  void store(unsigned depth);
  /// Combines a value of each copy with that of a write.
  void accumulate(unsigned write);

  /// Returns the values that a loop at a depth carries.
  SmallVector<Value> getActive(unsigned depth) const;
  void setActive(unsigned depth, ValueRange values);
  /// Emits accumulation from the identity and adds the outcome to `before`.
  void emitAnew(unsigned depth, ValueRange before,
                llvm::function_ref<void()> emit);
  /// The error of what the loop at a depth carries grows with its length.
  bool accumulateError(unsigned depth) const;
  /// They start outside of the loop outside of a depth.
  bool startOutside(unsigned depth) const;

private:
  Reduction getReduction(const StageWrite &write) const;
  bool isVector(const StageWrite &write) const;
  bool isInterleaved(const StageWrite &write) const;
  void storeWrite(unsigned index);
  void storeCopy(const StageWrite &write, unsigned number, Value value);
  void storeInterleaved(const StageWrite &write, ArrayRef<Value> phases);

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  ScheduleAttr schedule;
  const StageBindings &bindings;
  unsigned openedLoops;
  UnrolledBody &body;
  BodyEmitter &emitter;
  int64_t lanes, unrollLoop;
  /// Depth at which a write's accumulators start: all deeper loops are reduced.
  SmallVector<unsigned> startOf;
  /// Accumulators of each write; empty where they are not open.
  SmallVector<UnrolledBody::Copies> registers;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_ACCUMULATORS_H
