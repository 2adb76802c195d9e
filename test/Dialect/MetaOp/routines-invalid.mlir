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
  // expected-error @below {{expects floats for `logaddexp`, given 'i32'}}
  %0 = metaop.prefix logaddexp %x dim = 0 : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @sort_c1_dim(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a dimension below 1, given -1}}
  %0 = metaop.sort %x dim = -1 : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @argsort_c1_dim(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects a dimension below 1, given 1}}
  %0 = metaop.argsort %x dim = 1 : tensor<4xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @sort_c2_element(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @below {{expects a result of the source's elements, given 'tensor<4xf64>' for 'tensor<4xf32>'}}
  %0 = metaop.sort %x dim = 0 : tensor<4xf32> -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @sort_c2_shape(%x: tensor<4x8xf32>) -> tensor<5x2xf32> {
  // expected-error @below {{expects a result of the source's shape but along dimension 1, given 'tensor<5x2xf32>' for 'tensor<4x8xf32>'}}
  %0 = metaop.sort %x dim = 1 : tensor<4x8xf32> -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

func.func @argsort_c2_rank(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects a result of the source's shape but along dimension 1, given 'tensor<4xi64>' for 'tensor<4x8xf32>'}}
  %0 = metaop.argsort %x dim = 1 : tensor<4x8xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @argsort_c3_count(%x: tensor<4xf32>) -> tensor<5xi64> {
  // expected-error @below {{expects places of 4 elements, given those from 0 on for 'tensor<5xi64>'}}
  %0 = metaop.argsort %x dim = 0 : tensor<4xf32> -> tensor<5xi64>
  return %0 : tensor<5xi64>
}

// -----

func.func @sort_c3_begin(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{expects places of 4 elements, given those from 3 on for 'tensor<2xf32>'}}
  %0 = metaop.sort %x dim = 0 begin = 3 : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @sort_c3_negative(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{expects places of 4 elements, given those from -1 on for 'tensor<2xf32>'}}
  %0 = metaop.sort %x dim = 0 begin = -1 : tensor<4xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
