// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-verify-phase="phase=graph"
// RUN: metaop-opt %s -split-input-file -metaop-fuse -metaop-verify-phase="phase=fused" -metaop-outline -metaop-verify-phase="phase=kernels" | FileCheck %s

// CHECK-LABEL: func @legal
func.func @legal(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %0 = metaop.broadcast %w extents(%n) dims = [1] : tensor<8xf32> -> tensor<?x8xf32>
  %1 = metaop.mul %x, %0 : tensor<?x8xf32>
  %2 = metaop.stop_fuse %1 : tensor<?x8xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<?x8xf32> -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
