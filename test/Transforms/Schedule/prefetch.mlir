// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// Lines of what memory holds are asked for half a page ahead: those of a sum,
// CHECK-LABEL: func @sum
// CHECK: tile = [0: 64], lanes = 0: 16, prefetch = 8, pairwise = 32>
func.func @sum(%x: tensor<1048576xf32>) -> tensor<f32> {
  %0 = metaop.fused(%a = %x : tensor<1048576xf32>) -> tensor<f32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<1048576xf32> -> tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// and of what functions are computed of.
// CHECK-LABEL: func @function
// CHECK: tile = [0: 16], lanes = 0: 16, prefetch = 32>
func.func @function(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %0 = metaop.fused(%a = %x : tensor<1048576xf32>) -> tensor<1048576xf32> {
    %1 = metaop.tanh %a : tensor<1048576xf32>
    metaop.yield %1 : tensor<1048576xf32>
  }
  return %0 : tensor<1048576xf32>
}

// Elements of f64 are twice as long.
// CHECK-LABEL: func @wide
// CHECK: tile = [0: 8], lanes = 0: 8, prefetch = 32>
func.func @wide(%x: tensor<1048576xf64>) -> tensor<1048576xf64> {
  %0 = metaop.fused(%a = %x : tensor<1048576xf64>) -> tensor<1048576xf64> {
    %1 = metaop.tanh %a : tensor<1048576xf64>
    metaop.yield %1 : tensor<1048576xf64>
  }
  return %0 : tensor<1048576xf64>
}

// Short bodies let the processor see far enough,
// CHECK-LABEL: func @short
// CHECK-NOT: prefetch
func.func @short(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %0 = metaop.fused(%a = %x : tensor<1048576xf32>) -> tensor<1048576xf32> {
    %1 = metaop.neg %a : tensor<1048576xf32>
    metaop.yield %1 : tensor<1048576xf32>
  }
  return %0 : tensor<1048576xf32>
}

// and caches are near.
// CHECK-LABEL: func @cached
// CHECK-NOT: prefetch
func.func @cached(%x: tensor<131072xf32>) -> tensor<131072xf32> {
  %0 = metaop.fused(%a = %x : tensor<131072xf32>) -> tensor<131072xf32> {
    %1 = metaop.tanh %a : tensor<131072xf32>
    metaop.yield %1 : tensor<131072xf32>
  }
  return %0 : tensor<131072xf32>
}

// Rows that are shorter than the tensor is are followed by others.
// CHECK-LABEL: func @rows
// CHECK: lanes = 1: 16, prefetch =
func.func @rows(%x: tensor<8192x128xf32>) -> tensor<8192xf32> {
  %0 = metaop.fused(%a = %x : tensor<8192x128xf32>) -> tensor<8192xf32> {
    %1 = metaop.reduce max %a dims = [1] : tensor<8192x128xf32> -> tensor<8192xf32>
    metaop.yield %1 : tensor<8192xf32>
  }
  return %0 : tensor<8192xf32>
}

// Behind a slice of a row there is nothing that is read,
// CHECK-LABEL: func @slices
// CHECK-NOT: prefetch
func.func @slices(%x: tensor<16384x4096xf32>) -> tensor<16384xf32> {
  %0 = metaop.fused(%a = %x : tensor<16384x4096xf32>) -> tensor<16384xf32> {
    %1 = metaop.reindex %a map affine_map<(d0, d1) -> (d0, d1)> fill 0.0 : f32 : tensor<16384x4096xf32> -> tensor<16384x128xf32>
    %2 = metaop.reduce add %1 dims = [1] : tensor<16384x128xf32> -> tensor<16384xf32>
    metaop.yield %2 : tensor<16384xf32>
  }
  return %0 : tensor<16384xf32>
}

// and windows read most of their elements from a cache.
// CHECK-LABEL: func @windows
// CHECK-NOT: prefetch
func.func @windows(%x: tensor<64x514x514xf32>) -> tensor<64x512x512xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x514x514xf32>) -> tensor<64x512x512xf32> {
    %1 = metaop.reindex %a map affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d2 + d4)> fill 0.0 : f32 : tensor<64x514x514xf32> -> tensor<64x512x512x3x3xf32>
    %2 = metaop.reduce max %1 dims = [3, 4] : tensor<64x512x512x3x3xf32> -> tensor<64x512x512xf32>
    metaop.yield %2 : tensor<64x512x512xf32>
  }
  return %0 : tensor<64x512x512xf32>
}
