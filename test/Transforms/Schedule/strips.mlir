// RUN: metaop-opt %s -metaop-schedule | FileCheck %s

// Rows of a large sum are added to a row in memory, eight at a time: the columns
// become strips, which threads share, and stand innermost.
// CHECK-LABEL: func @long_rows
// CHECK: <[parallel(1), step(0, 8, body), step(2, 16)], tile = [0: 8, 2: 16], lanes = 2: 16>
func.func @long_rows(%x: tensor<40x32768xf32>) -> tensor<32768xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x32768xf32>) -> tensor<32768xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x32768xf32> -> tensor<32768xf32>
    metaop.yield %1 : tensor<32768xf32>
  }
  return %0 : tensor<32768xf32>
}

// Strips of one size fill no row of a prime length: one vector of it after
// another is summed in registers.
// CHECK-LABEL: func @prime
// CHECK: <[parallel(1, 256), step(0)], tile = [1: 256], lanes = 1: 16>
func.func @prime(%x: tensor<40x32771xf32>) -> tensor<32771xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x32771xf32>) -> tensor<32771xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x32771xf32> -> tensor<32771xf32>
    metaop.yield %1 : tensor<32771xf32>
  }
  return %0 : tensor<32771xf32>
}

// So are sums in the second cache, where strides cost nothing,
// CHECK-LABEL: func @small
// CHECK: <[parallel(1, 256), step(0)], tile = [1: 256], lanes = 1: 16>
func.func @small(%x: tensor<40x4096xf32>) -> tensor<4096xf32> {
  %0 = metaop.fused(%a = %x : tensor<40x4096xf32>) -> tensor<4096xf32> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x4096xf32> -> tensor<4096xf32>
    metaop.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}

// and of halves, which memory would round for each row.
// CHECK-LABEL: func @halves
// CHECK: <[parallel(1), step(2, 512), step(0)], tile = [2: 512], lanes = 2: 32>
func.func @halves(%x: tensor<40x32768xf16>) -> tensor<32768xf16> {
  %0 = metaop.fused(%a = %x : tensor<40x32768xf16>) -> tensor<32768xf16> {
    %1 = metaop.reduce add %a dims = [0] : tensor<40x32768xf16> -> tensor<32768xf16>
    metaop.yield %1 : tensor<32768xf16>
  }
  return %0 : tensor<32768xf16>
}

// Both of two results are added to; a number for each row is read once for it.
// CHECK-LABEL: func @weighted
// CHECK: <[parallel(0), parallel(2), step(1, 8, body), step(3, 16)], tile = [1: 8, 3: 16], lanes = 3: 16>
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
// CHECK: <[parallel(0), step(1), step(2, 64)], tile = [2: 64], lanes = 2: 16>
func.func @short_rows(%x: tensor<16x640x1024xf32>) -> tensor<16x1024xf32> {
  %0 = metaop.fused(%a = %x : tensor<16x640x1024xf32>) -> tensor<16x1024xf32> {
    %1 = metaop.reduce add %a dims = [1] : tensor<16x640x1024xf32> -> tensor<16x1024xf32>
    metaop.yield %1 : tensor<16x1024xf32>
  }
  return %0 : tensor<16x1024xf32>
}

// An element-wise result of the rows is written as they are read.
// CHECK-LABEL: func @gradients
// CHECK: <[parallel(1), step(0), step(2, 64)], tile = [2: 64], lanes = 2: 16>
func.func @gradients(%x: tensor<40x32768xf32>, %y: tensor<32768xf32>) -> (tensor<32768xf32>, tensor<40x32768xf32>) {
  %0:2 = metaop.fused(%a = %x : tensor<40x32768xf32>, %b = %y : tensor<32768xf32>) -> (tensor<32768xf32>, tensor<40x32768xf32>) {
    %1 = metaop.broadcast %b dims = [1] : tensor<32768xf32> -> tensor<40x32768xf32>
    %2 = metaop.mul %a, %1 : tensor<40x32768xf32>
    %3 = metaop.reduce add %2 dims = [0] : tensor<40x32768xf32> -> tensor<32768xf32>
    metaop.yield %3, %2 : tensor<32768xf32>, tensor<40x32768xf32>
  }
  return %0#0, %0#1 : tensor<32768xf32>, tensor<40x32768xf32>
}
