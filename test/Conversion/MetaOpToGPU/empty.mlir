// RUN: metaop-opt %s -metaop-schedule-gpu -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s

// What is reduced over nothing is the identity.
// CHECK-LABEL: gpu.func @reduced(
// CHECK-SAME:    range = 1
// CHECK:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         memref.store %[[ONE]], %{{.*}} : memref<4xf32, 1>
func.func private @reduced(%x: tensor<4x0xf32>) -> tensor<4xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x0xf32>) -> tensor<4xf32> {
    %r = metaop.fused(%bx = %kx : tensor<4x0xf32>) -> tensor<4xf32> {
      %y = metaop.reindex_reduce mul %bx map affine_map<(i, j) -> (i)> : tensor<4x0xf32> -> tensor<4xf32>
      metaop.yield %y : tensor<4xf32>
    }
    metaop.yield %r : tensor<4xf32>
  }
  return %k : tensor<4xf32>
}

// Nothing is left to do.
// CHECK-LABEL: gpu.func @nothing(
// CHECK-SAME:    range = 0
// CHECK-NOT:     memref
// CHECK:         gpu.return
func.func private @nothing(%x: tensor<4x0xf32>) -> tensor<4x0xf32> {
  %k = metaop.kernel(%kx = %x : tensor<4x0xf32>) -> tensor<4x0xf32> {
    %r = metaop.fused(%bx = %kx : tensor<4x0xf32>) -> tensor<4x0xf32> {
      %y = metaop.neg %bx : tensor<4x0xf32>
      metaop.yield %y : tensor<4x0xf32>
    }
    metaop.yield %r : tensor<4x0xf32>
  }
  return %k : tensor<4x0xf32>
}
