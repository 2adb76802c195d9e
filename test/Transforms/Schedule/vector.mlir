// RUN: metaop-opt %s -metaop-schedule | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule=processor=avx2 | FileCheck %s --check-prefix=V256
// RUN: metaop-opt %s -metaop-schedule=processor=scalar | FileCheck %s --check-prefix=SCALAR

// SCALAR-NOT: lanes

// The widest element that is read or computed gives the number of lanes.
// CHECK-LABEL: func @widest
// CHECK: <[step(0, 8)], tile = [0: 8], lanes = 0: 8>
// V256-LABEL: func @widest
// V256: <[step(0, 4)], tile = [0: 4], lanes = 0: 4>
func.func @widest(%x: tensor<1000xf32>) -> tensor<1000xf64> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<1000xf64> {
    %1 = metaop.cast %a : tensor<1000xf32> -> tensor<1000xf64>
    metaop.yield %1 : tensor<1000xf64>
  }
  return %0 : tensor<1000xf64>
}

// A boolean takes a byte.
// CHECK-LABEL: func @bytes
// CHECK: <[step(0, 64)], tile = [0: 64], lanes = 0: 64>
func.func @bytes(%x: tensor<1000xi1>) -> tensor<1000xi1> {
  %0 = metaop.fused(%a = %x : tensor<1000xi1>) -> tensor<1000xi1> {
    %1 = metaop.not %a : tensor<1000xi1>
    metaop.yield %1 : tensor<1000xi1>
  }
  return %0 : tensor<1000xi1>
}

// No more lanes than a power of two that holds the loop.
// CHECK-LABEL: func @short
// CHECK: <[step(0, 8)], tile = [0: 8], lanes = 0: 8>
func.func @short(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = metaop.fused(%a = %x : tensor<5xf32>) -> tensor<5xf32> {
    %1 = metaop.exp %a : tensor<5xf32>
    metaop.yield %1 : tensor<5xf32>
  }
  return %0 : tensor<5xf32>
}

// The largest of products: unit steps in the second factor and the result along j; i
// would step through both, k through the first alone.
// CHECK-LABEL: func @largest
// CHECK: <[parallel(0, 8), step(2, 16), step(1)], tile = [0: 8, 2: 16], lanes = 2: 16>
func.func @largest(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x64xf32>, %b = %y : tensor<64x64xf32>) -> tensor<64x64xf32> {
    %1 = metaop.broadcast %a dims = [0, 1] : tensor<64x64xf32> -> tensor<64x64x64xf32>
    %2 = metaop.broadcast %b dims = [1, 2] : tensor<64x64xf32> -> tensor<64x64x64xf32>
    %3 = metaop.mul %1, %2 : tensor<64x64x64xf32>
    %4 = metaop.reduce max %3 dims = [1] : tensor<64x64x64xf32> -> tensor<64x64xf32>
    metaop.yield %4 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// A reduced loop is the vector loop where it alone is contiguous, and then
// stands last.
// CHECK-LABEL: func @row_sums
// CHECK: <[parallel(0), step(1, 64)], tile = [1: 64], lanes = 1: 16>
func.func @row_sums(%x: tensor<64x1000xf32>) -> tensor<64xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x1000xf32>) -> tensor<64xf32> {
    %1 = metaop.reduce add %a dims = [1] : tensor<64x1000xf32> -> tensor<64xf32>
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// Lanes that could write one element are no vector: all of i mod 3 are few
// elements, so only scalar code remains.
// CHECK-LABEL: func @colliding
// CHECK: <[step(0)]>
func.func @colliding(%x: tensor<1000xf32>) -> tensor<3xf32> {
  %0 = metaop.fused(%a = %x : tensor<1000xf32>) -> tensor<3xf32> {
    %1 = metaop.reindex_reduce add %a map affine_map<(d0) -> (d0 mod 3)> : tensor<1000xf32> -> tensor<3xf32>
    metaop.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// The lanes are those of the floats; of the places that are compared beside them,
// in i64, there are two vectors. Integers alone, and f64, have lanes of their own.
// CHECK-LABEL: func @masked
// CHECK: <[parallel(0), step(1, 16)], tile = [1: 16], lanes = 1: 16>
func.func @masked(%x: tensor<512x512xf32>, %i: tensor<512xi64>, %low: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = metaop.fused(%a = %x : tensor<512x512xf32>, %b = %i : tensor<512xi64>, %c = %low : tensor<512x512xf32>) -> tensor<512x512xf32> {
    %1 = metaop.broadcast %b dims = [0] : tensor<512xi64> -> tensor<512x512xi64>
    %2 = metaop.broadcast %b dims = [1] : tensor<512xi64> -> tensor<512x512xi64>
    %3 = metaop.cmp ge %1, %2 : tensor<512x512xi64> -> tensor<512x512xi1>
    %4 = metaop.select %3, %a, %c : tensor<512x512xi1>, tensor<512x512xf32>
    metaop.yield %4 : tensor<512x512xf32>
  }
  return %0 : tensor<512x512xf32>
}

// CHECK-LABEL: func @counted
// CHECK: lanes = 0: 8>
func.func @counted(%x: tensor<4096xi64>) -> tensor<4096xi64> {
  %0 = metaop.fused(%a = %x : tensor<4096xi64>) -> tensor<4096xi64> {
    %1 = metaop.add %a, %a : tensor<4096xi64>
    metaop.yield %1 : tensor<4096xi64>
  }
  return %0 : tensor<4096xi64>
}

// Short steps cost some vectors and shuffles: a pooling is a vector of windows,
// rather than a window that fills a part of a vector.
// CHECK-LABEL: func @pooling
// CHECK: <[parallel(0), step(1, 16), step(2), step(3)], tile = [1: 16], lanes = 1: 16, unroll = [2, 3]>
func.func @pooling(%x: tensor<256x65xf32>) -> tensor<128x32xf32> {
  %0 = metaop.fused(%a = %x : tensor<256x65xf32>) -> tensor<128x32xf32> {
    %1 = metaop.reindex %a map affine_map<(i, j, k, l) -> (2 * i + k, 2 * j + l)> fill 0.0 : f32 : tensor<256x65xf32> -> tensor<128x32x3x3xf32>
    %2 = metaop.reduce max %1 dims = [2, 3] : tensor<128x32x3x3xf32> -> tensor<128x32xf32>
    metaop.yield %2 : tensor<128x32xf32>
  }
  return %0 : tensor<128x32xf32>
}
