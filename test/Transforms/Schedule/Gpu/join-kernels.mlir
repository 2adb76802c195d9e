// RUN: metaop-opt %s -metaop-pipeline="from=fused to=scheduled target=cuda chip=sm_90a" | FileCheck %s

// What a sum keeps stands outside of what it is reduced over, in whatever order
// the tensor has them.

// CHECK-LABEL: func.func @kept_behind_reduced
// CHECK:         metaop.kernel
// CHECK:         schedule(#metaop.schedule<[block(0), block(3, 8), step(2), step(1, 256), thread(1), thread(3)], tile = [1: 8], place = [shared]>)
// CHECK:         schedule(#metaop.schedule<[block(0), block(2, 8), step(1, 256), thread(1), thread(2)], tile = [1: 8], shared = 2>)
func.func @kept_behind_reduced(%x: tensor<512x600x10x7xf32>) -> tensor<512x5x7xf32> {
  %0 = metaop.kernel(%a = %x : tensor<512x600x10x7xf32>) -> tensor<512x5x7xf32> {
    %2 = metaop.fused(%b = %a : tensor<512x600x10x7xf32>) -> tensor<512x5x7xf32> {
      %3 = metaop.reindex %b map affine_map<(d0, d1, d2, d3) -> (d0, d1, 2 * d2, d3)> fill 0.0 : f32 : tensor<512x600x10x7xf32> -> tensor<512x600x5x7xf32>
      %4 = metaop.reindex_reduce add %3 map affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<512x600x5x7xf32> -> tensor<512x5x7xf32>
      metaop.yield %4 : tensor<512x5x7xf32>
    }
    metaop.yield %2 : tensor<512x5x7xf32>
  }
  %1 = metaop.kernel(%a = %0 : tensor<512x5x7xf32>) -> tensor<512x5x7xf32> {
    %2 = metaop.fused(%b = %a : tensor<512x5x7xf32>) -> tensor<512x5x7xf32> {
      %3 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d0, 4 - d1, d2)> fill 0.0 : f32 : tensor<512x5x7xf32> -> tensor<512x5x7xf32>
      metaop.yield %3 : tensor<512x5x7xf32>
    }
    metaop.yield %2 : tensor<512x5x7xf32>
  }
  return %1 : tensor<512x5x7xf32>
}

// A sum of products among others of a kernel is no contraction in blocks, which
// would decide which loops of its neighbours are one.

// CHECK-LABEL: func.func @beside_a_sum_of_products
// CHECK:         metaop.kernel
// CHECK:         metaop.fused
// CHECK-SAME:    schedule(#metaop.schedule<[block(0), step(1, 4), step(2, 64), thread(1), thread(2, 4)], tile = [2: 4], lanes = 2: 4, place = [memory, registers]>)
// CHECK:         metaop.fused
// CHECK-SAME:    schedule(#metaop.schedule<[block(0), step(1, 4), step(2, 64), thread(1), thread(2, 4)], tile = [2: 4], lanes = 2: 4, shared = 1>) attributes {first_dims = array<i64: 0, 1, 2>}
func.func @beside_a_sum_of_products(%x: tensor<64x3x40xf32>, %y: tensor<64x3xf32>) -> (tensor<64x40xf32>, tensor<64xf32>) {
  %0:2 = metaop.kernel(%a = %x : tensor<64x3x40xf32>, %b = %y : tensor<64x3xf32>) -> (tensor<64x40xf32>, tensor<64x3x40xf32>) {
    %2:2 = metaop.fused(%c = %a : tensor<64x3x40xf32>, %d = %b : tensor<64x3xf32>) -> (tensor<64x40xf32>, tensor<64x3x40xf32>) {
      %3 = metaop.reindex %d map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.0 : f32 : tensor<64x3xf32> -> tensor<64x3x40xf32>
      %4 = metaop.mul %c, %3 : tensor<64x3x40xf32>
      %5 = metaop.reindex_reduce add %4 map affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<64x3x40xf32> -> tensor<64x40xf32>
      metaop.yield %5, %4 : tensor<64x40xf32>, tensor<64x3x40xf32>
    }
    metaop.yield %2#0, %2#1 : tensor<64x40xf32>, tensor<64x3x40xf32>
  }
  %1 = metaop.kernel(%a = %0#1 : tensor<64x3x40xf32>) -> tensor<64xf32> {
    %2 = metaop.fused(%b = %a : tensor<64x3x40xf32>) -> tensor<64xf32> {
      %3 = metaop.reindex_reduce add %b map affine_map<(d0, d1, d2) -> (d0)> : tensor<64x3x40xf32> -> tensor<64xf32>
      metaop.yield %3 : tensor<64xf32>
    }
    metaop.yield %2 : tensor<64xf32>
  }
  return %0#0, %1 : tensor<64x40xf32>, tensor<64xf32>
}
