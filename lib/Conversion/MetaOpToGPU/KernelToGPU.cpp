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
// to the identity what is combined in memory. `metaop.entry` has the number
// of blocks of a call, where it is known, and `metaop.launch` the threads of
// each.
//
//===----------------------------------------------------------------------===//

#include "AtomicResults.h"
#include "BlockTree.h"
#include "FixedPointSums.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Transforms/MemoryPlan/Passes.h"
#include "MetaOps/Transforms/Schedule/GPU/VerifyGpuKernel.h"
#include "NumberLimits.h"
#include "ResultFill.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CONVERTMETAOPTOGPUPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class KernelToGPU {
public:
  KernelToGPU(func::FuncOp function, KernelOp kernel, const Chip &chip)
      : function(function), kernel(kernel), chip(chip),
        b(function.getContext()), loc(kernel.getLoc()) {}

  LogicalResult lower();

private:
  using EmitFn =
      llvm::function_ref<LogicalResult(GpuFunction &, KernelFrame &)>;

  LogicalResult readStages();
  void findSums();
  bool hasNarrowIndices();
  void chooseIndices();
  LaunchAttr getSimpleLaunch();
  bool mayBeOverwritten(BlockArgument argument);
  LogicalResult addFunction(StringRef name, int64_t grid, LaunchAttr launch,
                            EmitFn emit);
  SmallVector<FilledResult> getFilled() const;
  LogicalResult emitFill();
  LogicalResult emitStages(StringRef name, FixedPointSums::Pass pass);
  LogicalResult emitSums();
  void bindSums(KernelFrame &frame, FixedPointSums &bound);

  func::FuncOp function;
  KernelOp kernel;
  const Chip &chip;
  OpBuilder b;
  Location loc;
  gpu::GPUModuleOp module;
  SmallVector<GpuStage, 1> stages;
  /// Results that are reduced over nothing.
  SmallVector<GpuStage, 1> empty;
  /// Sums of floats in fixed point, and the words of each in the function that
  /// is being made.
  SmallVector<FixedPointSum, 1> sums;
  SmallVector<Value, 1> words;
  /// The width of indices, and where each stage's numbers out of tensors are
  /// cut off, so that they have it.
  int64_t indexBits = 64;
  llvm::DenseMap<Operation *, SmallVector<int64_t>> limits;
};

} // namespace

LogicalResult KernelToGPU::readStages() {
  FailureOr<GpuKernelStages> read = readGpuStages(kernel);
  if (failed(read) || failed(verifyGpuStages(read->stages, chip)))
    return failure();
  stages = std::move(read->stages);
  empty = std::move(read->empty);
  findSums();
  return success();
}

void KernelToGPU::findSums() {
  if (kernel.getFloatAtomics())
    return;
  for (const GpuStage &each : stages)
    for (const StageWrite &write : each.stage.writes)
      if (addsFloatsInAnyOrder(write))
        sums.push_back(FixedPointSum::create(each.stage, write));
}

/// The bytes of a tensor, if they are known.
static std::optional<int64_t> findBytes(RankedTensorType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements() * getElementBytes(type);
}

/// Returns whether all places and iterations are numbers of 32 bits.
bool KernelToGPU::hasNarrowIndices() {
  auto isSmall = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor ||
           (tensor.hasStaticShape() && tensor.getNumElements() < kNarrowLimit);
  };
  if (!llvm::all_of(function.getArgumentTypes(), isSmall) ||
      !llvm::all_of(function.getResultTypes(), isSmall) ||
      llvm::any_of(sums, [&](const FixedPointSum &sum) {
        return sum.getNumWords() >= kNarrowLimit;
      }))
    return false;
  for (const GpuStage &each : stages) {
    for (int64_t dim = 0; dim < each.stage.getNumLoops(); ++dim)
      if (int64_t extent = each.stage.getStaticExtent(dim);
          ShapedType::isDynamic(extent) || extent >= kNarrowLimit)
        return false;
  }
  return true;
}

void KernelToGPU::chooseIndices() {
  indexBits = 64;
  if (!hasNarrowIndices())
    return;
  for (const GpuStage &each : stages) {
    std::optional<SmallVector<int64_t>> found =
        findNumberLimits(ThreadLevels(each.stage, each.schedule));
    if (!found) {
      limits.clear();
      return;
    }
    limits[each.stage.op] = std::move(*found);
  }
  indexBits = 32;
}

/// Returns whether a call may have a result in the memory of an argument.
bool KernelToGPU::mayBeOverwritten(BlockArgument argument) {
  SmallVector<unsigned> inputs;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (input == argument)
      inputs.push_back(i);
  std::optional<int64_t> bytes =
      findBytes(cast<RankedTensorType>(argument.getType()));
  StageModels models;
  for (auto [i, type] : llvm::enumerate(kernel.getResultTypes())) {
    std::optional<int64_t> taken = findBytes(cast<RankedTensorType>(type));
    bool mayFit = !bytes || !taken || *bytes == *taken;
    if (mayFit && canWriteInPlace(kernel, inputs, i, models))
      return true;
  }
  return false;
}

LogicalResult KernelToGPU::addFunction(StringRef name, int64_t grid,
                                       LaunchAttr launch, EmitFn emit) {
  KernelFrame frame(function, kernel,
                    getMemorySpace(b.getContext(), GpuMemory::Global));
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types = frame.getTypes();
  unsigned numBuffers = frame.getNumBuffers();
  SmallVector<int64_t> scratch;
  for (const FixedPointSum &sum : sums) {
    scratch.push_back(sum.getNumWords());
    types.insert(
        types.begin() + numBuffers++,
        MemRefType::get({sum.getNumWords()}, b.getI64Type(),
                        MemRefLayoutAttrInterface(),
                        getMemorySpace(b.getContext(), GpuMemory::Global)));
  }
  auto lowered = gpu::GPUFuncOp::create(b, function.getLoc(), name,
                                        b.getFunctionType(types, {}));
  lowered->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  std::optional<int64_t> range;
  if (!ShapedType::isDynamic(grid))
    range = grid;
  MetaOpDialect::EntryAttrHelper(b.getContext())
      .setAttr(lowered, EntryAttr::get(b.getContext(), numBuffers, range,
                                       /*work_per_step=*/0, scratch,
                                       /*flushes_denormals=*/false));
  MetaOpDialect::LaunchAttrHelper(b.getContext()).setAttr(lowered, launch);
  // Memory that nobody writes may be read past the cache of what is written.
  unsigned position = 0;
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      if (!mayBeOverwritten(argument))
        lowered.setArgAttr(position, LLVM::LLVMDialect::getNoAliasAttrName(),
                           b.getUnitAttr());
      ++position;
    }
  b.setInsertionPointToStart(&lowered.getBody().front());
  ArrayRef<BlockArgument> all = lowered.getArguments();
  auto own = all.slice(frame.getNumBuffers(), sums.size());
  words.assign(own.begin(), own.end());
  SmallVector<Value> arguments(all.take_front(frame.getNumBuffers()));
  llvm::append_range(arguments, all.drop_front(numBuffers));
  frame.bind(arguments);
  GpuFunction context(b, loc, lowered, launch.getThreads(),
                      launch.getCluster());
  if (failed(emit(context, frame)))
    return failure();
  gpu::ReturnOp::create(b, loc);
  markFastMath(lowered);
  return success();
}

/// Of what shares elements among the threads of the grid.
LaunchAttr KernelToGPU::getSimpleLaunch() {
  return LaunchAttr::get(b.getContext(), kFillThreads, /*cluster=*/1,
                         /*min_blocks=*/1, indexBits);
}

SmallVector<FilledResult> KernelToGPU::getFilled() const {
  SmallVector<FilledResult> results;
  for (const GpuStage &each : empty)
    for (const StageWrite &write : each.stage.writes)
      if (write.kind)
        results.push_back({&each.stage, &write});
  for (const GpuStage &each : stages)
    for (const StageWrite &write : each.stage.writes)
      if (isAtomic(write))
        results.push_back({&each.stage, &write});
  return results;
}

LogicalResult KernelToGPU::emitFill() {
  SmallVector<FilledResult> results = getFilled();
  if (results.empty() && !stages.empty())
    return success();
  // A kernel without iterations fills its results and no more.
  std::string name = function.getName().str();
  if (!stages.empty())
    name += "_fill";
  int64_t grid = results.empty() ? 0 : getFillGrid(results);
  return addFunction(
      name, grid, getSimpleLaunch(),
      [&](GpuFunction &context, KernelFrame &frame) -> LogicalResult {
        for (const FilledResult &result : results) {
          FailureOr<StageBindings> bindings =
              frame.bindStage(b, *result.stage, module);
          if (failed(bindings))
            return failure();
          emitResultFill(context, result, *bindings);
        }
        for (auto [sum, memory] : llvm::zip_equal(sums, words))
          emitZeroWords(context, sum, memory);
        return success();
      });
}

void KernelToGPU::bindSums(KernelFrame &frame, FixedPointSums &bound) {
  for (auto [sum, memory] : llvm::zip_equal(sums, words)) {
    Value result = sum.stage->op->getResult(sum.write->result);
    bound.bind(sum, frame.getBuffers().lookup(result), memory);
  }
}

LogicalResult KernelToGPU::emitStages(StringRef name,
                                      FixedPointSums::Pass pass) {
  int64_t threads = 1;
  for (const GpuStage &each : stages)
    threads = std::max(threads, each.schedule.getNumThreads());
  auto launch = LaunchAttr::get(b.getContext(), threads,
                                stages.front().schedule.getClusterSize(),
                                /*min_blocks=*/1, indexBits);
  // Reads move to where the function has what they read.
  SmallVector<GpuStage, 1> moved(stages);
  return addFunction(name, getGridSize(stages), launch,
                     [&](GpuFunction &context, KernelFrame &frame) {
                       FixedPointSums bound(pass);
                       bindSums(frame, bound);
                       if (!sums.empty())
                         context.setFixedPoint(&bound);
                       BlockTree tree(context, moved, frame.getBuffers());
                       return tree.emit([&](const Stage &stage) {
                         return frame.bindStage(b, stage, module,
                                                limits.lookup(stage.op));
                       });
                     });
}

LogicalResult KernelToGPU::emitSums() {
  SmallVector<FilledResult> results;
  for (const FixedPointSum &sum : sums)
    results.push_back({sum.stage, sum.write});
  std::string name = (function.getName() + "_sums").str();
  return addFunction(
      name, getFillGrid(results), getSimpleLaunch(),
      [&](GpuFunction &context, KernelFrame &frame) -> LogicalResult {
        for (auto [sum, memory] : llvm::zip_equal(sums, words)) {
          Value result = sum.stage->op->getResult(sum.write->result);
          emitFloatsOfWords(context, sum, frame.getBuffers().lookup(result),
                            memory);
        }
        return success();
      });
}

LogicalResult KernelToGPU::lower() {
  KernelFrame frame(function, kernel);
  if (failed(frame.verify()) || failed(readStages()))
    return failure();
  chooseIndices();
  b.setInsertionPoint(function);
  module = gpu::GPUModuleOp::create(b, function.getLoc(), function.getName());
  if (failed(emitFill()))
    return failure();
  std::string scale = (function.getName() + "_scale").str();
  if (!sums.empty() && failed(emitStages(scale, FixedPointSums::Pass::Measure)))
    return failure();
  if (!stages.empty() &&
      failed(emitStages(function.getName(), FixedPointSums::Pass::Add)))
    return failure();
  if (!sums.empty() && failed(emitSums()))
    return failure();
  function.erase();
  return success();
}

namespace {
struct ConvertMetaOpToGPUPass
    : metaop::impl::ConvertMetaOpToGPUPassBase<ConvertMetaOpToGPUPass> {
  using ConvertMetaOpToGPUPassBase::ConvertMetaOpToGPUPassBase;

  void runOnOperation() override {
    if (failed(lowerKernels(
            getOperation(), [this](func::FuncOp function, KernelOp kernel) {
              return KernelToGPU(function, kernel, *chip).lower();
            })))
      signalPassFailure();
  }
};
} // namespace
