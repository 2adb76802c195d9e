//===- GpuFunction.cpp - A kernel of a GPU that is being made -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuFunction.h"
#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Target/Description/Chip.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::metaop;

Attribute metaop::getMemorySpace(MLIRContext *context, GpuMemory memory) {
  return IntegerAttr::get(IntegerType::get(context, 64),
                          static_cast<int64_t>(memory));
}

GpuFunction::GpuFunction(OpBuilder &b, Location loc, gpu::GPUFuncOp function,
                         int64_t numThreads, int64_t clusterSize)
    : b(b), loc(loc), function(function), numThreads(numThreads),
      clusterSize(clusterSize) {
  thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  if (clusterSize > 1)
    rank = gpu::ClusterBlockIdOp::create(b, loc, gpu::Dimension::x);
}

Value GpuFunction::addShared(Type type, int64_t numElements) {
  auto memory =
      MemRefType::get({numElements}, type, MemRefLayoutAttrInterface(),
                      getMemorySpace(b.getContext(), GpuMemory::Shared));
  Value added = function.addWorkgroupAttribution(memory, loc);
  unsigned number = function.getNumWorkgroupAttributions() - 1;
  function.setWorkgroupAttributionAttr(
      number, "llvm.align", b.getI64IntegerAttr(Chip::kMaxAccessBytes));
  return added;
}

void GpuFunction::emitBarrier() { gpu::BarrierOp::create(b, loc); }

void GpuFunction::emitClusterBarrier() {
  NVVM::ClusterArriveOp::create(b, loc, /*aligned=*/b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, /*aligned=*/b.getUnitAttr());
}

void GpuFunction::emitGridLoop(Value count,
                               llvm::function_ref<void(Value number)> emit) {
  Value threads = emitIndex(numThreads);
  Value first = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, block, threads), thread);
  Value blocks = gpu::GridDimOp::create(b, loc, gpu::Dimension::x);
  emitFor(b, loc, {first, count, std::nullopt},
          arith::MulIOp::create(b, loc, blocks, threads), emit);
}

Value GpuFunction::emitIndex(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value GpuFunction::emitCoordinate(Value number, Value stride, Value count) {
  if (stride)
    number = arith::DivUIOp::create(b, loc, number, stride);
  if (count)
    number = arith::RemUIOp::create(b, loc, number, count);
  return number;
}

Value GpuFunction::emitCoordinate(Value number, int64_t stride, int64_t count) {
  return emitCoordinate(number, stride == 1 ? Value() : emitIndex(stride),
                        count == 0 ? Value() : emitIndex(count));
}

Value GpuFunction::emitThreadCoordinate(int64_t stride, int64_t count) {
  return emitCoordinate(thread, stride,
                        stride * count == numThreads ? 0 : count);
}
