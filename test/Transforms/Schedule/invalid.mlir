// RUN: metaop-opt %s -metaop-schedule -split-input-file -verify-diagnostics

// Products of extents have to fit 64 bits.
func.func @too_large(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'metaop.fused' op has a value of type 'tensor<4611686018427387904x8xf32>': more elements than can be numbered}}
  %0 = metaop.fused(%a = %x : tensor<f32>) -> tensor<f32> {
    %1 = metaop.broadcast %a dims = [] : tensor<f32> -> tensor<4611686018427387904x8xf32>
    %2 = metaop.reduce add %1 dims = [0, 1] : tensor<4611686018427387904x8xf32> -> tensor<f32>
    metaop.yield %2 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// Even where an extent of 0 would make the product 0.
func.func @too_large_and_empty(%x: tensor<0x4611686018427387904x8xf32>) -> tensor<0x4611686018427387904x8xf32> {
  // expected-error @below {{more elements than can be numbered}}
  %0 = metaop.fused(%a = %x : tensor<0x4611686018427387904x8xf32>) -> tensor<0x4611686018427387904x8xf32> {
    %1 = metaop.exp %a : tensor<0x4611686018427387904x8xf32>
    metaop.yield %1 : tensor<0x4611686018427387904x8xf32>
  }
  return %0 : tensor<0x4611686018427387904x8xf32>
}

// -----

func.func @sparse() -> tensor<2xf32> {
  %0 = metaop.fused() -> tensor<2xf32> {
    // expected-error @below {{'metaop.constant' op expects its value as dense<...>}}
    %1 = metaop.constant sparse<0, 1.0> : tensor<2xf32>
    metaop.yield %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
