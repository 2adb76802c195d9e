// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @sort_c1_dim(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a dimension below 1, given -1}}
  %0 = metaop.sort %x dim = -1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @argsort_c1_dim(%x: tensor<4xf32>) -> tensor<4xi64> {
  // expected-error @below {{expects a dimension below 1, given 1}}
  %0 = metaop.argsort %x dim = 1 : tensor<4xf32> -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
