// RUN: metaop-opt %s -metaop-simplify -metaop-clone-producers -metaop-fuse | FileCheck %s
// RUN: metaop-opt %s -metaop-simplify -metaop-clone-producers="rules=paper" -metaop-fuse="rules=paper" | FileCheck %s

#image = affine_map<(n, o, h, w, i, y, z) -> (n, i, h + y - 1, w + z - 1)>

// A convolution is one kernel.
// CHECK-LABEL: func @convolution
// CHECK:         metaop.kernel(%{{.*}} = %{{.*}} : tensor<2x16x32x32xf32>, %{{.*}} = %{{.*}} : tensor<32x16x3x3xf32>) -> tensor<2x32x32x32xf32>
// CHECK:             metaop.reindex
// CHECK-NEXT:        metaop.reindex
// CHECK-NEXT:        metaop.mul
// CHECK-NEXT:        metaop.reindex_reduce
// CHECK-NEXT:        metaop.yield
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @convolution(%x: tensor<2x16x32x32xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<2x32x32x32xf32> {
  %0 = metaop.reindex %x map #image fill 0.0 : f32 : tensor<2x16x32x32xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x16x3x3xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x32x32x32x16x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x32x32x32x16x3x3xf32> -> tensor<2x32x32x32xf32>
  return %3 : tensor<2x32x32x32xf32>
}

// With its loss and both gradients, no kernel has an input or a result of seven
// dimensions.
// CHECK-LABEL: func @training
// CHECK-NOT:     metaop.kernel{{.*}}2x32x32x32x16x3x3
// CHECK-NOT:     metaop.fused{{.*}}2x32x32x32x16x3x3
// CHECK:         return
func.func @training(%x: tensor<2x16x32x32xf32>, %w: tensor<32x16x3x3xf32>) -> (tensor<f32>, tensor<32x16x3x3xf32>, tensor<2x16x32x32xf32>) {
  %0 = metaop.reindex %x map #image fill 0.0 : f32 : tensor<2x16x32x32xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x16x3x3xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x32x32x32x16x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x32x32x32x16x3x3xf32> -> tensor<2x32x32x32xf32>
  %4 = metaop.mul %3, %3 : tensor<2x32x32x32xf32>
  %loss = metaop.reduce add %4 dims = [0, 1, 2, 3] : tensor<2x32x32x32xf32> -> tensor<f32>
  %two = metaop.constant dense<2.0> : tensor<2x32x32x32xf32>
  %dy = metaop.mul %3, %two : tensor<2x32x32x32xf32>
  %dp = metaop.broadcast %dy dims = [0, 1, 2, 3] : tensor<2x32x32x32xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %dww = metaop.mul %dp, %0 : tensor<2x32x32x32x16x3x3xf32>
  %dw = metaop.reduce add %dww dims = [0, 2, 3] : tensor<2x32x32x32x16x3x3xf32> -> tensor<32x16x3x3xf32>
  %dxx = metaop.mul %dp, %1 : tensor<2x32x32x32x16x3x3xf32>
  %dx = metaop.reindex_reduce add %dxx map #image : tensor<2x32x32x32x16x3x3xf32> -> tensor<2x16x32x32xf32>
  return %loss, %dw, %dx : tensor<f32>, tensor<32x16x3x3xf32>, tensor<2x16x32x32xf32>
}
