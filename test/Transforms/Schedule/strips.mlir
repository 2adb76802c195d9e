// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// Rows of a large sum are added to a row in memory, eight at a time: outermost are
// strips of columns, which threads share, and innermost the columns of one.
// CHECK-LABEL: func @long_rows
// CHECK: <[parallel(1, 4096), step(0, 8, body), step(1, 16)], tile = [0: 8, 1: 16], lanes = 1: 16, prefetch = 32>
func.func @long_rows(%x: tensor<40x32768xf32>) -> tensor<32768xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x32768xf32>) -> tensor<32768xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x32768xf32> -> tensor<32768xf32>
    metaop.yield %1 : tensor<32768xf32>
  }
  return %0 : tensor<32768xf32>
}

// Strips of one size fill no row of a prime length: the last one is shorter, by
// little.
// CHECK-LABEL: func @prime
// CHECK: <[parallel(1, 3648), step(0, 8, body), step(1, 16)], tile = [0: 8, 1: 16], lanes = 1: 16, prefetch = 32>
func.func @prime(%x: tensor<40x32771xf32>) -> tensor<32771xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x32771xf32>) -> tensor<32771xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x32771xf32> -> tensor<32771xf32>
    metaop.yield %1 : tensor<32771xf32>
  }
  return %0 : tensor<32771xf32>
}

// More strips are better for threads, but not shorter ones than of 1024 columns.
// CHECK-LABEL: func @few_strips
// CHECK: <[parallel(1, 1088), step(0, 8, body), step(1, 16)], tile = [0: 8, 1: 16], lanes = 1: 16, prefetch = 32>
func.func @few_strips(%x: tensor<40x14000xf32>) -> tensor<14000xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x14000xf32>) -> tensor<14000xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x14000xf32> -> tensor<14000xf32>
    metaop.yield %1 : tensor<14000xf32>
  }
  return %0 : tensor<14000xf32>
}

// Sums in the second cache, where strides cost nothing, are in registers,
// CHECK-LABEL: func @small
// CHECK: <[step(1, 256), step(0)], tile = [1: 256], lanes = 1: 16>
func.func @small(%x: tensor<40x4096xf32>) -> tensor<4096xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x4096xf32>) -> tensor<4096xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x4096xf32> -> tensor<4096xf32>
    metaop.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// and so are sums of halves, which memory would round for each row. Threads share
// strips all the same.
// CHECK-LABEL: func @halves
// CHECK: <[parallel(1, 4096), step(1, 512), step(0)], tile = [1: 512], lanes = 1: 32>
func.func @halves(%x: tensor<40x32768xf16>) -> tensor<32768xf16> {
  %0 = metaop.fused(%a = %x : tensor<40x32768xf16>) -> tensor<32768xf16> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x32768xf16> -> tensor<32768xf16>
    metaop.yield %1 : tensor<32768xf16>
  }
  return %0 : tensor<32768xf16>
}

// Both of two results are added to; a number for each row is read once for it.
// CHECK-LABEL: func @weighted
// CHECK: <[parallel(0), parallel(2, 4096), step(1, 8, body), step(2, 16)], tile = [1: 8, 2: 16], lanes = 2: 16, prefetch = 32>
func.func @weighted(%x: tensor<16x40x8192xf32>, %w: tensor<40xf32>) -> (tensor<16x8192xf32>, tensor<16x8192xf32>) {
  %0:2 = metaop.fused(%a = %x : tensor<16x40x8192xf32>, %b = %w : tensor<40xf32>) -> (tensor<16x8192xf32>, tensor<16x8192xf32>) {
    %1 = metaop.broadcast %b dims = [1] : tensor<40xf32> -> tensor<16x40x8192xf32>
    %2 = metaop.mul %a, %1 : tensor<16x40x8192xf32>
    %3 = metaop.reduce add %2 dims = [1] : tensor<16x40x8192xf32> -> tensor<16x8192xf32>
    %4 = metaop.reduce max %a dims = [1] : tensor<16x40x8192xf32> -> tensor<16x8192xf32>
    metaop.yield %3, %4 : tensor<16x8192xf32>, tensor<16x8192xf32>
  }
  return %0#0, %0#1 : tensor<16x8192xf32>, tensor<16x8192xf32>
}

// Rows no longer than a page are added one by one: one stream brings them.
// CHECK-LABEL: func @short_rows
// CHECK: <[parallel(0), step(1), step(2, 64)], tile = [2: 64], lanes = 2: 16, prefetch = 8>
func.func @short_rows(%x: tensor<16x640x1024xf32>) -> tensor<16x1024xf32> {
  %0 = metaop.fused(%a = %x : tensor<16x640x1024xf32>) -> tensor<16x1024xf32> {
    %1 = metaop.reduce add %a dims = [1] : tensor<16x640x1024xf32> -> tensor<16x1024xf32>
    metaop.yield %1 : tensor<16x1024xf32>
  }
  return %0 : tensor<16x1024xf32>
}

// An element-wise result of the rows is written as they are read.
// CHECK-LABEL: func @gradients
// CHECK: <[parallel(1, 4096), step(0), step(1, 64)], tile = [1: 64], lanes = 1: 16, prefetch = 8>
func.func @gradients(%x: tensor<40x32768xf32>, %y: tensor<32768xf32>) -> (tensor<32768xf32>, tensor<40x32768xf32>) {
  %0:2 = metaop.fused(%a = %x : tensor<40x32768xf32>, %b = %y : tensor<32768xf32>) -> (tensor<32768xf32>, tensor<40x32768xf32>) {
    %1 = metaop.broadcast %b dims = [1] : tensor<32768xf32> -> tensor<40x32768xf32>
    %2 = metaop.mul %a, %1 : tensor<40x32768xf32>
    %3 = metaop.reduce add %2 dims = [0] : tensor<40x32768xf32> -> tensor<32768xf32>
    metaop.yield %3, %2 : tensor<32768xf32>, tensor<40x32768xf32>
  }
  return %0#0, %0#1 : tensor<32768xf32>, tensor<40x32768xf32>
}

// Strips are whole steps of the loop inside, also where that takes several vectors.
// CHECK-LABEL: func @whole_steps
// CHECK: <[parallel(1, 3584), step(1, 512), step(0)], tile = [1: 512], lanes = 1: 32>
func.func @whole_steps(%x: tensor<40x35001xf16>) -> tensor<35001xf16> {
  %0 = metaop.fused(%a = %x : tensor<40x35001xf16>) -> tensor<35001xf16> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x35001xf16> -> tensor<35001xf16>
    metaop.yield %1 : tensor<35001xf16>
  }
  return %0 : tensor<35001xf16>
}

// Two loops of a dimension of a product are blocks, of which its tiles have none here.
// CHECK-LABEL: func @product
// CHECK: <[parallel(0, 8), step(2, 16), step(1)], tile = [0: 8, 2: 16], lanes = 2: 16, pairwise = 32>
func.func @product(%x: tensor<64x128xf32>, %w: tensor<128x32768xf32>) -> tensor<64x32768xf32> {
  %0 = metaop.fused(%a = %x : tensor<64x128xf32>, %b = %w : tensor<128x32768xf32>) -> tensor<64x32768xf32> {
    %1 = metaop.reindex %a map affine_map<(d0, d1, d2) -> (d0, d1)> fill 0.000000e+00 : f32 : tensor<64x128xf32> -> tensor<64x128x32768xf32>
    %2 = metaop.reindex %b map affine_map<(d0, d1, d2) -> (d1, d2)> fill 0.000000e+00 : f32 : tensor<128x32768xf32> -> tensor<64x128x32768xf32>
    %3 = metaop.mul %1, %2 : tensor<64x128x32768xf32>
    %4 = metaop.reduce add %3 dims = [1] : tensor<64x128x32768xf32> -> tensor<64x32768xf32>
    metaop.yield %4 : tensor<64x32768xf32>
  }
  return %0 : tensor<64x32768xf32>
}
