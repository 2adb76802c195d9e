//===- NvgpuTarget.cpp - NVIDIA's GPUs as a target ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/NVGPU/NvgpuTarget.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuNeighbours.h"
#include "MetaOps/Transforms/Schedule/GPU/MeasureGpuKernel.h"
#include "MetaOps/Transforms/Schedule/GPU/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/VerifyGpuKernel.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::metaop;

void NvgpuTarget::print(raw_ostream &os) const {
  os << getName() << " chip=" << options.chip->name;
  if (!options.libdevice.empty())
    os << " libdevice={" << options.libdevice << "}";
  if (options.floatAtomics)
    os << " float-atomics=true";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Packs, copies and computes nothing in blocks, which is for the caches of a
/// processor.
void NvgpuTarget::addSchedules(OpPassManager &pm,
                               const ScheduleRequest &request) const {
  OpPassManager &main = pm.nest<func::FuncOp>();
  PartReductionsPassOptions part;
  part.report = request.report;
  main.addPass(createPartReductionsPass(part));
  GatherScattersPassOptions gather;
  gather.report = request.report;
  main.addPass(createGatherScattersPass(gather));
  StridedPartsPassOptions pitch;
  pitch.partAlignment = getPartAlignment();
  main.addPass(createStridedPartsPass(pitch));
  main.addPass(createMarkVaryingPass());
  JoinStagesGpuPassOptions join;
  join.chip = options.chip;
  join.report = request.report;
  if (request.joins)
    main.addPass(createJoinStagesGpuPass(join));
  // Stages that have found others for their rows are not split.
  SplitReductionsGpuPassOptions split;
  split.chip = options.chip;
  split.report = request.report;
  pm.addPass(createSplitReductionsGpuPass(split));
  // The last sum of what is split is joined with what follows it.
  if (request.joins)
    pm.addNestedPass<func::FuncOp>(createJoinStagesGpuPass(join));
  ScheduleGpuPassOptions schedule;
  schedule.chip = options.chip;
  schedule.floatAtomics = options.floatAtomics;
  schedule.file = request.file;
  schedule.text = request.text;
  pm.addPass(createScheduleGpuPass(schedule));
}

LogicalResult NvgpuTarget::verify(KernelOp kernel) const {
  return verifyGpuKernel(kernel, *options.chip);
}

bool NvgpuTarget::owns(ScheduleAttr schedule) const {
  return schedule.isForGpu();
}

FailureOr<KernelMeasures> NvgpuTarget::measure(KernelOp kernel) const {
  return measureGpuKernel(kernel, *options.chip);
}

SmallVector<KernelSchedules>
NvgpuTarget::listNeighbours(ArrayRef<Stage> stages) const {
  return getGpuNeighbours(stages);
}

int64_t NvgpuTarget::getPartAlignment() const { return kBufferAlignment; }

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> NvgpuTarget::getPhases() const {
  static constexpr StringRef phases[] = {"gpu", "nvvm", "ptx"};
  return phases;
}

bool NvgpuTarget::mayStartFrom(StringRef phase) const { return phase != "ptx"; }

void NvgpuTarget::addCheck(OpPassManager &pm, StringRef phase) const {
  if (phase != "gpu")
    return;
  VerifyGpuKernelsPassOptions verify;
  verify.chip = options.chip;
  pm.addPass(createVerifyGpuKernelsPass(verify));
}

void NvgpuTarget::addLoops(OpPassManager &pm) const {
  ConvertMetaOpToGPUPassOptions lowering;
  lowering.chip = options.chip;
  pm.addPass(createConvertMetaOpToGPUPass(lowering));
}

void NvgpuTarget::addFamily(OpPassManager &pm) const {
  pm.addPass(createFormFmaPass());
}

void NvgpuTarget::addCode(OpPassManager &pm) const {
  buildGPUToNVVMPipeline(pm);
}

void NvgpuTarget::addFurther(OpPassManager &pm, StringRef phase) const {
  EmitPtxPassOptions ptx;
  ptx.chip = options.chip;
  ptx.libdevice = options.libdevice;
  pm.addPass(createEmitPtxPass(ptx));
}

/// Returns what fits into the 4352 bytes that the PTX manual gives arguments,
/// of which each takes 8.
size_t NvgpuTarget::getMaxNumbers(size_t buffers) const {
  constexpr size_t arguments = 4352 / 8;
  return arguments - std::min(buffers, arguments);
}

void NvgpuTarget::insertDialects(DialectRegistry &registry) const {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, math::MathDialect, memref::MemRefDialect,
                  MetaOpDialect, scf::SCFDialect, vector::VectorDialect>();
  registerPtxDialects(registry);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
struct NvgpuOptions : PassPipelineOptions<NvgpuOptions> {
  Option<const Chip *> chip{*this, "chip",
                            llvm::cl::desc("The GPU that code is made for"),
                            llvm::cl::init(Chip::getDefault())};
  Option<std::string> libdevice{
      *this, "libdevice",
      llvm::cl::desc("The file of libdevice, which f64 needs on GPUs"),
      llvm::cl::init("")};
  Option<bool> floatAtomics{
      *this, "float-atomics",
      llvm::cl::desc("Whether GPUs may add scattered floats in any order"),
      llvm::cl::init(false)};
};
} // namespace

void metaop::registerNvgpuTarget(TargetRegistry &registry) {
  TargetKind kind;
  kind.name = "cuda";
  kind.summary = "NVIDIA's GPUs";
  kind.options = {"chip", "libdevice", "float-atomics"};
  kind.create =
      [](StringRef text) -> llvm::Expected<std::shared_ptr<const Target>> {
    auto parsed = parseTargetOptions<NvgpuOptions>(text);
    if (!parsed)
      return parsed.takeError();
    NvgpuTarget::Options options;
    options.chip = (*parsed)->chip;
    options.libdevice = (*parsed)->libdevice;
    options.floatAtomics = (*parsed)->floatAtomics;
    return std::make_shared<NvgpuTarget>(std::move(options));
  };
  kind.registerPasses = registerMetaOpsScheduleGPUPasses;
  registry.add(std::move(kind));
}
