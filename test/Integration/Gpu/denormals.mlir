// Denormal numbers of bf16 and f16 are not taken for zero, whatever the host's
// instructions do.

// RUN: metaop-run %s --compare=0,0 --target=cuda --emulate | FileCheck %s
// CHECK: bf16: 1 results agree, largest difference 0
// CHECK: f16: 1 results agree, largest difference 0

func.func @bf16() -> tensor<4xf32> {
  %x = metaop.constant dense<[1.0e-39, -3.0e-39, 2.0e-38, 9.2e-41]> : tensor<4xbf16>
  %half = metaop.constant dense<0.5> : tensor<4xbf16>
  %y = metaop.mul %x, %half : tensor<4xbf16>
  %big = metaop.constant dense<1.0e38> : tensor<4xf32>
  %z = metaop.cast %y : tensor<4xbf16> -> tensor<4xf32>
  %w = metaop.mul %z, %big : tensor<4xf32>
  return %w : tensor<4xf32>
}

func.func @f16() -> tensor<4xf32> {
  %x = metaop.constant dense<[1.0e-5, -3.0e-5, 2.0e-4, 1.2e-7]> : tensor<4xf16>
  %half = metaop.constant dense<0.5> : tensor<4xf16>
  %y = metaop.mul %x, %half : tensor<4xf16>
  %big = metaop.constant dense<1.0e6> : tensor<4xf32>
  %z = metaop.cast %y : tensor<4xf16> -> tensor<4xf32>
  %w = metaop.mul %z, %big : tensor<4xf32>
  return %w : tensor<4xf32>
}
