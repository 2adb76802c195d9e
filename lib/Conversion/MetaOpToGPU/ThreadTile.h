//===- ThreadTile.h - A body in the registers of a thread -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread does some iterations side by side, the tile of its schedule: vectors
// along the dimension of the lanes, single elements along others. A stage's
// body stands there once for each. What does not depend on a dimension is the
// same in all copies along it, and stands there once.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_THREADTILE_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_THREADTILE_H

#include "MetaOps/Conversion/StageBody/BodyEmitter.h"
#include "MetaOps/Conversion/StageBody/Prefixes.h"
#include "MetaOps/Transforms/Schedule/GPU/ThreadLevels.h"

namespace mlir::metaop {

/// A copy, by its number along each dimension, and one lane of its vector or
/// all of them.
struct TilePlace {
  SmallVector<int64_t> copies;
  int64_t lane = -1;

  TilePlace withLane(int64_t lane) const { return {copies, lane}; }
};

/// The result of a stage that its threads keep: what each has in its copies.
struct RegisterValue {
  const ThreadLevels *levels;
  const StageWrite *write;
  /// The dimensions along which there are copies.
  llvm::SmallBitVector dims;
  SmallVector<Value> copies;
};

/// The body of a stage in the tile of one thread.
class ThreadTile : public PrefixBody {
public:
  using Copies = SmallVector<Value>;
  using Dims = llvm::SmallBitVector;

  /// The thread's place, and what was evaluated there.
  struct State {
    /// Of the tile's first element, by dimension.
    SmallVector<Value> positions;
    /// The tile is known to be inside of all dimensions.
    bool isWhole = false;
    llvm::DenseMap<Value, Copies> values;
  };

  /// An element or a vector of the tile.
  class Point : public Iteration {
  public:
    /// `dims` are those whose end is to be heeded.
    Point(ThreadTile &owner, TilePlace place, Dims dims);

    Value emitIndex(AffineExpr expr, ArrayRef<Value> symbols) const override;
    Value getValue(Value value) const override;
    std::pair<Bound, Bound> getBounds(unsigned loop) const override;
    Value emitExists() const override;
    Value emitElement(OpBuilder &b, Location loc, Value buffer,
                      Value place) const override;
    int64_t getDivisor(AffineExpr expr) const override;

  private:
    ThreadTile &owner;
    TilePlace place;
    Dims dims;
  };

  /// Bindings stay the caller's, who may exchange some.
  ThreadTile(OpBuilder &b, const ThreadLevels &levels,
             const StageBindings &bindings);

  const ThreadLevels &getLevels() const { return levels; }
  BodyEmitter &getEmitter() { return emitter; }
  int64_t getNumLanes() const { return lanes; }

  //===--------------------------------------------------------------------===//
  // Where the thread is
  //===--------------------------------------------------------------------===//
  const State &getState() const { return state; }
  void setState(State before) { state = std::move(before); }
  void setPosition(int64_t dim, Value at) { state.positions[dim] = at; }
  void setWhole(bool isWhole) { state.isWhole = isWhole; }
  /// Returns whether `place` is before the end of `dims`; null if it must be.
  Value emitExists(const TilePlace &place, const Dims &dims);

  //===--------------------------------------------------------------------===//
  // Copies
  //===--------------------------------------------------------------------===//
  /// Visits the copies along some dimensions, in order.
  void forEachPlace(const Dims &dims,
                    llvm::function_ref<void(const TilePlace &)> visit) const;
  unsigned getNumCopies(const Dims &dims) const;
  /// A copy by its number among those along some dimensions, and back.
  TilePlace getPlace(unsigned number, const Dims &dims) const;
  unsigned getNumber(const TilePlace &place, const Dims &dims) const;
  /// Returns whether the vectors' dimension is among these.
  bool hasLanes(const Dims &dims) const {
    return lanes > 1 && dims.test(lanesDim);
  }
  Dims getAllDims() const { return Dims(levels.getNumDims(), true); }
  /// Returns whether lanes of a vector may have to be told apart at a
  /// dimension's end.
  bool splitsVectors() const {
    return lanes > 1 && !state.isWhole && levels.mayExceed(lanesDim) &&
           !levels.hasWholeVectors(lanesDim);
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//
  /// Evaluates a value of the body in all copies.
  void emit(Value value);
  Value getValue(Value value, const TilePlace &place);

  unsigned getNumCopies(Value value) const override {
    return getNumCopies(stage.getLoopsOf(value));
  }
  int64_t getNumLanes(Value value) const override {
    return hasLanes(stage.getLoopsOf(value)) ? lanes : 1;
  }
  Value getOperand(Value value, Value operand, unsigned copy) override;
  void setCopies(Value value, ArrayRef<Value> copies) override {
    state.values[value].assign(copies.begin(), copies.end());
  }

  /// Says that a read's value is in registers of the same threads.
  void bindRegisters(Value value, const RegisterValue *kept) {
    registers[value] = kept;
  }
  /// Says that a read is of the memories of all blocks of a cluster, one after
  /// another, each of which has so many elements.
  void bindCluster(Value value, Value memory, int64_t elements) {
    inCluster.insert(value);
    clusterMemories[memory] = elements;
  }
  /// Says that a symbol beyond those of the stage is a multiple of a number.
  void setDivisor(unsigned symbol, int64_t divisor) {
    divisors[symbol] = divisor;
  }
  /// Says that a read is of memory that has all elements of the tile, whether
  /// they are inside of their dimensions or not.
  void setUnguarded(Value value) { unguarded.insert(value); }
  /// Returns whether the end of some dimension matters where the value is
  /// evaluated.
  bool isGuarded(Value value) const;
  /// Stores a value at a place of the tile, where `condition` holds and it
  /// exists.
  void store(const StageWrite &write, Value value, const TilePlace &place,
             Value condition);

private:
  Value emitCopy(Value value, const TilePlace &place, const Dims &dims);
  Value getKept(Value value, const TilePlace &place) const;
  /// Returns the distance of a copy and lane from the tile's first element.
  int64_t getDistance(int64_t dim, const TilePlace &place) const;
  Value emitPosition(int64_t dim, const TilePlace &place);
  bool isVectorAccess(const StagePlace &place) const;
  bool canReadVector(const StageRead &read) const;

  OpBuilder &b;
  Location loc;
  const ThreadLevels &levels;
  const Stage &stage;
  BodyEmitter emitter;
  int64_t lanes, lanesDim;
  llvm::DenseMap<Value, const RegisterValue *> registers;
  llvm::DenseSet<Value> unguarded;
  llvm::DenseSet<Value> inCluster;
  llvm::DenseMap<Value, int64_t> clusterMemories;
  llvm::DenseMap<unsigned, int64_t> divisors;
  State state;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_THREADTILE_H
