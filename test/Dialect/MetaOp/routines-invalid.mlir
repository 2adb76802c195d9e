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
  %0, %1 = metaop.sort %x dim = -1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @sort_c1_dim_too_large(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects a dimension below 1, given 1}}
  %0, %1 = metaop.sort %x dim = 1 : tensor<4xf32>
  return %1 : tensor<4xi64>
}

// -----

func.func @sort_one_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{operation defines 2 results but was provided 1 to bind}}
  %0 = metaop.sort %x dim = 0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @sort_values_type(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{failed to verify that all of {source, values} have same type}}
  %0, %1 = "metaop.sort"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> (tensor<4xf16>, tensor<4xi64>)
  return %0 : tensor<4xf16>
}

// -----

func.func @sort_indices_type(%x: tensor<4xf32>) -> tensor<5xi64> {
  // expected-error @below {{failed to verify that indices are i64 and of the source's shape}}
  %0, %1 = "metaop.sort"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<5xi64>)
  return %1 : tensor<5xi64>
}

// -----

func.func @sort_unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{operand #0 must be}}
  %0, %1 = "metaop.sort"(%x) <{dim = 0 : i64}> : (tensor<*xf32>) -> (tensor<*xf32>, tensor<4xi64>)
  return %0 : tensor<*xf32>
}
