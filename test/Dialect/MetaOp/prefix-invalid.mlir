// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @prefix_c1_dim(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expects a dimension below 2, given 2}}
  %0 = metaop.prefix add %x dim = 2 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @prefix_c1_scalar(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{expects a dimension below 0, given 0}}
  %0 = metaop.prefix add %x dim = 0 : tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @prefix_c2_no_factors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects factors if and only if it is `linear`}}
  %0 = metaop.prefix linear %x dim = 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @prefix_c2_factors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects factors if and only if it is `linear`}}
  %0 = metaop.prefix add %x factors(%x) dim = 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @prefix_c3_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{combines by `logaddexp`, which expects floats, given 'i32'}}
  %0 = metaop.prefix logaddexp %x dim = 0 : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @prefix_c3_bits(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{does not combine by `and`, expected add, mul, max, min}}
  %0 = metaop.prefix and %x dim = 0 : tensor<4xi32>
  return %0 : tensor<4xi32>
}
