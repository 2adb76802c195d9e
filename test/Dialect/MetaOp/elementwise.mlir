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
  // CHECK: metaop.transfer %{{.*}} from "cpu:0" to "cpu:1" : tensor<2x3xf16>
  %5 = metaop.transfer %4 from "cpu:0" to "cpu:1" : tensor<2x3xf16>
  return %5, %2 : tensor<2x3xf16>, tensor<2x3xi64>
}

// Functions of real numbers.
// CHECK-LABEL: @functions
func.func @functions(%0: tensor<4x?xf32>, %y: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK: metaop.rsqrt %{{.*}} : tensor<4x?xf32>
  %1 = metaop.rsqrt %0 : tensor<4x?xf32>
  // CHECK: metaop.cbrt %{{.*}} : tensor<4x?xf32>
  %2 = metaop.cbrt %1 : tensor<4x?xf32>
  // CHECK: metaop.exp2 %{{.*}} : tensor<4x?xf32>
  %3 = metaop.exp2 %2 : tensor<4x?xf32>
  // CHECK: metaop.expm1 %{{.*}} : tensor<4x?xf32>
  %4 = metaop.expm1 %3 : tensor<4x?xf32>
  // CHECK: metaop.log2 %{{.*}} : tensor<4x?xf32>
  %5 = metaop.log2 %4 : tensor<4x?xf32>
  // CHECK: metaop.log10 %{{.*}} : tensor<4x?xf32>
  %6 = metaop.log10 %5 : tensor<4x?xf32>
  // CHECK: metaop.log1p %{{.*}} : tensor<4x?xf32>
  %7 = metaop.log1p %6 : tensor<4x?xf32>
  // CHECK: metaop.tan %{{.*}} : tensor<4x?xf32>
  %8 = metaop.tan %7 : tensor<4x?xf32>
  // CHECK: metaop.asin %{{.*}} : tensor<4x?xf32>
  %9 = metaop.asin %8 : tensor<4x?xf32>
  // CHECK: metaop.acos %{{.*}} : tensor<4x?xf32>
  %10 = metaop.acos %9 : tensor<4x?xf32>
  // CHECK: metaop.atan %{{.*}} : tensor<4x?xf32>
  %11 = metaop.atan %10 : tensor<4x?xf32>
  // CHECK: metaop.sinh %{{.*}} : tensor<4x?xf32>
  %12 = metaop.sinh %11 : tensor<4x?xf32>
  // CHECK: metaop.cosh %{{.*}} : tensor<4x?xf32>
  %13 = metaop.cosh %12 : tensor<4x?xf32>
  // CHECK: metaop.asinh %{{.*}} : tensor<4x?xf32>
  %14 = metaop.asinh %13 : tensor<4x?xf32>
  // CHECK: metaop.acosh %{{.*}} : tensor<4x?xf32>
  %15 = metaop.acosh %14 : tensor<4x?xf32>
  // CHECK: metaop.atanh %{{.*}} : tensor<4x?xf32>
  %16 = metaop.atanh %15 : tensor<4x?xf32>
  // CHECK: metaop.erfc %{{.*}} : tensor<4x?xf32>
  %17 = metaop.erfc %16 : tensor<4x?xf32>
  // CHECK: metaop.erfinv %{{.*}} : tensor<4x?xf32>
  %18 = metaop.erfinv %17 : tensor<4x?xf32>
  // CHECK: metaop.trunc %{{.*}} : tensor<4x?xf32>
  %19 = metaop.trunc %18 : tensor<4x?xf32>
  // CHECK: metaop.hypot %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %20 = metaop.hypot %19, %y : tensor<4x?xf32>
  // CHECK: metaop.atan2 %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %21 = metaop.atan2 %20, %y : tensor<4x?xf32>
  // CHECK: metaop.copysign %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %22 = metaop.copysign %21, %y : tensor<4x?xf32>
  // CHECK: metaop.fmod %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %23 = metaop.fmod %22, %y : tensor<4x?xf32>
  // CHECK: metaop.nextafter %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %24 = metaop.nextafter %23, %y : tensor<4x?xf32>
  // CHECK: metaop.fma %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %25 = metaop.fma %24, %y, %0 : tensor<4x?xf32>
  return %25 : tensor<4x?xf32>
}

// What takes integers apart.
// CHECK-LABEL: @taken_apart
func.func @taken_apart(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xi8> {
  // CHECK: metaop.shl %{{.*}}, %{{.*}} : tensor<4xui8>
  %0 = metaop.shl %x, %y : tensor<4xui8>
  // CHECK: metaop.shr
  %1 = metaop.shr %0, %y : tensor<4xui8>
  // CHECK: metaop.gcd
  %2 = metaop.gcd %1, %y : tensor<4xui8>
  // CHECK: metaop.pow
  %3 = metaop.pow %2, %y : tensor<4xui8>
  // CHECK: metaop.popcount %{{.*}} : tensor<4xui8>
  %4 = metaop.popcount %3 : tensor<4xui8>
  // CHECK: metaop.bitcast %{{.*}} : tensor<4xui8> -> tensor<4xi8>
  %5 = metaop.bitcast %4 : tensor<4xui8> -> tensor<4xi8>
  return %5 : tensor<4xi8>
}
