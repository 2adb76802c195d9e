//===- StepBuilder.h - Steps of programs ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_STEPBUILDER_H
#define METAOPS_RUNTIME_KERNELS_STEPBUILDER_H

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Runtime/Program/ProgramData.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace metaops {

/// Makes the steps of a module whose memory is planned.
class StepBuilder {
public:
  StepBuilder(mlir::func::FuncOp main,
              std::vector<std::shared_ptr<const KernelCall>> kernels,
              const KernelCache &cache, llvm::ArrayRef<std::string> lines)
      : main(main), kernels(std::move(kernels)), cache(cache), lines(lines),
        slotsOf(main.getContext()), carriesOf(main.getContext()),
        rowsOf(main.getContext()), scratchOf(main.getContext()),
        firstTripOf(main.getContext()), blocksOf(main.getContext()),
        mayKeepOf(main.getContext()) {}

  llvm::Error build();

  ProgramData data;
  /// Of each step.
  std::vector<mlir::Operation *> ops;

private:
  void describeTable();
  void addPointer(mlir::metaop::SlotAttr slot, mlir::Type type);
  Slot makeSlot(mlir::metaop::SlotAttr attr, mlir::Type type) const {
    return makeSlot(attr, mlir::metaop::countBytes(type));
  }
  Slot makeSlot(mlir::metaop::SlotAttr attr, int64_t bytes) const;
  Slot readCondition(mlir::Value condition) const;
  llvm::Error buildBlock(mlir::Block &block, StepList &list);
  llvm::Error addOp(mlir::Operation &op);
  llvm::Error addIf(mlir::scf::IfOp op);
  llvm::Error addWhile(mlir::scf::WhileOp op);
  llvm::Error addFor(mlir::metaop::ScanOp op);
  std::vector<Carry> takeCarries(mlir::Operation *op,
                                 mlir::ValueRange arguments,
                                 mlir::ValueRange inits);
  std::vector<LoopRows> takeRows(mlir::metaop::ScanOp op);
  void readRows(mlir::metaop::ScanOp op, llvm::ArrayRef<LoopRows> rows);
  void yieldCarries(mlir::Operation *yield, mlir::ValueRange next,
                    llvm::ArrayRef<Carry> carries);
  void addYield(mlir::Operation *yield, Slot from, Slot to);
  void addKernel(llvm::ArrayRef<Slot> inputs, llvm::ArrayRef<Slot> outputs);
  llvm::Error addRoutine(mlir::metaop::RoutineOpInterface op,
                         llvm::ArrayRef<Slot> inputs,
                         llvm::ArrayRef<Slot> outputs);
  void addCopies(mlir::metaop::PlacementOpInterface op,
                 llvm::ArrayRef<Slot> inputs, Slot result);
  Step &addStep(Step::Action action, llvm::ArrayRef<Slot> inputs,
                llvm::ArrayRef<Slot> outputs);

  mlir::func::FuncOp main;
  /// Of the calls, in their order.
  std::vector<std::shared_ptr<const KernelCall>> kernels;
  unsigned nextKernel = 0;
  /// Has the code of users.
  const KernelCache &cache;
  llvm::ArrayRef<std::string> lines;
  mlir::metaop::MetaOpDialect::SlotsAttrHelper slotsOf;
  mlir::metaop::MetaOpDialect::CarriesAttrHelper carriesOf;
  mlir::metaop::MetaOpDialect::RowsAttrHelper rowsOf;
  mlir::metaop::MetaOpDialect::ScratchAttrHelper scratchOf;
  mlir::metaop::MetaOpDialect::FirstTripAttrHelper firstTripOf;
  mlir::metaop::MetaOpDialect::BlocksAttrHelper blocksOf;
  mlir::metaop::MetaOpDialect::MayKeepAttrHelper mayKeepOf;
  /// The list to which steps are added.
  StepList *steps = &data.steps;
  int64_t nextPacked = 0;
  llvm::DenseMap<mlir::Value, Slot> slots;
  /// Pointers to where loops expect their next values, which are written. Other
  /// pointers are set to what is there.
  llvm::DenseSet<int64_t> carried;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_STEPBUILDER_H
