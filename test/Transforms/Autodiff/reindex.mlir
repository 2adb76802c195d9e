// What a reindex reads from a place is added up at that place, whatever its
// name: through the same map, symbols and conditions.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK-DAG: #[[GENERAL:.*]] = affine_map<(d0, d1, d2)[s0] -> (d0, d1 + d2 + s0)>
// CHECK-DAG: #[[WHERE:.*]] = affine_set<(d0, d1, d2)[s0] : (d1 - 1 >= 0)>
// CHECK-DAG: #[[HALF:.*]] = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
// CHECK-DAG: #[[INNER:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[SLICE:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 * -2 + s1)>
// CHECK-DAG: #[[PAD:.*]] = affine_map<(d0, d1) -> (d0, d1 - 1)>

// The fill has no part in the gradient.
// CHECK-LABEL: @general(
// CHECK-SAME: %{{.*}}: tensor<4x8xf32>, %[[S:.*]]: tensor<i64>)
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[G:.*]] = metaop.reindex_reduce add %[[ONE]] symbols(%[[S]]) map #[[GENERAL]] where #[[WHERE]] : tensor<4x8x3xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %{{.*}}, %[[G]]
func.func @general(%x: tensor<4x8xf32>, %s: tensor<i64>) -> tensor<4x8x3xf32> {
  %y = metaop.reindex %x symbols(%s) map affine_map<(d0, d1, d2)[s0] -> (d0, d1 + d2 + s0)>
      where affine_set<(d0, d1, d2)[s0] : (d1 - 1 >= 0)> fill 2.0 : f32
      : tensor<4x8xf32> -> tensor<4x8x3xf32>
  return %y : tensor<4x8x3xf32>
}

// The extents are those of the source.
// CHECK-LABEL: @dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %{{.*}}: index)
// CHECK: %[[DIM:.*]] = tensor.dim %[[X]]
// CHECK-NEXT: metaop.reindex_reduce add %{{.*}} extents(%[[DIM]]) map #[[HALF]] : tensor<?x8xf32> -> tensor<?x8xf32>
func.func @dynamic(%x: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  %y = metaop.reindex %x extents(%n) map affine_map<(d0, d1) -> (d0 floordiv 2, d1)> fill 0.0 : f32
      : tensor<?x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @broadcast(
// CHECK: metaop.reindex_reduce add %{{.*}} map #[[INNER]] : tensor<4x8xf32> -> tensor<8xf32>
func.func @broadcast(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %y = metaop.broadcast %x dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @transpose(
// CHECK: metaop.reindex_reduce add %{{.*}} map #[[SWAP]] : tensor<8x4xf32> -> tensor<4x8xf32>
func.func @transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %y = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: @slice(
// CHECK-SAME: %{{.*}}: tensor<100x8xf32>, %[[I:.*]]: tensor<i64>)
// CHECK: metaop.reindex_reduce add %{{.*}} symbols(%[[I]], %[[I]]) map #[[SLICE]] : tensor<32x4xf32> -> tensor<100x8xf32>
func.func @slice(%x: tensor<100x8xf32>, %i: tensor<i64>) -> tensor<32x4xf32> {
  %y = metaop.slice %x[%i, %i] strides = [1, -2] : tensor<100x8xf32> -> tensor<32x4xf32>
  return %y : tensor<32x4xf32>
}

// CHECK-LABEL: @pad(
// CHECK: metaop.reindex_reduce add %{{.*}} map #[[PAD]] : tensor<4x10xf32> -> tensor<4x8xf32>
func.func @pad(%x: tensor<4x8xf32>) -> tensor<4x10xf32> {
  %y = metaop.pad %x low = [0, 1] high = [0, 1] fill 3.0 : f32 : tensor<4x8xf32> -> tensor<4x10xf32>
  return %y : tensor<4x10xf32>
}
