//===- NvgpuTarget.h - NVIDIA's GPUs as a target ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_NVGPU_NVGPUTARGET_H
#define METAOPS_TARGET_NVGPU_NVGPUTARGET_H

#include "MetaOps/Target/Description/Chip.h"
#include "MetaOps/Target/Target.h"
#include "MetaOps/Target/TargetRegistry.h"

#include <string>

namespace mlir::metaop {

/// NVIDIA's GPUs. The phases behind `kernels`, each kernel in a gpu.module of
/// its own:
///
///   gpu     what one thread does: scf, vector, arith, math, memref, and gpu
///           and nvvm
///   nvvm    the LLVM and NVVM dialects
///   ptx     PTX, in a gpu.binary
class NvgpuTarget final : public Target {
public:
  struct Options {
    const Chip *chip = Chip::getDefault();
    /// The file of libdevice, if any, which f64 needs.
    std::string libdevice;
    /// Sums of floats that threads of a whole GPU add to are added as they
    /// come, so that their last bits may change from run to run.
    bool floatAtomics = false;
  };

  explicit NvgpuTarget(Options options) : options(std::move(options)) {}

  const Chip &getChip() const { return *options.chip; }

  StringRef getName() const override { return "cuda"; }
  void print(raw_ostream &os) const override;
  void addSchedules(OpPassManager &pm,
                    const ScheduleRequest &request) const override;
  LogicalResult verify(KernelOp kernel) const override;
  bool owns(ScheduleAttr schedule) const override;
  FailureOr<KernelMeasures> measure(KernelOp kernel) const override;
  SmallVector<KernelSchedules>
  listNeighbours(ArrayRef<Stage> stages) const override;
  int64_t getPartAlignment() const override;
  ArrayRef<StringRef> getPhases() const override;
  bool mayStartFrom(StringRef phase) const override;
  /// PTX takes libdevice.
  bool needsFiles(StringRef phase) const override { return phase == "ptx"; }
  void addCheck(OpPassManager &pm, StringRef phase) const override;
  void addLoops(OpPassManager &pm) const override;
  void addFamily(OpPassManager &pm) const override;
  void addCode(OpPassManager &pm) const override;
  size_t getMaxNumbers(size_t buffers) const override;
  void insertDialects(DialectRegistry &registry) const override;

protected:
  void addFurther(OpPassManager &pm, StringRef phase) const override;

private:
  Options options;
};

/// Adds the kind `cuda`; its options are `chip`, `libdevice` and
/// `float-atomics`.
void registerNvgpuTarget(TargetRegistry &registry);

} // namespace mlir::metaop

#endif // METAOPS_TARGET_NVGPU_NVGPUTARGET_H
