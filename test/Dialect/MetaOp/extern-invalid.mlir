// RUN: metaop-opt %s --split-input-file --verify-diagnostics

func.func @extern_c1_outputs(%x: tensor<4xf32>) {
  // expected-error @below {{expects an output}}
  metaop.extern "code" (%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @extern_c2_parallel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a first output of 2 dimensions to be shared, given 'tensor<4xf32>'}}
  %0 = metaop.extern "code" (%x) parallel = 2 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @extern_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{attribute 'parallel' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = metaop.extern "code" (%x) parallel = -1 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @extern_element(%x: tensor<4xf32>) -> tensor<4xf80> {
  // expected-error @below {{result #0 must be variadic of tensor of numbers or booleans}}
  %0 = metaop.extern "code" (%x) : (tensor<4xf32>) -> tensor<4xf80>
  return %0 : tensor<4xf80>
}
