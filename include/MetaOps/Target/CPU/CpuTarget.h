//===- CpuTarget.h - Processors as a target ---------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_CPU_CPUTARGET_H
#define METAOPS_TARGET_CPU_CPUTARGET_H

#include "MetaOps/Target/Description/Processor.h"
#include "MetaOps/Target/Target.h"
#include "MetaOps/Target/TargetRegistry.h"

namespace mlir::metaop {

/// Processors, with vectors and caches. The phases behind `kernels`:
///
///   loops   kernels over buffers: scf, vector, arith, math, memref
///   llvm    the LLVM dialect
class CpuTarget final : public Target {
public:
  explicit CpuTarget(const Processor &processor) : processor(processor) {}

  const Processor &getProcessor() const { return processor; }

  StringRef getName() const override { return "cpu"; }
  void print(raw_ostream &os) const override;
  void addSchedules(OpPassManager &pm,
                    const ScheduleRequest &request) const override;
  void addPlannedSchedules(OpPassManager &pm) const override;
  LogicalResult verify(KernelOp kernel) const override;
  bool owns(ScheduleAttr schedule) const override;
  FailureOr<KernelMeasures> measure(KernelOp kernel) const override;
  SmallVector<KernelSchedules>
  listNeighbours(ArrayRef<Stage> stages) const override;
  ArrayRef<StringRef> getPhases() const override;
  void addLoops(OpPassManager &pm) const override;
  void addFamily(OpPassManager &pm) const override;
  void addCode(OpPassManager &pm) const override;
  void insertDialects(DialectRegistry &registry) const override;

private:
  Processor processor;
};

/// Adds the kind `cpu`; its option is `processor`.
void registerCpuTarget(TargetRegistry &registry);

} // namespace mlir::metaop

#endif // METAOPS_TARGET_CPU_CPUTARGET_H
