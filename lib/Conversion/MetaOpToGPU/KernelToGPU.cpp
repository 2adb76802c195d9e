//===- KernelToGPU.cpp - metaop.kernel to functions of a GPU --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that holds one metaop.kernel becomes a module with functions that
// a GPU runs one after another, all with the same arguments, which are buffers
// in its memory and numbers (KernelFrame.h):
//
//   gpu.module @k {
//     gpu.func @k_fill(%buffers: memref<?xT, 1>..., %numbers: index...) kernel
//     gpu.func @k(%buffers: memref<?xT, 1>..., %numbers: index...) kernel
//   }
//
// The last one has the name of the kernel and does its stages, in the blocks
// and threads that the schedules say (BlockTree.cpp). One in front of it sets
// to the identity what is combined in memory. `metaop.grid` is the number of
// blocks of a call, where it is known, and `metaop.launch` the threads of each.
//
//===----------------------------------------------------------------------===//

#include "AtomicResults.h"
#include "BlockTree.h"
#include "MetaOps/Conversion/Passes.h"
#include "ResultFill.h"
#include "VerifyLevels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CONVERTMETAOPTOGPUPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class KernelToGPU {
public:
  KernelToGPU(func::FuncOp function, KernelOp kernel)
      : function(function), kernel(kernel), b(function.getContext()),
        loc(kernel.getLoc()) {}

  LogicalResult lower();

private:
  using EmitFn =
      llvm::function_ref<LogicalResult(GpuFunction &, KernelFrame &)>;

  LogicalResult readStages();
  int64_t getIndexBits();
  LogicalResult addFunction(StringRef name, int64_t grid, LaunchAttr launch,
                            EmitFn emit);
  LogicalResult emitFill();
  LogicalResult emitStages();

  func::FuncOp function;
  KernelOp kernel;
  OpBuilder b;
  Location loc;
  gpu::GPUModuleOp module;
  SmallVector<GpuStage, 1> stages;
  /// Results that are reduced over nothing.
  SmallVector<GpuStage, 1> empty;
};

} // namespace

LogicalResult KernelToGPU::readStages() {
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return failure();
    ScheduleAttr schedule = op.getScheduleAttr();
    if (stage->isEmpty()) {
      empty.push_back({std::move(*stage), schedule});
      continue;
    }
    if (!schedule)
      return op.emitOpError("has no schedule; run metaop-schedule-gpu before");
    if (stages.empty() && schedule.getShared() != 0)
      return op.emitOpError("the first stage of a kernel shares no loops");
    stages.push_back({std::move(*stage), schedule});
  }
  return verifyLevels(stages);
}

/// 32 where all places and iterations are numbers of that width.
int64_t KernelToGPU::getIndexBits() {
  constexpr int64_t narrow = 32, wide = 64;
  // What a step goes beyond the end.
  constexpr int64_t limit = int64_t(1) << 30;
  auto isSmall = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor ||
           (tensor.hasStaticShape() && tensor.getNumElements() < limit);
  };
  if (!llvm::all_of(function.getArgumentTypes(), isSmall) ||
      !llvm::all_of(function.getResultTypes(), isSmall))
    return wide;
  for (const GpuStage &each : stages) {
    for (int64_t dim = 0; dim < each.stage.getNumLoops(); ++dim)
      if (int64_t extent = each.stage.getStaticExtent(dim);
          ShapedType::isDynamic(extent) || extent >= limit)
        return wide;
    // Addresses are taken as indices there.
    if (llvm::any_of(each.stage.writes, isAtomic))
      return wide;
  }
  return narrow;
}

LogicalResult KernelToGPU::addFunction(StringRef name, int64_t grid,
                                       LaunchAttr launch, EmitFn emit) {
  KernelFrame frame(function, kernel,
                    getMemorySpace(b.getContext(), GpuMemory::Global));
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToEnd(module.getBody());
  auto lowered = gpu::GPUFuncOp::create(
      b, function.getLoc(), name, b.getFunctionType(frame.getTypes(), {}));
  lowered->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  lowered->setAttr("metaop.num_buffers",
                   b.getI64IntegerAttr(frame.getNumBuffers()));
  if (!ShapedType::isDynamic(grid))
    lowered->setAttr("metaop.grid", b.getI64IntegerAttr(grid));
  lowered->setAttr("metaop.launch", launch);
  b.setInsertionPointToStart(&lowered.getBody().front());
  frame.bind(lowered.getArguments());
  GpuFunction context(b, loc, lowered, launch.getThreads(),
                      launch.getCluster());
  if (failed(emit(context, frame)))
    return failure();
  gpu::ReturnOp::create(b, loc);
  markFastMath(lowered);
  return success();
}

LogicalResult KernelToGPU::emitFill() {
  SmallVector<FilledResult> results;
  for (const GpuStage &each : empty)
    for (const StageWrite &write : each.stage.writes)
      if (write.kind)
        results.push_back({&each.stage, &write});
  for (const GpuStage &each : stages)
    for (const StageWrite &write : each.stage.writes)
      if (isAtomic(write))
        results.push_back({&each.stage, &write});
  if (results.empty())
    return success();
  auto launch = LaunchAttr::get(b.getContext(), kFillThreads, /*cluster=*/1,
                                /*min_blocks=*/1, getIndexBits());
  return addFunction((function.getName() + "_fill").str(), getFillGrid(results),
                     launch, [&](GpuFunction &context, KernelFrame &frame) {
                       for (const FilledResult &result : results) {
                         FailureOr<StageBindings> bindings =
                             frame.bindStage(b, *result.stage, module);
                         if (failed(bindings))
                           return failure();
                         emitResultFill(context, result, *bindings);
                       }
                       return success();
                     });
}

LogicalResult KernelToGPU::emitStages() {
  if (stages.empty())
    return success();
  int64_t threads = 1;
  for (const GpuStage &each : stages)
    threads = std::max(threads, each.schedule.getNumThreads());
  auto launch = LaunchAttr::get(b.getContext(), threads,
                                stages.front().schedule.getClusterSize(),
                                /*min_blocks=*/1, getIndexBits());
  return addFunction(function.getName(), getGridSize(stages), launch,
                     [&](GpuFunction &context, KernelFrame &frame) {
                       BlockTree tree(context, stages, frame.getBuffers());
                       return tree.emit([&](const Stage &stage) {
                         return frame.bindStage(b, stage, module);
                       });
                     });
}

LogicalResult KernelToGPU::lower() {
  KernelFrame frame(function, kernel);
  if (failed(frame.verify()) || failed(readStages()))
    return failure();
  b.setInsertionPoint(function);
  module = gpu::GPUModuleOp::create(b, function.getLoc(), function.getName());
  if (failed(emitFill()) || failed(emitStages()))
    return failure();
  function.erase();
  return success();
}

namespace {
struct ConvertMetaOpToGPUPass
    : metaop::impl::ConvertMetaOpToGPUPassBase<ConvertMetaOpToGPUPass> {
  void runOnOperation() override {
    llvm::StringSet<> lowered;
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      KernelOp kernel = getOnlyKernel(function);
      if (!kernel)
        continue;
      lowered.insert(function.getName());
      if (failed(KernelToGPU(function, kernel).lower()))
        return signalPassFailure();
    }
    // The program around the kernels is the runtime's.
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      bool calls = false;
      function.walk([&](func::CallOp call) {
        calls |= lowered.contains(call.getCallee());
      });
      if (calls)
        function.erase();
    }
  }
};
} // namespace
