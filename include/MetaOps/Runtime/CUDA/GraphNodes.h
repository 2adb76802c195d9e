//===- GraphNodes.h - Parameters of nodes of graphs -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Laid out as the structures of cuda.h that the names behind them say.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_CUDA_GRAPHNODES_H
#define METAOPS_RUNTIME_CUDA_GRAPHNODES_H

#include "MetaOps/Runtime/CUDA/Driver.h"

namespace metaops {

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  DriverHandle function = nullptr;
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  void **arguments = nullptr, **extra = nullptr;
  DriverHandle kernel = nullptr, context = nullptr;
};

/// One side of a copy, in memory of a CUmemorytype.
struct CopyEnd {
  static constexpr int kHost = 1, kDevice = 2;

  size_t x = 0, y = 0, z = 0, levelOfDetail = 0;
  int memoryType = 0;
  /// The one that the type means.
  const void *host = nullptr;
  DevicePointer device = 0;
  DriverHandle array = nullptr, reserved = nullptr;
  size_t pitch = 0, height = 0;
};

/// CUDA_MEMCPY3D_v2.
struct CopyNode {
  CopyEnd from, to;
  size_t bytes = 0, height = 1, depth = 1;
};

/// CUDA_MEMSET_NODE_PARAMS_v1.
struct FillNode {
  DevicePointer to = 0;
  size_t pitch = 0;
  unsigned value = 0, elementBytes = 1;
  size_t width = 0, height = 1;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_CUDA_GRAPHNODES_H
