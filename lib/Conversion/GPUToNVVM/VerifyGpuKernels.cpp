//===- VerifyGpuKernels.cpp - What is legal in the phase gpu --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conditions that every pass behind this phase counts on, and the emulator with
// them: how a kernel is called, where its memory is, and that nothing in it
// would become code of another kind than it says.
//
//===----------------------------------------------------------------------===//

#include "GpuEntry.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_VERIFYGPUKERNELSPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static bool isInSpace(MemRefType type, NVVM::NVVMMemorySpace space) {
  auto number = dyn_cast_if_present<IntegerAttr>(type.getMemorySpace());
  return number && number.getInt() == static_cast<int64_t>(space);
}

static bool isBuffer(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.getRank() == 1 && buffer.getLayout().isIdentity() &&
         isInSpace(buffer, NVVM::NVVMMemorySpace::Global);
}

static LaunchAttr getLaunch(gpu::GPUFuncOp kernel) {
  return MetaOpDialect::LaunchAttrHelper(kernel.getContext()).getAttr(kernel);
}

/// Verifies that the arguments are buffers, then numbers.
static LogicalResult verifyArguments(gpu::GPUFuncOp kernel) {
  MetaOpDialect::EntryAttrHelper entryOf(kernel.getContext());
  EntryAttr entry = entryOf.getAttr(kernel);
  if (!entry)
    return kernel.emitOpError("expects `") << entryOf.getName().strref() << "`";
  int64_t count = entry.getBuffers();
  auto isSound = [&](auto argument) {
    auto [position, type] = argument;
    return static_cast<int64_t>(position) < count ? isBuffer(type)
                                                  : type.isIndex();
  };
  ArrayRef<Type> types = kernel.getArgumentTypes();
  if (static_cast<int64_t>(types.size()) < count ||
      !llvm::all_of(llvm::enumerate(types), isSound))
    return kernel.emitOpError("expects ")
           << count
           << " 1-d buffers in memory space 1, then numbers of type index, "
              "given "
           << kernel.getFunctionType();
  return success();
}

static LogicalResult verifySharedMemory(gpu::GPUFuncOp kernel,
                                        const Chip &chip) {
  int64_t numBytes = 0;
  for (BlockArgument attribution : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(attribution.getType());
    if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
        !isInSpace(type, NVVM::NVVMMemorySpace::Shared))
      return kernel.emitOpError("expects shared memory of static shapes in "
                                "memory space 3, given ")
             << type;
    numBytes += getSharedBytes(type);
  }
  if (numBytes > chip.sharedBytesOfBlock)
    return kernel.emitOpError("expects at most ")
           << chip.sharedBytesOfBlock << " bytes of shared memory on "
           << chip.name << ", given " << numBytes;
  return success();
}

static LogicalResult verifyLaunch(gpu::GPUFuncOp kernel, const Chip &chip) {
  LaunchAttr launch = getLaunch(kernel);
  if (!launch)
    return kernel.emitOpError("expects `")
           << MetaOpDialect::LaunchAttrHelper::getNameStr() << "`";
  if (launch.getCluster() > chip.maxCluster)
    return kernel.emitOpError("expects clusters of at most ")
           << chip.maxCluster << " blocks on " << chip.name << ", given "
           << launch.getCluster();
  return success();
}

static LogicalResult verifyOp(Operation *op) {
  if (isa<vector::MaskedLoadOp, vector::MaskedStoreOp, vector::GatherOp,
          vector::ScatterOp, vector::ExpandLoadOp, vector::CompressStoreOp,
          vector::TransferReadOp, vector::TransferWriteOp, vector::MaskOp>(op))
    return op->emitOpError("is no instruction of GPUs: expected an access of a "
                           "whole vector, or of scalars, inside of a branch");
  auto isAlongX = [&](gpu::Dimension dimension) -> LogicalResult {
    if (dimension == gpu::Dimension::x)
      return success();
    return op->emitOpError("expects blocks and threads to be numbered along x");
  };
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return isAlongX(id.getDimension());
  if (auto id = dyn_cast<gpu::BlockIdOp>(op))
    return isAlongX(id.getDimension());
  return success();
}

static LogicalResult verifyKernel(gpu::GPUFuncOp kernel, const Chip &chip) {
  if (failed(verifyArguments(kernel)) ||
      failed(verifySharedMemory(kernel, chip)) ||
      failed(verifyLaunch(kernel, chip)))
    return failure();
  WalkResult result = kernel.walk([](Operation *op) {
    return failed(verifyOp(op)) ? WalkResult::interrupt()
                                : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Verifies a module: a call runs its kernels in order, with the same
/// arguments.
static LogicalResult verifyModule(gpu::GPUModuleOp module, const Chip &chip) {
  auto kernels = llvm::to_vector(module.getOps<gpu::GPUFuncOp>());
  auto isKernel = [](gpu::GPUFuncOp function) { return function.isKernel(); };
  if (kernels.empty() || !llvm::all_of(kernels, isKernel))
    return module.emitOpError("expects functions, each of them a kernel");
  for (gpu::GPUFuncOp kernel : kernels)
    if (failed(verifyKernel(kernel, chip)))
      return failure();
  auto getIndexBits = [](gpu::GPUFuncOp kernel) {
    return getLaunch(kernel).getIndexBits();
  };
  for (gpu::GPUFuncOp kernel : llvm::drop_begin(kernels)) {
    if (kernel.getArgumentTypes() != kernels.front().getArgumentTypes())
      return kernel.emitOpError("expects the arguments of '@")
             << kernels.front().getName() << "'";
    if (getIndexBits(kernel) != getIndexBits(kernels.front()))
      return kernel.emitOpError("expects the indices of '@")
             << kernels.front().getName() << "'";
  }
  return success();
}

namespace {
struct VerifyGpuKernelsPass
    : metaop::impl::VerifyGpuKernelsPassBase<VerifyGpuKernelsPass> {
  using VerifyGpuKernelsPassBase::VerifyGpuKernelsPassBase;

  void runOnOperation() override {
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(verifyModule(module, *chip)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
