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

// -----

// Branches and loops, and the numbers that decide in them, are legal in all
// phases.
func.func @control_flow(%x: tensor<8xf32>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %number = tensor.extract %n[] : tensor<i64>
  %end = arith.index_cast %number : i64 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %x) -> tensor<8xf32> {
    %condition = tensor.extract %c[] : tensor<i1>
    %0 = scf.if %condition -> (tensor<8xf32>) {
      %1 = scf.while (%w = %v) : (tensor<8xf32>) -> tensor<8xf32> {
        scf.condition(%condition) %w : tensor<8xf32>
      } do {
      ^bb0(%w: tensor<8xf32>):
        scf.yield %w : tensor<8xf32>
      }
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %v : tensor<8xf32>
    }
    %count = arith.index_cast %i : index to i64
    %counted = tensor.from_elements %count : tensor<i64>
    scf.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
