//===- BodyEmitter.h - Values of a stage's body --------------- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of a stage, apart from the loops in which they are computed: whoever
// opens these says at which iteration a value is wanted, and gets it. Nothing
// here knows of schedules, accumulators or tiles, so that other loops than
// those of `StageEmitter` and `ContractionEmitter`, such as the threads of a
// grid, have the same values.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_BODYEMITTER_H
#define METAOPS_CONVERSION_STAGEBODY_BODYEMITTER_H

#include "MetaOps/Conversion/StageBody/Conditions.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Conversion/StageBody/StageBindings.h"

namespace mlir::metaop {

/// Place at which a body is evaluated: one iteration of the loops, or along one
/// of them as many neighbours as vectors have lanes.
class Iteration {
public:
  explicit Iteration(int64_t vectorLoop = -1, Value mask = {})
      : vectorLoop(vectorLoop), mask(mask) {}
  virtual ~Iteration();

  /// The loop along which the lanes lie; -1 for one iteration.
  int64_t getVectorLoop() const { return vectorLoop; }
  /// The number of an expression of the loops, in the first lane.
  virtual Value emitIndex(AffineExpr expr, ArrayRef<Value> symbols) const = 0;
  /// Returns a value of the body there, which was evaluated before.
  virtual Value getValue(Value value) const = 0;
  /// The least and the largest number of a loop there, of those lanes and
  /// copies that are; none where that is not known.
  using Bound = std::optional<int64_t>;
  virtual std::pair<Bound, Bound> getBounds(unsigned loop) const { return {}; }
  /// A number that an expression is known to be a multiple of in the first
  /// lane, if vectors are to be aligned.
  virtual int64_t getDivisor(AffineExpr expr) const { return 1; }
  /// Returns whether the iteration is one of the stage's; null if it must be.
  virtual Value emitExists() const { return nullptr; }
  /// An element of a buffer.
  virtual Value emitElement(OpBuilder &b, Location loc, Value buffer,
                            Value place) const;
  /// The lanes that are; null for all. Those that are known beforehand, and
  /// those that are once a vector's place is.
  Value getMask() const { return mask; }
  virtual Value emitMask() const { return mask; }

private:
  int64_t vectorLoop;
  Value mask;
};

/// An iteration whose variables are given, null for loops that are not open.
class LoopIteration : public Iteration {
public:
  LoopIteration(OpBuilder &b, Location loc, ArrayRef<Value> loops,
                int64_t vectorLoop = -1, Value mask = {})
      : Iteration(vectorLoop, mask), b(b), loc(loc), loops(loops) {}

  Value emitIndex(AffineExpr expr, ArrayRef<Value> symbols) const override;
  Value getValue(Value value) const override { return values.lookup(value); }
  void setValue(Value value, Value there) { values[value] = there; }

private:
  OpBuilder &b;
  Location loc;
  SmallVector<Value> loops;
  llvm::DenseMap<Value, Value> values;
};

/// Emits the values of a stage's body at an iteration, and accesses to results
/// there.
class BodyEmitter {
public:
  /// Buffers and symbols stay the caller's, who may exchange some.
  BodyEmitter(OpBuilder &b, const Stage &stage, const StageBindings &bindings,
              int64_t lanes)
      : b(b), loc(stage.op->getLoc()), stage(stage), bindings(bindings),
        lanes(lanes) {}

  /// Says that a condition holds wherever something is evaluated.
  void assume(AffineExpr check) { holding.push_back(check); }

  /// A value of the body, from those that it depends on: a vector if it depends
  /// on the loop of the lanes.
  Value emitValue(Value value, const Iteration &at);

  /// The number of an expression of the loops, in the first lane.
  Value emitExpr(AffineExpr expr, const Iteration &at);
  /// Adds that all of `checks` are at least 0.
  void addChecks(ArrayRef<AffineExpr> checks, const Iteration &at,
                 Condition &condition);
  /// A mask of the lanes in which a condition holds; null for all.
  Value emitMask(const Condition &condition);

  /// The elements of a result at an iteration: for each lane, where it depends
  /// on them, and a mask says which.
  bool isVector(const StageWrite &write, const Iteration &at) const;
  Value emitLoad(const StageWrite &write, Value mask, const Iteration &at);
  void emitStore(const StageWrite &write, Value value, Value mask,
                 const Iteration &at, llvm::MaybeAlign stream = {});

private:
  Value emitRead(const StageRead &read, const Iteration &at);
  Value emitScalarRead(const StageRead &read, Value guard, const Iteration &at);
  Value emitVectorRead(const StageRead &read, const Condition &condition,
                       const Iteration &at);
  Value emitFill(const StageRead &read);
  Value emitElementwise(Operation *op, const Iteration &at);
  Value emitGenerator(Operation *op, const Iteration &at);

  Value emitScalarLoad(const StagePlace &place, Value buffer, Type element,
                       const Iteration &at);
  LaneAddress emitAddress(AffineExpr offset, const Iteration &at);
  LaneAddress emitReadAddress(AffineExpr offset, const Iteration &at);
  SmallVector<Value> emitLaneLoops(ArrayRef<AffineExpr> exprs,
                                   const Iteration &at);
  Value emitLaneExpr(AffineExpr expr, const Iteration &at);
  bool mustHold(AffineExpr check, const Iteration &at) const;
  Value emitNearCheck(AffineExpr check, const Iteration &at);
  Value emitCheck(AffineExpr check, const Iteration &at);
  SmallVector<Value> emitSymbols(AffineExpr expr, const Iteration &at);
  bool dependsOnLanes(Value value, const Iteration &at) const {
    return at.getVectorLoop() >= 0 &&
           stage.getLoopsOf(value).test(at.getVectorLoop());
  }
  bool dependsOnLanes(AffineExpr expr, const Iteration &at) const {
    return at.getVectorLoop() >= 0 && stage.dependsOn(expr, at.getVectorLoop());
  }

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  const StageBindings &bindings;
  int64_t lanes;
  SmallVector<AffineExpr> holding;
};

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_BODYEMITTER_H
