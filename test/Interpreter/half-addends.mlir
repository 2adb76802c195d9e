// RUN: metaop-run %s --interpret --entry=bf16 | FileCheck %s
// RUN: metaop-run %s --entry=bf16 | FileCheck %s
// RUN: metaop-run %s --interpret --entry=f16 | FileCheck %s --check-prefix=F16
// RUN: metaop-run %s --entry=f16 | FileCheck %s --check-prefix=F16
// RUN: metaop-run %s --compare=0,0

// A product of halves that only sums read is not rounded: (1 + 2^-7)^2 is
// 1 + 2^-6 + 2^-14, whose last part a rounded product of bf16 lacks. What else
// reads it, or returns it, sees it rounded, and then its sums are of that.

// CHECK:      result 0: tensor<bf16>
// CHECK-NEXT: 6.10352e-05
// CHECK:      result 1: tensor<bf16>
// CHECK-NEXT: 0
// CHECK:      result 2: tensor<2xbf16>
// CHECK-NEXT: [1.01562, -1.01562]
func.func @bf16() -> (tensor<bf16>, tensor<bf16>, tensor<2xbf16>) {
  %x = metaop.constant dense<[1.0078125, -1.0]> : tensor<2xbf16>
  %w = metaop.constant dense<[1.0078125, 1.015625]> : tensor<2xbf16>
  %0 = metaop.mul %x, %w : tensor<2xbf16>
  %1 = metaop.reduce add %0 dims = [0] : tensor<2xbf16> -> tensor<bf16>
  %2 = metaop.mul %x, %w : tensor<2xbf16>
  %3 = metaop.reduce add %2 dims = [0] : tensor<2xbf16> -> tensor<bf16>
  return %1, %3, %2 : tensor<bf16>, tensor<bf16>, tensor<2xbf16>
}

// Neither does a product overflow before it is summed.

// F16:      result 0: tensor<f16>
// F16-NEXT: 1024
// F16:      result 1: tensor<f16>
// F16-NEXT: nan
func.func @f16() -> (tensor<f16>, tensor<f16>) {
  %x = metaop.constant dense<[512.0, -512.0, 32.0]> : tensor<3xf16>
  %w = metaop.constant dense<[512.0, 512.0, 32.0]> : tensor<3xf16>
  %0 = metaop.mul %x, %w : tensor<3xf16>
  %1 = metaop.reduce add %0 dims = [0] : tensor<3xf16> -> tensor<f16>
  %2 = metaop.mul %x, %w : tensor<3xf16>
  %3 = metaop.stop_fuse %2 : tensor<3xf16>
  %4 = metaop.reduce add %3 dims = [0] : tensor<3xf16> -> tensor<f16>
  return %1, %4 : tensor<f16>, tensor<f16>
}
