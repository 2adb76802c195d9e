//===- Stage.h - A fused stage as (S, maps, body) ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scheduling and lowering work on this model, never on op names. A stage is a
// loop nest over an iteration space S; it reads tensors at places that are
// affine in the loops, computes element-wise and from one iteration to the
// next, and writes or reduces into tensors at places that are affine in the
// loops.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_STAGE_STAGE_H
#define METAOPS_TRANSFORMS_SCHEDULE_STAGE_STAGE_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "llvm/ADT/SmallBitVector.h"

#include <memory>
#include <optional>

namespace mlir::metaop {

/// The schedules of all stages of a kernel.
using KernelSchedules = SmallVector<ScheduleAttr>;

/// A number that is fixed for one run of a stage. Expressions of a stage are
/// affine in its loops; their symbols are the stage's symbols by position.
struct StageSymbol {
  enum class Kind {
    Scalar,   ///< The element of a 0-d i64 tensor (an operand of a reindex).
    Extent,   ///< An extent of a region argument.
    Operand,  ///< An index argument of the region.
    Indirect, ///< The element, at the iteration's place, of a value of the body
              ///< or of a read: an index of a gather or a scatter.
  };
  Kind kind;
  Value value;
  unsigned dim = 0;
};

/// A place in a tensor as a function of the loops.
struct StagePlace {
  /// Row-major element number; more where the tensor lies in rows.
  AffineExpr offset;
  /// The element takes part where all of these are >= 0. Those that hold for
  /// every iteration are left out.
  SmallVector<AffineExpr> rangeChecks;
  /// As above, from conditions of the op rather than from the tensor's shape.
  SmallVector<AffineExpr> conditions;

  bool isGuarded() const { return !rangeChecks.empty() || !conditions.empty(); }
};

/// A value of the body that comes from memory: a region argument used
/// element-wise, the result of a reindex, or a constant with several values.
struct StageRead {
  Value value;
  /// The region argument that is read; the constant itself for a constant.
  Value source;
  StagePlace place;
  /// Loops to indices of the source. The indices of collapsed dimensions are 0
  /// but for the last, which the collapsed loop numbers.
  AffineMap map;
  /// The value where the place is not valid; null if it always is.
  TypedAttr fill;
  /// The place holds numbers out of tensors: the read stands in the body too,
  /// behind what computes them.
  bool isIndirect = false;
};

/// A result of the stage.
struct StageWrite {
  unsigned result;
  /// The value of the body that is stored or reduced.
  Value value;
  /// Null for an element-wise result.
  std::optional<Combiner> kind;
  StagePlace place;
  /// Loops to indices of the result, as for a read. Loops are collapsed only
  /// where every write is a projection.
  AffineMap map;
  /// Extents of the result: constants or expressions in the symbols.
  SmallVector<AffineExpr> shape;
  /// Elements between neighbours along each dimension of the result.
  SmallVector<AffineExpr> strides;
  /// Some of the loops reach each element exactly once; the others are reduced.
  bool isProjection = true;
  /// Loops that the offset and the range checks depend on.
  llvm::SmallBitVector loops;
  /// Loops that number a dimension of the result: two different iterations
  /// never write the same element, and all of them together write the whole
  /// dimension.
  llvm::SmallBitVector disjoint;

  /// Returns whether the order of what is combined changes the result, by
  /// rounding.
  bool isFloatSum() const;
};

/// The loop that carries the prefixes of a stage: its iterations are done in
/// order, from the last one on if it is reversed.
struct StageCarry {
  unsigned loop;
  bool isReverse;
};

class StageModels;

struct Stage {
  /// Models `op`. Fails, with a diagnostic, on an op that is not valid or that
  /// numbers cannot be computed for: more than `maxElements` elements or
  /// iterations, or a constant that is not dense.
  static FailureOr<Stage> build(FusedOp op);
  /// The same, with models that it needs of other stages of the kernel from
  /// `models`, and those into it.
  static FailureOr<Stage> build(FusedOp op, StageModels &models);

  /// Offsets in bytes and products of a few numbers fit 64 bits below this.
  static constexpr int64_t maxElements = int64_t(1) << 56;

  /// So many iterations read more than the second cache holds.
  static constexpr int64_t manyIterations = int64_t(1) << 19;

  unsigned getNumLoops() const { return extents.size(); }
  MLIRContext *getContext() const { return op->getContext(); }
  /// The extent of a loop if it is a constant, else ShapedType::kDynamic.
  int64_t getStaticExtent(unsigned loop) const;
  /// Returns whether some dimension of S has an extent that varies.
  bool isVarying() const { return varying.any(); }
  /// Returns whether an extent that varies is a factor of the loop's.
  bool isVarying(unsigned loop) const;
  /// The extent to schedule for: that of a usual length where the loop's
  /// varies, else the static extent.
  int64_t getPlannedExtent(unsigned loop) const;
  /// Returns the extent to schedule a loop of a contraction for. Where it
  /// varies that is a usual one of its class: 2 to 7, 8 to 63, or 64 and more.
  int64_t getClassExtent(unsigned loop) const;
  /// Returns whether the loop's extent varies, in the class without an end.
  bool isUnbounded(unsigned loop) const;
  /// Scales a count that some loops make to planned extents.
  int64_t scaleToPlan(int64_t count, const llvm::SmallBitVector &loops) const;
  /// Some loop has no iteration whatever the operands are.
  bool isEmpty() const;
  bool hasReduction() const;
  /// Instructions, about, of one copy of the body (CodeSize.h).
  int64_t getCodeSize() const;
  /// Returns whether the iterations of the loop follow each other.
  bool isCarried(int64_t loop) const { return carry && carry->loop == loop; }
  /// Returns whether the place depends on numbers out of tensors.
  bool isIndirect(AffineExpr expr) const;
  bool isIndirect(const StagePlace &place) const;
  /// Returns whether `expr` may be another number in another iteration of the
  /// loop.
  bool dependsOn(AffineExpr expr, unsigned loop) const;
  /// The factor of the loop in `expr`, if it is a number and `expr` depends on
  /// the loop in no other way.
  std::optional<int64_t> getStep(AffineExpr expr, unsigned loop) const;
  /// Loops on which a value of the body depends.
  llvm::SmallBitVector getLoopsOf(Value value) const {
    return loopsOf.lookup(value);
  }

  /// The read that gives a value of the body.
  const StageRead *findRead(Value value) const {
    return llvm::find_if(
        reads, [&](const StageRead &read) { return read.value == value; });
  }

  FusedOp op;
  /// Extents of the loops: constants or expressions in the symbols. The loops
  /// are those of S without unit extents, with contiguous neighbours collapsed
  /// (but for those of which a contraction in the kernel makes blocks).
  SmallVector<AffineExpr> extents;
  SmallVector<StageSymbol> symbols;
  /// Loops to indices of S.
  AffineMap toIterationSpace;
  /// Extents of S.
  SmallVector<AffineExpr> spaceExtents;
  SmallVector<StageRead> reads;
  /// Element-wise ops, prefixes, generators (splat constants, iota, random) and
  /// indirect reads in program order.
  SmallVector<Operation *> body;
  SmallVector<StageWrite, 1> writes;
  /// Describes the body's prefixes, if it has any.
  std::optional<StageCarry> carry;

private:
  friend class StageBuilder;
  llvm::DenseMap<Value, llvm::SmallBitVector> loopsOf;
  /// Dimensions of S.
  llvm::SmallBitVector varying;
};

/// Models of the stages of a kernel, each built once. They are those of what
/// the kernel was when they were asked for.
class StageModels {
public:
  /// Returns the model of a stage; fails as Stage::build does.
  FailureOr<const Stage *> get(FusedOp op);

private:
  llvm::DenseMap<Operation *, std::unique_ptr<Stage>> models;
};

/// The factor of a loop in an expression that is linear in it; none if it is
/// not linear. The factor may hold symbols.
std::optional<AffineExpr> getCoefficient(AffineExpr expr, unsigned loop);

/// The factor as a number, if it is one.
std::optional<int64_t> getConstantCoefficient(AffineExpr expr, unsigned loop);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_STAGE_STAGE_H
