//===- GpuFunction.h - A kernel of a GPU that is being made -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOGPU_GPUFUNCTION_H
#define METAOPS_LIB_CONVERSION_METAOPTOGPU_GPUFUNCTION_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::metaop {

class FixedPointSums;

/// Address spaces of memrefs, as NVVM numbers them.
enum class GpuMemory { Global = 1, Shared = 3 };

/// The function, and what each of its threads knows of itself.
class GpuFunction {
public:
  /// Numbers the threads of a block from here on.
  GpuFunction(OpBuilder &b, Location loc, gpu::GPUFuncOp function,
              int64_t numThreads, int64_t clusterSize);

  OpBuilder &getBuilder() { return b; }
  Location getLoc() const { return loc; }
  gpu::GPUFuncOp getOp() { return function; }
  Value getThread() const { return thread; }
  int64_t getNumThreads() const { return numThreads; }
  int64_t getClusterSize() const { return clusterSize; }
  /// The number of the block in the grid, and in its cluster.
  Value getBlock() const { return block; }
  Value getBlockInCluster() const { return rank; }

  /// Returns the conversions of sums of floats that all threads add to; null if
  /// they are added as they are.
  const FixedPointSums *getFixedPoint() const { return fixedPoint; }
  void setFixedPoint(const FixedPointSums *sums) { fixedPoint = sums; }

  /// Memory of the block, for elements as memory holds them.
  Value addShared(Type type, int64_t numElements);
  /// All threads of the block wait for each other.
  void emitBarrier();
  /// All threads of all blocks of the cluster do.
  void emitClusterBarrier();

  /// Shares the numbers below `count` among the threads of the grid.
  void emitGridLoop(Value count, llvm::function_ref<void(Value number)> emit);

  /// `number / stride % count`; a null count does not wrap around.
  Value emitCoordinate(Value number, Value stride, Value count);
  Value emitCoordinate(Value number, int64_t stride, int64_t count);
  /// The same of the thread's number, which needs not wrap around at its end.
  Value emitThreadCoordinate(int64_t stride, int64_t count);
  Value emitIndex(int64_t value);

private:
  OpBuilder &b;
  Location loc;
  gpu::GPUFuncOp function;
  int64_t numThreads, clusterSize;
  Value thread, block, rank;
  const FixedPointSums *fixedPoint = nullptr;
};

/// The attribute of a memref in a GPU's memory.
Attribute getMemorySpace(MLIRContext *context, GpuMemory memory);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOGPU_GPUFUNCTION_H
