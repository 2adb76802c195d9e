//===- UnrolledBody.h - A body in the copies of unrolled loops  -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some iterations of a loop are done side by side (unroll-and-jam), and so are
// the rows of a square tile that is transposed in registers: a stage's body
// stands there once for each of them. What does not depend on the loop is the
// same in all copies, and stands there once.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_UNROLLEDBODY_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_UNROLLEDBODY_H

#include "MetaOps/Conversion/StageBody/BodyEmitter.h"
#include "MetaOps/Conversion/StageBody/Prefixes.h"
#include "MetaOps/Transforms/Schedule/CPU/ScheduledStage.h"

namespace mlir::metaop {

/// The body of a stage in the loops that are open.
class UnrolledBody : public PrefixBody {
public:
  using Copies = SmallVector<Value, 4>;

  /// Rest of a loop that lanes or rows may run over: its number of iterations,
  /// and a mask of them; null where all are.
  struct Tail {
    Value left, mask;
  };

  /// The loops that are open, by their variables, and what was evaluated there.
  struct State {
    SmallVector<Value> loops;
    /// The unrolled loop is open, and has copies.
    bool isUnrolled = false;
    Tail lanes, rows;
    llvm::DenseMap<Value, Copies> values;
  };

  /// One of the copies; across a tile that is transposed, lanes are rows.
  class Copy : public Iteration {
  public:
    Copy(UnrolledBody &owner, unsigned number, bool isTransposed);

    Value emitIndex(AffineExpr expr, ArrayRef<Value> symbols) const override;
    Value getValue(Value value) const override {
      return owner.getValue(value, number);
    }
    std::pair<Bound, Bound> getBounds(unsigned loop) const override;
    Value emitExists() const override;

  private:
    UnrolledBody &owner;
    unsigned number;
    bool isTransposed;
  };

  UnrolledBody(OpBuilder &b, const Stage &stage, ScheduleAttr schedule,
               const StageBindings &bindings);

  BodyEmitter &getEmitter() { return emitter; }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//
  const State &getState() const { return state; }
  void setState(State before) { state = std::move(before); }
  void openLoop(int64_t loop, Value variable) { state.loops[loop] = variable; }
  void openCopies() { state.isUnrolled = true; }
  void maskLanes(Tail tail) { state.lanes = tail; }
  void maskRows(Tail tail) { state.rows = tail; }
  /// The unrolled loop runs over a part of its range, which may not be a
  /// multiple of the copies.
  void restrict() { isRestricted = true; }
  bool isVectorOpen() const {
    return lanes > 1 && state.loops[vectorLoop] != nullptr;
  }

  //===--------------------------------------------------------------------===//
  // Copies
  //===--------------------------------------------------------------------===//
  unsigned getNumCopies() const { return state.isUnrolled ? unroll : 1; }
  Copy getCopy(unsigned number) { return Copy(*this, number, false); }
  /// Returns whether the copies fill the unrolled loop's extent without a rest.
  Value emitIsWhole();
  /// Returns whether a copy lies before the end of the unrolled loop; null if
  /// it must.
  Value emitIsInside(unsigned copy);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//
  /// Evaluates a value of the body in all copies.
  void emit(Value value);
  Value getValue(Value value, unsigned copy) const;
  unsigned getNumCopies(Value value) const override;
  int64_t getNumLanes(Value value) const override;
  Value getOperand(Value value, Value operand, unsigned copy) override {
    return getValue(operand, copy);
  }
  Value emitIsThere(Value value, unsigned copy) override {
    return getCopy(copy).emitExists();
  }
  void setCopies(Value value, ArrayRef<Value> copies) override {
    state.values[value].assign(copies.begin(), copies.end());
  }
  /// Stores a value that is not reduced.
  void store(const StageWrite &write);
  /// Asks for what the open tile reads by rows.
  void prefetchTransposed();

private:
  Copy getTransposed(unsigned number) { return Copy(*this, number, true); }
  SmallVector<Value> emitLoops(unsigned copy, bool isTransposed);
  Value emitClamp(Value variable);
  void prefetch(const StageRead &read);
  Value emitStoreMask(const Copy &copy);
  llvm::MaybeAlign getStream(const StageWrite &write) const;
  bool isTransposed(const StagePlace &place) const;
  Copies readTransposed(Value value);
  void storeTransposed(const StageWrite &write);

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  ScheduleAttr schedule;
  const StageBindings &bindings;
  BodyEmitter emitter;
  int64_t lanes, vectorLoop, unroll, unrollLoop;
  /// The rows of a tile are the copies.
  bool isTile;
  /// Copies may lie behind the end of their loop.
  bool isClamped;
  bool isRestricted = false;
  State state;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_UNROLLEDBODY_H
