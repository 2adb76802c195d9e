//===- LaunchPlan.h - How a GPU's kernel is launched ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_GPU_LAUNCHPLAN_H
#define METAOPS_LIB_RUNTIME_GPU_LAUNCHPLAN_H

#include "MetaOps/Runtime/Program/Kernel.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace metaops {

/// One function of a kernel.
struct LaunchedFunction {
  std::string name;
  /// Of a block.
  uint32_t threads;
  /// Blocks of a cluster.
  uint32_t cluster;
  /// Shared memory that a launch asks for.
  uint32_t sharedBytes;
};

/// The launches that a call of a kernel is: of all its functions, in order. All
/// have the same arguments, the call's buffers, memory that the call lends, and
/// numbers.
class LaunchPlan {
public:
  /// Reads what `describeKernels` says.
  static llvm::Expected<LaunchPlan> read(mlir::ArrayAttr kernels);

  llvm::ArrayRef<LaunchedFunction> getFunctions() const { return functions; }
  /// The words of 64 bits of each piece of memory that a call lends.
  llvm::ArrayRef<int64_t> getScratch() const { return scratch; }

  /// Returns how many blocks a call has of each function, which may be none.
  /// Fails if it is a call of other functions.
  llvm::Expected<std::vector<int64_t>> getGrids(const KernelCall &call) const;

private:
  std::vector<LaunchedFunction> functions;
  std::vector<int64_t> scratch;
};

/// Memory that some of a call's buffers have in common: they overlap, as where
/// a kernel works in place.
struct SharedBuffers {
  /// From the first byte of them to the last.
  KernelBuffer memory;
  /// By their places in the call, in order.
  llvm::SmallVector<unsigned, 2> buffers;
};

/// The memory of a call, in pieces that do not overlap. Buffers of no bytes are
/// in none.
std::vector<SharedBuffers> findShared(llvm::ArrayRef<KernelBuffer> buffers);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_GPU_LAUNCHPLAN_H
