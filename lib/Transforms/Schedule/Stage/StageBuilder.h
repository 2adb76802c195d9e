//===- StageBuilder.h - How the model of a stage is built -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_TRANSFORMS_SCHEDULE_STAGE_STAGEBUILDER_H
#define METAOPS_LIB_TRANSFORMS_SCHEDULE_STAGE_STAGEBUILDER_H

#include "MetaOps/Transforms/Schedule/Stage/Stage.h"

namespace mlir::metaop {

/// Block that passes to or from a contraction of the same kernel.
struct PassedBlock {
  /// The numbers of its dimensions by the stage's loops, and by the
  /// contraction's.
  const AffineMap *own;
  AffineMap map;
  /// Of sums: bytes of an element, and of each dimension its elements, and
  /// those in a block; none of dimensions that are several loops.
  struct Part {
    int64_t whole, inBlock;
  };
  int64_t bytes = 0;
  SmallVector<std::optional<Part>> parts;
};

/// Builds the model of one stage; see Stage.cpp for the steps.
class StageBuilder {
public:
  StageBuilder(FusedOp op, StageModels &models)
      : ctx(op.getContext()), models(models) {
    stage.op = op;
  }

  FailureOr<Stage> build();

private:
  LogicalResult verifySizes();
  LogicalResult collectBody();

  /// The extents of a value of the body or of the region's arguments.
  SmallVector<AffineExpr> getShape(Value value);
  AffineExpr getSymbol(StageSymbol symbol);
  AffineExpr constant(int64_t value) {
    return getAffineConstantExpr(value, ctx);
  }

  SmallVector<AffineExpr> getSymbols(Operation *op, const IndexAccess &access);
  AffineExpr withSymbols(AffineExpr expr, ArrayRef<AffineExpr> symbols);
  void addRead(Value value, Value source, const IndexAccess &access);
  void addWrite(unsigned result, Value yielded);
  /// Elements between neighbours along each dimension of a tensor of this
  /// shape, which lies in `rows` if there are any.
  SmallVector<AffineExpr> getStrides(ArrayRef<AffineExpr> shape, RowsAttr rows);
  RowsAttr getRows(Value source);
  /// The place that `map` reaches in a tensor of the given shape.
  StagePlace makePlace(AffineMap map, ArrayRef<AffineExpr> shape,
                       ArrayRef<AffineExpr> strides);
  AffineExpr makeOffset(AffineMap map, ArrayRef<AffineExpr> strides);
  bool isWithin(AffineExpr index, AffineExpr extent);
  void addCheck(SmallVectorImpl<AffineExpr> &checks, AffineExpr expr);
  bool isProvablyNonNegative(AffineExpr expr);
  bool isDistanceToEnd(AffineExpr expr);
  AffineExpr simplify(AffineExpr expr);

  /// Rewrites every expression of the stage in new loops.
  void substitute(ArrayRef<AffineExpr> oldLoops, unsigned numNewLoops);
  void dropUnitLoops();
  llvm::SmallBitVector findFirstLoops() const;
  void collapseLoops();
  bool canCollapse(unsigned loop);
  LogicalResult findBlocks();
  bool areApart(unsigned outer, unsigned inner);
  bool areWholeLines(const PassedBlock &block, unsigned position,
                     AffineExpr inner);
  /// Returns whether the body computes something from the number of the
  /// iteration.
  bool isNumbered(unsigned loop);
  LogicalResult findCarry();
  bool isCarried(unsigned loop);
  bool areDigits(AffineExpr index, AffineExpr extent,
                 llvm::SmallBitVector &seen);
  bool isProjection(const StageWrite &write);
  void classifyWrites();
  void computeLoops();

  template <typename Fn> void forEachPlace(Fn fn) {
    for (StageRead &read : stage.reads)
      fn(read.place);
    for (StageWrite &write : stage.writes)
      fn(write.place);
  }

  MLIRContext *ctx;
  StageModels &models;
  Stage stage;
  SmallVector<PassedBlock, 1> blocks;
};

/// Adds the loops that `expr` depends on.
void addLoops(llvm::SmallBitVector &loops, AffineExpr expr);

} // namespace mlir::metaop

#endif // METAOPS_LIB_TRANSFORMS_SCHEDULE_STAGE_STAGEBUILDER_H
