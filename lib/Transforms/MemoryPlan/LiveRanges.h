//===- LiveRanges.h - How long the values of a program live -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_MEMORYPLAN_LIVERANGES_H
#define METAOPS_LIB_TRANSFORMS_MEMORYPLAN_LIVERANGES_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "PlaceParts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace mlir::metaop {

/// Returns true if the operation is done when a program runs, one step after
/// another.
bool isStep(Operation *op);

/// Returns whether the op is a loop that programs have.
bool isLoop(Operation *op);
/// Returns the carries of such a loop, as the arguments of its first block.
Block::BlockArgListType getCarried(Operation *loop);
/// Returns the values of its first trip, and those that its body yields for the
/// next one.
OperandRange getInitials(Operation *loop);
MutableArrayRef<OpOperand> getNextValues(Operation *loop);

/// The live ranges of a program's values. A root is a value that has memory of
/// its own; any other is a view or a part of one, or another name for it.
class LiveRanges {
public:
  /// Fails at what no memory can be planned for. Parts of concats are placed
  /// in these where they begin at multiples of so many bytes.
  static FailureOr<LiveRanges> find(func::FuncOp main, SymbolTable &symbols,
                                    int64_t partAlignment);

  Value getRoot(Value value) const;
  /// Returns whether the value is all of its root.
  bool isWhole(Value value) const {
    return getNamed(getViewed(value)) == getRoot(value);
  }
  /// Bytes from the root's beginning to the value's.
  int64_t getOffset(Value value) const;
  /// Returns the place of a value in another one; null where it is no part.
  const PartPlace *getPart(Value value) const;

  /// When an op of the program is run. Those of a branch or a loop come behind
  /// it, and before its end.
  int64_t getTime(Operation *op) const { return times.lookup(op); }
  int64_t getEndTime(Operation *op) const { return endTimes.lookup(op); }
  int64_t getNumTimes() const { return numTimes; }
  /// The last time that a root is read; -1 if it never is.
  int64_t getLastRead(Value root) const {
    auto read = lastRead.find(root);
    return read == lastRead.end() ? -1 : read->second;
  }

  /// Which result of the program a root is, the first of several.
  std::optional<unsigned> getReturned(Value root) const {
    auto *it = returned.find(root);
    return it == returned.end() ? std::nullopt : std::optional(it->second);
  }

  /// Returns whether a branch's result is where the value is that the branch
  /// which was taken yields, rather than in a place of its own.
  bool isChosen(OpResult result) const { return sources.contains(result); }
  /// Returns whether a yielded value is made in the block that yields it, and
  /// may be so in the place of what it becomes.
  bool isMadeHere(OpOperand &yielded) const;
  /// The same of a row that a scan yields, the first of several rows that are
  /// one value: whether it is made in its place among all rows. What is carried
  /// may be that, too.
  bool isMadeInRow(OpOperand &yielded) const;
  /// Returns whether a loop has a carry in one place, in all trips.
  bool isInOnePlace(BlockArgument argument) const {
    return inOnePlace.contains(argument);
  }
  /// The roots that the loop's body makes there, over each other.
  ArrayRef<Value> getMadeOver(BlockArgument argument) const {
    return inOnePlace.find(argument)->second;
  }
  /// Returns the root that a placement puts something else on top of, and that
  /// it may be made in if nothing reads that later; null where there is none.
  Value getCovered(PlacementOpInterface op) const;
  /// Returns whether a kernel reads no element of a root behind the one of the
  /// result that it would write there.
  bool mayComputeOver(OpResult result, Value root) const;
  /// Returns whether a root may be in the memory of another one, as what a
  /// branch has chosen, or what a loop carries in its first trip.
  bool mayShareMemory(Value root, Value other) const;
  /// Returns whether a step at `time` may write over an argument of the
  /// program: whoever runs that may read it if a check fails.
  bool mayBeWrittenOver(BlockArgument argument, int64_t time) const;
  /// The rows that what a scan carries is one of from the second trip on; null
  /// where it is in places of its own.
  Value getCarriedRows(BlockArgument argument) const {
    return carriedRows.lookup(argument);
  }
  /// Returns whether kernels may read and write such a value in each of many
  /// that lie one behind the other.
  bool mayBeRow(Value value) const;

private:
  /// Ways in which a loop's body makes the next value of a carry over that of
  /// the trip.
  struct OnePlace {
    /// A step, or a loop inside, and the root that it writes over.
    struct Maker {
      Operation *op;
      Value over;
    };
    SmallVector<Maker> makers;
    /// Roots in that place, but for the carry.
    llvm::SetVector<Value> values;
    /// Set where other places took copies in each trip.
    bool savesCopies = false;
  };

  LiveRanges(func::FuncOp main, SymbolTable &symbols, int64_t partAlignment)
      : main(main), symbols(symbols), partAlignment(partAlignment) {}

  /// Returns the value that a value is another name for.
  Value getNamed(Value value) const;
  LogicalResult numberBlock(Block &block);
  LogicalResult numberOp(Operation &op);
  LogicalResult verifyOp(Operation &op) const;
  LogicalResult noteReturned();
  void chooseResults();
  void choosePlaces(Operation *loop);
  Value findRows(ScanOp loop, Value next) const;
  int64_t countRoots(Operation *op, Value root) const;
  Value getComputedOver(OpResult result, BlockArgument argument) const;
  /// The outermost carry, so far, in whose one place a root is, which may be
  /// the carry; null where it is in none.
  BlockArgument getCarryAround(Value root) const;
  bool addBranch(OpResult result, OnePlace &place,
                 SmallVectorImpl<Value> &values) const;
  bool findMakers(BlockArgument argument, Value next, OnePlace &place) const;
  /// Returns whether a value, or what may be in the same memory but in no value
  /// of the place, is read before a maker writes, in each trip.
  bool isReadBefore(Value value, const OnePlace &place,
                    const OnePlace::Maker &maker, Operation *loop,
                    llvm::DenseSet<Value> &seen) const;
  bool isLastToRead(const OnePlace &place, const OnePlace::Maker &maker,
                    Operation *loop) const;
  bool isForThis(BlockArgument argument, Value initial) const;
  std::optional<OnePlace> findOnePlace(BlockArgument argument,
                                       OpOperand &yielded, Value initial) const;
  bool isOwn(OpOperand &yielded) const;
  void noteReads();
  void noteRows(ScanOp loop);
  void noteRead(Value root, Operation *reader, int64_t time);

  func::FuncOp main;
  SymbolTable &symbols;
  /// Of the stages of kernels, which stay as they are.
  mutable StageModels models;
  int64_t partAlignment;
  llvm::DenseMap<Value, PartPlace> parts;
  /// The values that a loop's body and its results are names for: those that
  /// its condition gives.
  llvm::DenseMap<Value, Value> names;
  int64_t numTimes = 0;
  /// The last time at which the program may fail; -1 if it never does.
  int64_t lastCheck = -1;
  llvm::DenseMap<Operation *, int64_t> times, endTimes;
  llvm::DenseMap<Value, int64_t> lastRead;
  llvm::MapVector<Value, unsigned> returned;
  /// Of carries in one place, the roots that are made there, and of these the
  /// carry.
  llvm::DenseMap<Value, SmallVector<Value, 0>> inOnePlace;
  llvm::DenseMap<Value, Value> placeOf;
  llvm::DenseMap<Value, Value> carriedRows;
  /// The roots that a root may share its memory with: of a chosen result those
  /// that are yielded, of what a loop carries its initial value, and the rows
  /// that it becomes one of.
  llvm::DenseMap<Value, SmallVector<Value>> sources;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_MEMORYPLAN_LIVERANGES_H
