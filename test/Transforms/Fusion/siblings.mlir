// RUN: metaop-opt %s -metaop-fuse | FileCheck %s
// RUN: metaop-opt %s -metaop-fuse="rules=paper" | FileCheck %s --check-prefix=PAPER

// Mean and mean of squares read x once.
// CHECK-LABEL: func @moments
// CHECK:         metaop.fused{{.*}} -> (tensor<16xf32>, tensor<16xf32>)
// CHECK-NOT:     metaop.kernel
// CHECK:         return
// PAPER-LABEL: func @moments
// PAPER-COUNT-2: metaop.kernel
// PAPER:         return
func.func @moments(%x: tensor<8x16x9xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = metaop.reduce add %x dims = [0, 2] : tensor<8x16x9xf32> -> tensor<16xf32>
  %1 = metaop.mul %x, %x : tensor<8x16x9xf32>
  %2 = metaop.reduce add %1 dims = [0, 2] : tensor<8x16x9xf32> -> tensor<16xf32>
  return %0, %2 : tensor<16xf32>, tensor<16xf32>
}

// The two read x at different points, so nothing is spared.
// CHECK-LABEL: func @different_maps
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @different_maps(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = metaop.exp %x : tensor<8x8xf32>
  %1 = metaop.transpose %x perm = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = metaop.neg %1 : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A path leads from one to the other.
// CHECK-LABEL: func @cycle
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.reduce
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.broadcast
// CHECK-NEXT:      metaop.sub
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @cycle(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = metaop.reduce max %x dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %1 = metaop.broadcast %0 dims = [0] : tensor<8xf32> -> tensor<8x8xf32>
  %2 = metaop.sub %x, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Two matrix products that read one matrix stay apart: the time goes into
// products, not into the read.
// CHECK-LABEL: func @products
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @products(%x: tensor<64x64xf32>, %v: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = metaop.broadcast %x dims = [0, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %1 = metaop.broadcast %v dims = [1, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %2 = metaop.mul %0, %1 : tensor<64x64x64xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<64x64x64xf32> -> tensor<64x64xf32>
  %4 = metaop.broadcast %x dims = [0, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %5 = metaop.broadcast %w dims = [1, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
  %6 = metaop.mul %4, %5 : tensor<64x64x64xf32>
  %7 = metaop.reduce add %6 dims = [2] : tensor<64x64x64xf32> -> tensor<64x64xf32>
  return %3, %7 : tensor<64x64xf32>, tensor<64x64xf32>
}

// One scalar is no reason to merge.
// CHECK-LABEL: func @scalars
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @scalars(%x: tensor<8xf32>, %y: tensor<8xf32>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = metaop.broadcast %s dims = [] : tensor<f32> -> tensor<8xf32>
  %1 = metaop.mul %x, %0 : tensor<8xf32>
  %2 = metaop.broadcast %s dims = [] : tensor<f32> -> tensor<8xf32>
  %3 = metaop.mul %y, %2 : tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}
