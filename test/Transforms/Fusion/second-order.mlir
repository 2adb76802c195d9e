// RUN: metaop-opt %s -metaop-autodiff="order=2" -metaop-simplify -metaop-clone-producers -metaop-fuse | FileCheck %s

// The gradients of the gradients of a convolution too are made of kernels that
// keep what has seven dimensions to themselves, whether the batch is static or
// not.
// CHECK-LABEL: func @static
// CHECK-NOT:     metaop.kernel({{.*}}x32x32x32x16x3x3xf32
// CHECK-NOT:     metaop.fused({{.*}}x32x32x32x16x3x3xf32
// CHECK:         return
// CHECK-LABEL: func @dynamic
// CHECK-NOT:     metaop.kernel({{.*}}x32x32x32x16x3x3xf32
// CHECK-NOT:     metaop.fused({{.*}}x32x32x32x16x3x3xf32
// CHECK:         return

#image = affine_map<(n, o, h, w, i, y, z) -> (n, i, h + y - 1, w + z - 1)>

func.func @static(%x: tensor<2x16x32x32xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<f32> {
  %0 = metaop.reindex %x map #image fill 0.0 : f32 : tensor<2x16x32x32xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %1 = metaop.broadcast %w dims = [1, 4, 5, 6] : tensor<32x16x3x3xf32> -> tensor<2x32x32x32x16x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<2x32x32x32x16x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<2x32x32x32x16x3x3xf32> -> tensor<2x32x32x32xf32>
  %4 = metaop.tanh %3 : tensor<2x32x32x32xf32>
  %5 = metaop.reduce add %4 dims = [0, 1, 2, 3] : tensor<2x32x32x32xf32> -> tensor<f32>
  return %5 : tensor<f32>
}

func.func @dynamic(%x: tensor<?x16x32x32xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16x32x32xf32>
  %0 = metaop.reindex %x extents(%n) map #image fill 0.0 : f32 : tensor<?x16x32x32xf32> -> tensor<?x32x32x32x16x3x3xf32>
  %1 = metaop.broadcast %w extents(%n) dims = [1, 4, 5, 6] : tensor<32x16x3x3xf32> -> tensor<?x32x32x32x16x3x3xf32>
  %2 = metaop.mul %0, %1 : tensor<?x32x32x32x16x3x3xf32>
  %3 = metaop.reduce add %2 dims = [4, 5, 6] : tensor<?x32x32x32x16x3x3xf32> -> tensor<?x32x32x32xf32>
  %4 = metaop.tanh %3 : tensor<?x32x32x32xf32>
  %5 = metaop.reduce add %4 dims = [0, 1, 2, 3] : tensor<?x32x32x32xf32> -> tensor<f32>
  return %5 : tensor<f32>
}
