//===- CpuTarget.cpp - Processors as a target -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/CPU/CpuTarget.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/CPU/Neighbours.h"
#include "MetaOps/Transforms/Schedule/CPU/Passes.h"
#include "MetaOps/Transforms/Schedule/CPU/VerifyCpuKernel.h"
#include "MetaOps/Transforms/Schedule/Report/MeasureKernel.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace mlir::metaop;

void CpuTarget::print(raw_ostream &os) const {
  os << getName() << " processor={" << processor.str() << "}";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Packs what contractions read, and schedules them.
static void addContractions(OpPassManager &main, const Processor &processor,
                            bool packs, bool report) {
  PackOperandsPassOptions pack;
  pack.processor = processor;
  pack.report = report;
  if (packs)
    main.addPass(createPackOperandsPass(pack));
  main.addPass(createMarkVaryingPass());
  ScheduleContractionsPassOptions schedule;
  schedule.processor = processor;
  main.addPass(createScheduleContractionsPass(schedule));
}

/// Copies and joins for the caches of a processor.
static void addJoins(OpPassManager &main, const Processor &processor,
                     bool report) {
  AttachPanelsPassOptions attach;
  attach.processor = processor;
  attach.report = report;
  main.addPass(createAttachPanelsPass(attach));
  CopyRowsPassOptions copy;
  copy.processor = processor;
  copy.report = report;
  main.addPass(createCopyRowsPass(copy));
  AttachEpiloguesPassOptions epilogues;
  epilogues.processor = processor;
  epilogues.report = report;
  main.addPass(createAttachEpiloguesPass(epilogues));
  JoinStagesPassOptions join;
  join.processor = processor;
  join.report = report;
  main.addPass(createJoinStagesPass(join));
}

void CpuTarget::addSchedules(OpPassManager &pm,
                             const ScheduleRequest &request) const {
  SeparateReductionsPassOptions separate;
  separate.processor = processor;
  separate.report = request.report;
  if (request.joins)
    pm.addNestedPass<func::FuncOp>(createSeparateReductionsPass(separate));
  SplitReductionsPassOptions split;
  split.processor = processor;
  split.report = request.report;
  pm.addPass(createSplitReductionsPass(split));
  OpPassManager &main = pm.nest<func::FuncOp>();
  GatherScattersPassOptions gather;
  gather.report = request.report;
  main.addPass(createGatherScattersPass(gather));
  main.addPass(createStridedPartsPass());
  main.addPass(createMarkVaryingPass());
  if (request.workOfLibraries) {
    CallLibrariesPassOptions libraries;
    libraries.report = request.report;
    main.addPass(createCallLibrariesPass(libraries, request.workOfLibraries));
  }
  addContractions(main, processor, request.joins, request.report);
  if (request.joins)
    addJoins(main, processor, request.report);
  SchedulePassOptions schedule;
  schedule.processor = processor;
  schedule.file = request.file;
  schedule.text = request.text;
  pm.addPass(createSchedulePass(schedule));
}

void CpuTarget::addPlannedSchedules(OpPassManager &pm) const {
  pm.addPass(createKeepInCachesPass());
}

LogicalResult CpuTarget::verify(KernelOp kernel) const {
  return verifyCpuKernel(kernel);
}

bool CpuTarget::owns(ScheduleAttr schedule) const {
  return !schedule.isForGpu();
}

FailureOr<KernelMeasures> CpuTarget::measure(KernelOp kernel) const {
  return measureKernel(kernel, processor);
}

SmallVector<KernelSchedules>
CpuTarget::listNeighbours(ArrayRef<Stage> stages) const {
  return getNeighbours(stages);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

ArrayRef<StringRef> CpuTarget::getPhases() const {
  static constexpr StringRef phases[] = {"loops", "llvm"};
  return phases;
}

void CpuTarget::addLoops(OpPassManager &pm) const {
  pm.addPass(createConvertMetaOpToVectorPass());
}

void CpuTarget::addFamily(OpPassManager &pm) const {
  FormFmaPassOptions fma;
  fma.hasFma = processor.hasFma;
  pm.addPass(createFormFmaPass(fma));
}

void CpuTarget::addCode(OpPassManager &pm) const {
  buildVectorToLLVMPipeline(pm, processor.getVectorMathBits());
}

void CpuTarget::insertDialects(DialectRegistry &registry) const {
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
struct CpuOptions : PassPipelineOptions<CpuOptions> {
  Option<Processor> processor{
      *this, "processor",
      llvm::cl::desc("Registers and caches; see metaop-schedule")};
};
} // namespace

void metaop::registerCpuTarget(TargetRegistry &registry) {
  TargetKind kind;
  kind.name = "cpu";
  kind.summary = "processors, with vectors and caches";
  kind.options = {"processor"};
  kind.create =
      [](StringRef text) -> llvm::Expected<std::shared_ptr<const Target>> {
    auto options = parseTargetOptions<CpuOptions>(text);
    if (!options)
      return options.takeError();
    return std::make_shared<CpuTarget>((*options)->processor);
  };
  kind.registerPasses = registerMetaOpsScheduleCPUPasses;
  registry.add(std::move(kind));
}
