// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// Leading kept loops are parallel until there is enough work for any number of
// threads: 16 alone is not, 16 * 32 is.
// CHECK-LABEL: func @two
// CHECK: <[parallel(0), parallel(1), step(2, 16)], tile
func.func @two(%x: tensor<16x32x64xf32>, %y: tensor<16xf32>, %z: tensor<64xf32>) -> tensor<16x32x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<16x32x64xf32>, %b = %y : tensor<16xf32>, %c = %z : tensor<64xf32>) -> tensor<16x32x64xf32> {
    %1 = metaop.broadcast %b dims = [0] : tensor<16xf32> -> tensor<16x32x64xf32>
    %2 = metaop.broadcast %c dims = [2] : tensor<64xf32> -> tensor<16x32x64xf32>
    %3 = metaop.mul %1, %2 : tensor<16x32x64xf32>
    %4 = metaop.mul %a, %3 : tensor<16x32x64xf32>
    metaop.yield %4 : tensor<16x32x64xf32>
  }
  return %0 : tensor<16x32x64xf32>
}

// CHECK-LABEL: func @one
// CHECK: <[parallel(0), step(1, 16)], tile
func.func @one(%x: tensor<1000x64xf32>, %z: tensor<64xf32>) -> tensor<1000x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000x64xf32>, %c = %z : tensor<64xf32>) -> tensor<1000x64xf32> {
    %1 = metaop.broadcast %c dims = [1] : tensor<64xf32> -> tensor<1000x64xf32>
    %2 = metaop.mul %a, %1 : tensor<1000x64xf32>
    metaop.yield %2 : tensor<1000x64xf32>
  }
  return %0 : tensor<1000x64xf32>
}

// Everything is reduced: nothing is parallel.
// CHECK-LABEL: func @none
// CHECK: <[step(0, 64)], tile
func.func @none(%x: tensor<1000x64xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<1000x64xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0, 1] : tensor<1000x64xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// A loop is parallel only if each result keeps it.
// CHECK-LABEL: func @both
// CHECK: <[step(0), step(1, 16)], tile
func.func @both(%x: tensor<100x64xf32>) -> (tensor<100xf32>, tensor<64xf32>) {
  %0:2 = metaop.fused(%a = %x : tensor<100x64xf32>) -> (tensor<100xf32>, tensor<64xf32>) {
    %1 = metaop.reduce add %a dims = [1] : tensor<100x64xf32> -> tensor<100xf32>
    %2 = metaop.reduce add %a dims = [0] : tensor<100x64xf32> -> tensor<64xf32>
    metaop.yield %1, %2 : tensor<100xf32>, tensor<64xf32>
  }
  return %0#0, %0#1 : tensor<100xf32>, tensor<64xf32>
}
