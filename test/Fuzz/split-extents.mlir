// RUN: metaop-opt %s -split-input-file -metaop-pipeline=to=scheduled | FileCheck %s

// Reductions whose extents are not known, or whose partial results cannot be
// counted, are not split: these products overflowed.

// CHECK-LABEL: @main(%{{.*}}: tensor<?x3xf32>
// CHECK-COUNT-1: metaop.kernel
// CHECK-NOT: metaop.kernel
func.func @main(%z: tensor<?x3xf32>) -> tensor<3xf32> {
  %0 = metaop.reduce add %z dims = [0] : tensor<?x3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: @main(%{{.*}}: tensor<2147483647x16xf32>
func.func @main(%a: tensor<2147483647x16xf32>, %b: tensor<16x336xf32>, %z: tensor<2147483647x336xf32>) -> (tensor<2147483647x336xf32>, tensor<336xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<2147483647x16xf32> -> tensor<2147483647x336x16xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<16x336xf32> -> tensor<2147483647x336x16xf32>
  %2 = metaop.mul %0, %1 : tensor<2147483647x336x16xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<2147483647x336x16xf32> -> tensor<2147483647x336xf32>
  %4 = metaop.mul %3, %z : tensor<2147483647x336xf32>
  %5 = metaop.reduce add %4 dims = [0] : tensor<2147483647x336xf32> -> tensor<336xf32>
  return %4, %5 : tensor<2147483647x336xf32>, tensor<336xf32>
}
