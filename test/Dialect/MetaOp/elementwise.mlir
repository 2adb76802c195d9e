// Element-wise ops: what is printed can be read, and is printed the same.
// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK: metaop.neg %{{.*}} : tensor<4x?xf32>
  %0 = metaop.neg %x : tensor<4x?xf32>
  // CHECK: metaop.abs
  %1 = metaop.abs %0 : tensor<4x?xf32>
  // CHECK: metaop.sign
  %2 = metaop.sign %1 : tensor<4x?xf32>
  // CHECK: metaop.exp
  %3 = metaop.exp %2 : tensor<4x?xf32>
  // CHECK: metaop.log
  %4 = metaop.log %3 : tensor<4x?xf32>
  // CHECK: metaop.sqrt
  %5 = metaop.sqrt %4 : tensor<4x?xf32>
  // CHECK: metaop.sin
  %6 = metaop.sin %5 : tensor<4x?xf32>
  // CHECK: metaop.cos
  %7 = metaop.cos %6 : tensor<4x?xf32>
  // CHECK: metaop.tanh
  %8 = metaop.tanh %7 : tensor<4x?xf32>
  // CHECK: metaop.erf
  %9 = metaop.erf %8 : tensor<4x?xf32>
  // CHECK: metaop.floor
  %10 = metaop.floor %9 : tensor<4x?xf32>
  // CHECK: metaop.ceil
  %11 = metaop.ceil %10 : tensor<4x?xf32>
  // CHECK: metaop.round
  %12 = metaop.round %11 : tensor<4x?xf32>
  return %12 : tensor<4x?xf32>
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: metaop.add %{{.*}}, %{{.*}} : tensor<4xbf16>
  %0 = metaop.add %x, %y : tensor<4xbf16>
  // CHECK: metaop.sub
  %1 = metaop.sub %0, %y : tensor<4xbf16>
  // CHECK: metaop.mul
  %2 = metaop.mul %1, %y : tensor<4xbf16>
  // CHECK: metaop.div
  %3 = metaop.div %2, %y : tensor<4xbf16>
  // CHECK: metaop.floor_div
  %4 = metaop.floor_div %3, %y : tensor<4xbf16>
  // CHECK: metaop.mod
  %5 = metaop.mod %4, %y : tensor<4xbf16>
  // CHECK: metaop.pow
  %6 = metaop.pow %5, %y : tensor<4xbf16>
  // CHECK: metaop.max
  %7 = metaop.max %6, %y : tensor<4xbf16>
  // CHECK: metaop.min
  %8 = metaop.min %7, %y : tensor<4xbf16>
  return %8 : tensor<4xbf16>
}

// CHECK-LABEL: @bits
func.func @bits(%x: tensor<4xui16>, %b: tensor<4xi1>) -> (tensor<4xui16>, tensor<4xi1>) {
  // CHECK: metaop.and %{{.*}}, %{{.*}} : tensor<4xui16>
  %0 = metaop.and %x, %x : tensor<4xui16>
  // CHECK: metaop.or
  %1 = metaop.or %0, %x : tensor<4xui16>
  // CHECK: metaop.xor
  %2 = metaop.xor %1, %x : tensor<4xui16>
  // CHECK: metaop.not %{{.*}} : tensor<4xui16>
  %3 = metaop.not %2 : tensor<4xui16>
  // CHECK: metaop.not %{{.*}} : tensor<4xi1>
  %4 = metaop.not %b : tensor<4xi1>
  return %3, %4 : tensor<4xui16>, tensor<4xi1>
}

// CHECK-LABEL: @mixed
func.func @mixed(%x: tensor<2x3xf16>, %y: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<2x3xi64>) {
  // CHECK: metaop.cmp lt %{{.*}}, %{{.*}} : tensor<2x3xf16> -> tensor<2x3xi1>
  %0 = metaop.cmp lt %x, %y : tensor<2x3xf16> -> tensor<2x3xi1>
  // CHECK: metaop.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<2x3xf16>
  %1 = metaop.select %0, %x, %y : tensor<2x3xi1>, tensor<2x3xf16>
  // CHECK: metaop.cast %{{.*}} : tensor<2x3xf16> -> tensor<2x3xi64>
  %2 = metaop.cast %1 : tensor<2x3xf16> -> tensor<2x3xi64>
  // CHECK: metaop.stop_grad %{{.*}} : tensor<2x3xf16>
  %3 = metaop.stop_grad %1 : tensor<2x3xf16>
  // CHECK: metaop.stop_fuse %{{.*}} : tensor<2x3xf16>
  %4 = metaop.stop_fuse %3 : tensor<2x3xf16>
  return %4, %2 : tensor<2x3xf16>, tensor<2x3xi64>
}
