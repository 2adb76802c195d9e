//===- Prefixes.h - What the loop of prefixes carries -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_STAGEBODY_PREFIXES_H
#define METAOPS_CONVERSION_STAGEBODY_PREFIXES_H

#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// The values of a body's copies, as the loop of prefixes needs them.
class PrefixBody {
public:
  virtual ~PrefixBody();
  /// Return the number of copies of a value, and of the lanes of each.
  virtual unsigned getNumCopies(Value value) const = 0;
  virtual int64_t getNumLanes(Value value) const = 0;
  /// Returns an operand of a value in one of the value's copies.
  virtual Value getOperand(Value value, Value operand, unsigned copy) = 0;
  /// Returns whether a copy is an iteration that there is; null if it must be.
  virtual Value emitIsThere(Value value, unsigned copy) { return nullptr; }
  /// Gives the copies of a value.
  virtual void setCopies(Value value, ArrayRef<Value> copies) = 0;
};

/// The chains of a stage's prefixes, each of them for the lanes and the copies
/// that do not lie along it. The loop that carries them is emitted here.
class Prefixes {
public:
  /// Emits an iteration of the loop, or as many as a tile has rows. `end` is
  /// that of the loop where some of the rows lie behind it, else null.
  using EmitStep = llvm::function_ref<void(Value at, Value end)>;

  /// `copiesAreSteps` says that copies are iterations of the loop, which follow
  /// each other.
  Prefixes(OpBuilder &b, const Stage &stage, PrefixBody &body,
           bool copiesAreSteps);

  /// Emits the loop, `step` iterations at a time.
  void emitLoop(const LoopRange &range, int64_t step, EmitStep emit);
  /// Evaluates a prefix in all copies, and goes on with its chains.
  void emit(PrefixOp op);

private:
  /// One chain. Each value is of the type in which elements are computed.
  struct Chain {
    /// The prefix over the elements from the first one of the block on.
    Value local;
    /// The prefix before the block; null where all is one block.
    Value carry;
    /// The result before this one, of an exclusive prefix.
    Value last;
  };
  struct Prefix {
    PrefixOp op;
    SmallVector<Chain, 4> chains;
  };

  void forEachCarried(bool overSteps, llvm::function_ref<void(Value &)> visit);
  SmallVector<Value> getCarried(bool overSteps);
  void setCarried(bool overSteps, ValueRange values);
  void open(bool isBlocked);
  void openBlock();
  void closeBlock();
  void emitBlock(LoopRange block, int64_t step, EmitStep emit);
  void emitSteps(const LoopRange &steps, int64_t step, bool isLast,
                 EmitStep emit);
  void emitPlace(Value k, Value behind, bool isLast, EmitStep emit);
  Chain emitStep(PrefixOp op, const Chain &before, Value x, Value factor);
  Value emitResult(PrefixOp op, const Chain &chain);

  Type getComputeType(PrefixOp op) const;
  int64_t getNumLanes(PrefixOp op) const;
  Value emitIdentity(PrefixOp op, bool isResult);
  Value emitCombine(PrefixOp op, Value before, Value x, Value factor);
  Value emitOperand(PrefixOp op, Value operand, unsigned copy);
  Value emitSelect(Value condition, Value yes, Value no);
  Value emitIsEqual(Value lhs, Value rhs);
  Value emitAndNot(Value lhs, Value rhs);
  Value emitSum(Value lhs, Value rhs);

  OpBuilder &b;
  Location loc;
  const Stage &stage;
  PrefixBody &body;
  bool copiesAreSteps;
  SmallVector<Prefix, 1> prefixes;
  /// True in the first step of the line, where some prefix is linear.
  Value isFirst;
  bool anyLinear = false;
  LoopRange line;
};

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_STAGEBODY_PREFIXES_H
