// RUN: metaop-opt %s -split-input-file -verify-diagnostics

// (C1)
func.func @order(%x: tensor<4x3xf32>) -> tensor<f32> {
  // expected-error @below {{expects `dims` to rise strictly and to lie in [0, 2), given [1, 0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = metaop.norm %x dims = [1, 0] : tensor<4x3xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// (C2)
func.func @divisor(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a `divisor` of 0 or more, given -1.0}}
  %0 = metaop.norm %x dims = [1] divisor = -1.0 : tensor<4x3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @type(%x: tensor<4x3xf64>) -> tensor<4xf64> {
  // expected-error @below {{must be tensor of f32}}
  %0 = metaop.norm %x dims = [1] : tensor<4x3xf64> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// (C2)
func.func @divisor_of_order(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a `divisor` of 1 beside an `order` of 3.0}}
  %0 = metaop.norm %x dims = [1] divisor = 2.0 order = 3.0 : tensor<4x3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// (C3)
func.func @other_order(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects an `order` that is a multiple of 1/2 in [1.5, 6.5], given 1.7}}
  %0 = metaop.norm %x dims = [1] order = 1.7 : tensor<4x3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// (C3)
func.func @large_order(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects an `order` that is a multiple of 1/2 in [1.5, 6.5], given 7.0}}
  %0 = metaop.norm %x dims = [1] order = 7.0 : tensor<4x3xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
