// RUN: metaop-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

func.func @gather_c1(%x: tensor<9x8xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects `map` to have 2 results, one per dimension of the source, given 1}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<9xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects `map` to have 1 dims, one per dimension of the result, given 2}}
  %y = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<9xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects one symbol operand for each of the 2 symbols of `map`, given 1}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0, s1] -> (s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_c3_none(%x: tensor<9xf32>) {
  // expected-error @below {{expects at least one tensor of indices}}
  %y = metaop.gather %x[] map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : (tensor<9xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<9xf32>, %i: tensor<5xi64>) {
  // expected-error @below {{expects indices of the shape of the result, 'tensor<4xf32>', given 'tensor<5xi64>'}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<5xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_c5(%x: tensor<9xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects `fill`}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0 : i32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_c6(%x: tensor<9xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{element type}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf64>
  return
}

// -----

func.func @gather_c7(%x: tensor<9xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (d0 floordiv s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_index_type(%x: tensor<9xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{operand #1 must be variadic of tensor of 64-bit integers}}
  %y = metaop.gather %x[%i] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<9xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

func.func @scatter_c1(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects `map` to have 2 results, one per dimension of the result, given 1}}
  %y = metaop.scatter add %x[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<9x8xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects `map` to have 1 dims, one per dimension of the source, given 2}}
  %y = metaop.scatter add %x[%i] map affine_map<(d0, d1)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<9xf32>
  return
}

// -----

func.func @scatter_c3(%x: tensor<4xf32>) {
  // expected-error @below {{expects at least one tensor of indices}}
  %y = metaop.scatter add %x[] map affine_map<(d0) -> (d0)>
      : (tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @scatter_c4(%x: tensor<4xf32>, %i: tensor<5xi64>) {
  // expected-error @below {{expects indices of the shape of the source, 'tensor<4xf32>', given 'tensor<5xi64>'}}
  %y = metaop.scatter add %x[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<5xi64>) -> tensor<9xf32>
  return
}

// -----

func.func @scatter_c5_integers(%x: tensor<4xi32>, %i: tensor<4xi64>) {
  // expected-error @below {{combines by `logaddexp`, which expects floats, given 'i32'}}
  %y = metaop.scatter logaddexp %x[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xi32>, tensor<4xi64>) -> tensor<9xi32>
  return
}

// -----

func.func @scatter_c5(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{combines by `xor`, which expects integers or booleans, given 'f32'}}
  %y = metaop.scatter xor %x[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<9xf32>
  return
}

// -----

func.func @scatter_c6(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{element type}}
  %y = metaop.scatter add %x[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<9xf64>
  return
}

// -----

func.func @scatter_c7(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{extent}}
  %y = metaop.scatter add %x[%i] map affine_map<(d0)[s0] -> (s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @scatter_c8(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.scatter add %x[%i] map affine_map<(d0)[s0] -> (d0 mod s0)>
      : (tensor<4xf32>, tensor<4xi64>) -> tensor<9xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// In a stage
//===----------------------------------------------------------------------===//

func.func @gather_of_the_stage(%x: tensor<4xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %y = metaop.fused(%a = %x : tensor<4xf32>, %b = %i : tensor<4xi64>) -> tensor<4xf32> {
    %0 = metaop.exp %a : tensor<4xf32>
    // expected-error @below {{in a stage expects its source to be an argument of the stage}}
    %1 = metaop.gather %0[%b] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
        : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
