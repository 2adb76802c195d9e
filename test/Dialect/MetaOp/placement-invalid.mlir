// RUN: metaop-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

func.func @concat_c1() {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects a part}}
  %0 = metaop.concat dim = 0 : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_c2_rank(%a: tensor<4xf32>, %b: tensor<4x1xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects parts of one rank and one element type, given 'tensor<4xf32>' and 'tensor<4x1xf32>'}}
  %0 = metaop.concat %a, %b dim = 0 : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_c2_type(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects parts of one rank and one element type, given 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = metaop.concat %a, %b dim = 0 : (tensor<4xf32>, tensor<4xf64>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_c3(%a: tensor<4xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects `dim` to lie in [0, 1), given 1}}
  %0 = metaop.concat %a, %a dim = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_c3_scalar(%a: tensor<f32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects `dim` to lie in [0, 0), given 0}}
  %0 = metaop.concat %a, %a dim = 0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @concat_c4(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects parts that differ along dimension 0 only, given extents 2 and 3 of dimension 1 in part 1}}
  %0 = metaop.concat %a, %b dim = 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @concat_c5(%a: tensor<9223372036854775807x0xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{expects extents along dimension 0 that add up to less than 2^63}}
  %0 = metaop.concat %a, %a dim = 0 : (tensor<9223372036854775807x0xf32>, tensor<9223372036854775807x0xf32>) -> tensor<8x0xf32>
  return
}

// -----

func.func @concat_result(%a: tensor<4xf32>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<9xf32>'}}
  %0 = metaop.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// insert
//===----------------------------------------------------------------------===//

func.func @insert_c1(%p: tensor<2x3xf32>, %x: tensor<4x3xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects one start for each of the 2 dimensions of the destination, given 1}}
  %0 = metaop.insert none %p into %x[%i] : tensor<2x3xf32> into tensor<4x3xf32>
  return
}

// -----

func.func @insert_c2_rank(%p: tensor<3xf32>, %x: tensor<4x3xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects the part to have rank 2 as the destination, given 1}}
  %0 = metaop.insert none %p into %x[%i, %i] : tensor<3xf32> into tensor<4x3xf32>
  return
}

// -----

func.func @insert_c2_type(%p: tensor<3xf64>, %x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects source and result to have one element type, given 'f64' and 'f32'}}
  %0 = metaop.insert none %p into %x[%i] : tensor<3xf64> into tensor<4xf32>
  return
}

// -----

func.func @insert_c3(%p: tensor<5xf32>, %x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects dimension 0 of the part to have an extent of at most 4, given 5}}
  %0 = metaop.insert none %p into %x[%i] : tensor<5xf32> into tensor<4xf32>
  return
}

// -----

func.func @insert_c4(%p: tensor<3xf32>, %x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{combines by `xor`, which expects integers or booleans, given 'f32'}}
  %0 = metaop.insert xor %p into %x[%i] : tensor<3xf32> into tensor<4xf32>
  return
}

// -----

func.func @insert_c4_logarithms(%p: tensor<3xf32>, %x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{does not combine by `logaddexp`, expected add, mul, max, min}}
  %0 = metaop.insert logaddexp %p into %x[%i] : tensor<3xf32> into tensor<4xf32>
  return
}

// -----

func.func @insert_c4_bool(%p: tensor<3xi1>, %x: tensor<4xi1>, %i: tensor<i64>) {
  // expected-error @below {{combines by `add`, which expects numbers, given 'i1'}}
  %0 = metaop.insert add %p into %x[%i] : tensor<3xi1> into tensor<4xi1>
  return
}
