//===- ExampleEmitter.h - Branches and loops of examples --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_TRACE_EXAMPLEEMITTER_H
#define METAOPS_LIB_RUNTIME_TRACE_EXAMPLEEMITTER_H

#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Dialect/MetaOp/IR/CustomOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace metaops {

/// Emits operations of one example for all examples, with what is in their
/// regions. Throws where one cannot be done for several.
class ExampleEmitter {
public:
  ExampleEmitter(int64_t extent, int64_t savedBytes)
      : extent(extent), savedBytes(savedBytes) {}

  /// Says what stands for a value: of the same type, or with a dimension for
  /// the examples in front.
  void map(mlir::Value value, mlir::Value standIn) { values[value] = standIn; }
  mlir::Value get(mlir::Value value) const {
    auto found = values.find(value);
    return found == values.end() ? value : found->second;
  }
  /// Returns what stands for a value, with the dimension.
  mlir::Value getBatched(mlir::OpBuilder &builder, mlir::Value value) const;
  void emit(mlir::OpBuilder &builder, mlir::Operation *op);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Emit = llvm::function_ref<Values(mlir::OpBuilder &)>;

  [[noreturn]] static void failUnbatched(mlir::Operation *op);
  bool isBatched(mlir::Value value) const {
    return get(value).getType() != value.getType();
  }
  mlir::Type batch(mlir::Type type) const;
  void emitAll(mlir::OpBuilder &builder, mlir::Block &block);
  void mapAll(mlir::ValueRange values, mlir::ValueRange standIns);
  void emitBarrier(mlir::OpBuilder &builder, mlir::metaop::BarrierOp op);
  void emitRegion(mlir::OpBuilder &builder, mlir::scf::ExecuteRegionOp op);
  void emitCustom(mlir::OpBuilder &builder,
                  mlir::metaop::CustomDerivativeOp op);
  void emitInTurn(mlir::OpBuilder &builder, mlir::Operation *op);
  void emitBranch(mlir::OpBuilder &builder, mlir::scf::ExecuteRegionOp op,
                  mlir::scf::IfOp branch);
  void emitScan(mlir::OpBuilder &builder, mlir::metaop::ScanOp scan);
  void emitWhile(mlir::OpBuilder &builder, mlir::scf::WhileOp loop);

  Values emitIf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value flag,
                mlir::TypeRange types, Emit onTrue, Emit onFalse) const;
  Values emitOwn(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Value isOwn, mlir::Region &region);
  Values getBatchedAll(mlir::OpBuilder &builder, mlir::ValueRange all) const;
  void enter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value isOwn,
             mlir::Region &region);
  void flow(mlir::Block &block, llvm::DenseSet<mlir::Value> &batched) const;

  mlir::Value emitSelect(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value isOwn, mlir::Value own,
                         mlir::Value other) const;
  mlir::Value emitReduce(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::metaop::Combiner kind, mlir::Value all) const;
  mlir::Value emitFirst(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value flags) const;
  mlir::Value likeFirst(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value isOwn, mlir::Value first,
                        mlir::Value value) const;

  // Loops (ExampleLoops.cpp)

  struct Scan;
  struct While;
  llvm::SmallBitVector findCarries(mlir::ValueRange inits,
                                   mlir::ValueRange arguments,
                                   mlir::ValueRange next,
                                   mlir::Block &block) const;
  Values emitInits(mlir::OpBuilder &builder, mlir::ValueRange inits,
                   const llvm::SmallBitVector &differ) const;
  Values emitNext(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value goesOn, mlir::ValueRange next,
                  mlir::ValueRange carries,
                  const llvm::SmallBitVector &differ) const;
  Values emitTrip(mlir::OpBuilder &builder, mlir::Location loc, Scan &scan,
                  mlir::ValueRange carries, mlir::ValueRange rows);
  Values emitTrip(mlir::OpBuilder &builder, mlir::Location loc, While &loop,
                  mlir::ValueRange carries);
  mlir::Value emitCondition(mlir::OpBuilder &builder, While &loop,
                            mlir::ValueRange carries);
  While analyze(mlir::scf::WhileOp op) const;

  int64_t extent, savedBytes;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_TRACE_EXAMPLEEMITTER_H
