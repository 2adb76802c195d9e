// RUN: metaop-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// reindex
//===----------------------------------------------------------------------===//

func.func @reindex_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `map` to have 2 results, one per dimension of the source, given 1}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c2(%x: tensor<4xf32>) {
  // expected-error @below {{expects `map` to have 1 dims, one per dimension of the result, given 2}}
  %y = metaop.reindex %x map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c3(%x: tensor<4xf32>, %s: tensor<i64>) {
  // expected-error @below {{expects one symbol operand for each of the 2 symbols of `map`, given 1}}
  %y = metaop.reindex %x symbols(%s) map affine_map<(d0)[s0, s1] -> (d0)>
      fill 0.0 : f32 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c4(%x: tensor<4xf32>) {
  // expected-error @below {{expects `where` to have the dims and symbols of `map`, 1 and 0, given 2 and 1}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)>
      where affine_set<(d0, d1)[s0] : (d0 >= 0)>
      fill 0.0 : f32 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c5_type(%x: tensor<4xf32>) {
  // expected-error @below {{expects `fill` to be a number of type 'f32', given 0.000000e+00 : f64}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)> fill 0.0 : f64
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c5_tensor(%x: tensor<4xf32>) {
  // expected-error @below {{expects `fill` to be a number of type 'f32', given dense<0.000000e+00> : tensor<f32>}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)>
      fill dense<0.0> : tensor<f32> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c5_untyped(%x: tensor<4xf32>) {
  // expected-error @below {{invalid kind of attribute specified}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)> fill [0.0]
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c6(%x: tensor<4xf32>) {
  // expected-error @below {{expects source and result to have one element type, given 'f32' and 'f64'}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @reindex_c7_missing(%x: tensor<4xf32>) {
  // expected-error @below {{expects 1 extent operands, one per dynamic dimension of 'tensor<?xf32>', given 0}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @reindex_c7_superfluous(%x: tensor<4xf32>, %n: index) {
  // expected-error @below {{expects 0 extent operands, one per dynamic dimension of 'tensor<4xf32>', given 1}}
  %y = metaop.reindex %x extents(%n) map affine_map<(d0) -> (d0)>
      fill 0.0 : f32 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c8_zero(%x: tensor<4xf32>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0 floordiv 0)> fill 0.0 : f32
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c8_negative(%x: tensor<4xf32>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0 mod -2)> fill 0.0 : f32
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c8_symbol(%x: tensor<4xf32>, %s: tensor<i64>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.reindex %x symbols(%s) map affine_map<(d0)[s0] -> (d0 floordiv s0)>
      fill 0.0 : f32 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_c8_where(%x: tensor<4xf32>, %s: tensor<i64>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.reindex %x symbols(%s) map affine_map<(d0)[s0] -> (d0)>
      where affine_set<(d0)[s0] : (d0 mod s0 == 0)>
      fill 0.0 : f32 : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_symbol_type(%x: tensor<4xf32>, %s: tensor<i32>) {
  // expected-error @below {{operand #1 must be variadic of 0-d tensor of 64-bit integers}}
  %y = "metaop.reindex"(%x, %s) <{
      map = affine_map<(d0)[s0] -> (d0)>, fill = 0.0 : f32,
      operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @reindex_without_attributes(%x: tensor<4xf32>) {
  // expected-error @below {{requires attribute 'fill'}}
  %y = "metaop.reindex"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}>
      : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reindex_element_type(%x: tensor<4xcomplex<f32>>) {
  // expected-error @below {{operand #0 must be tensor of numbers or booleans}}
  %y = metaop.reindex %x map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

func.func @broadcast_c1(%x: tensor<8xf32>) {
  // expected-error @below {{expects `dims` to have 1 entries, one per dimension of the source, given 2}}
  %y = metaop.broadcast %x dims = [0, 1] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c2_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `dims` to rise strictly and to lie in [0, 2), given [1, 0]}}
  %y = metaop.broadcast %x dims = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_c2_range(%x: tensor<8xf32>) {
  // expected-error @below {{expects `dims` to rise strictly and to lie in [0, 2), given [2]}}
  %y = metaop.broadcast %x dims = [2] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c2_negative(%x: tensor<8xf32>) {
  // expected-error @below {{expects `dims` to rise strictly and to lie in [0, 2), given [-1]}}
  %y = metaop.broadcast %x dims = [-1] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<2xf32>) {
  // expected-error @below {{expects dimension 0 of the source to have extent 1 or 8, given 2}}
  %y = metaop.broadcast %x dims = [1] : tensor<2xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c4(%x: tensor<8xf32>) {
  // expected-error @below {{expects 1 extent operands}}
  %y = metaop.broadcast %x dims = [1] : tensor<8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @broadcast_c5(%x: tensor<8xf32>) {
  // expected-error @below {{expects source and result to have one element type}}
  %y = metaop.broadcast %x dims = [1] : tensor<8xf32> -> tensor<4x8xi32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

func.func @transpose_c1_repeated(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `perm` to be a permutation of 2 dimensions, given [1, 1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.transpose %x perm = [1, 1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @transpose_c1_short(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `perm` to be a permutation of 2 dimensions, given [1]}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.transpose %x perm = [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @transpose_c1_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `perm` to be a permutation of 2 dimensions, given [0, 2]}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.transpose %x perm = [0, 2] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<8x4xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @transpose_without_attributes(%x: tensor<4x8xf32>) {
  // expected-error @below {{requires attribute 'permutation'}}
  %y = "metaop.transpose"(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

func.func @slice_c1_starts(%x: tensor<4x8xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects one start and one stride for each of the 2 dimensions of the source, given 1 and 2}}
  %y = metaop.slice %x[%i] strides = [1, 1] : tensor<4x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c1_strides(%x: tensor<4x8xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects one start and one stride for each of the 2 dimensions of the source, given 2 and 3}}
  %y = metaop.slice %x[%i, %i] strides = [1, 1, 1]
      : tensor<4x8xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c2_rank(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects the result to have rank 1 as the source, given 2}}
  %y = metaop.slice %x[%i] strides = [1] : tensor<4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c2_type(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects source and result to have one element type}}
  %y = metaop.slice %x[%i] strides = [1] : tensor<4xf32> -> tensor<2xf16>
  return
}

// -----

func.func @slice_c3(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects no stride to be zero, given [0]}}
  %y = metaop.slice %x[%i] strides = [0] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_c4(%x: tensor<4xf32>, %i: tensor<i64>) {
  // expected-error @below {{expects 1 extent operands}}
  %y = metaop.slice %x[%i] strides = [1] : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

func.func @pad_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `low` and `high` to have 2 entries, one per dimension of the source, given 1 and 2}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.pad %x low = [1] high = [1, 1] fill 0.0 : f32
      : tensor<4x8xf32> -> tensor<6x10xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4xf32>) {
  // expected-error @below {{expects `fill` to be a number of type 'f32', given 0 : i32}}
  %y = metaop.pad %x low = [1] high = [1] fill 0 : i32
      : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

func.func @pad_c3_negative(%x: tensor<4xf32>) {
  // expected-error @below {{expects dimension 0 of the result to have an extent from 0 to 2^63 - 1, given 4 + -3 + -2}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.pad %x low = [-3] high = [-2] fill 0.0 : f32
      : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

func.func @pad_c3_overflow(%x: tensor<4xf32>) {
  // expected-error @below {{expects dimension 0 of the result to have an extent from 0 to 2^63 - 1}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.pad %x low = [9223372036854775807] high = [1] fill 0.0 : f32
      : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

func.func @reshape_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects source and result to have one element type}}
  %y = metaop.reshape %x : tensor<4x8xf32> -> tensor<32xi32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects source and result to have one number of elements, given 'tensor<4x8xf32>' and 'tensor<33xf32>'}}
  %y = metaop.reshape %x : tensor<4x8xf32> -> tensor<33xf32>
  return
}

// -----

func.func @reshape_c2_overflow(%x: tensor<4xf32>) {
  // expected-error @below {{expects source and result to have one number of elements}}
  %y = metaop.reshape %x
      : tensor<4xf32> -> tensor<4294967296x4294967296x4xf32>
  return
}

// -----

func.func @reshape_c3(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects 1 extent operands}}
  %y = metaop.reshape %x : tensor<4x8xf32> -> tensor<?xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// reindex_reduce
//===----------------------------------------------------------------------===//

func.func @reindex_reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `map` to have 1 results, one per dimension of the result, given 2}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d0, d1)>
      : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_reduce_c2(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `map` to have 2 dims, one per dimension of the source, given 1}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0) -> (d0)>
      : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_reduce_c3(%x: tensor<4xf32>) {
  // expected-error @below {{expects one symbol operand for each of the 1 symbols of `map`, given 0}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0)[s0] -> (d0 + s0)>
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_reduce_c4(%x: tensor<4xf32>) {
  // expected-error @below {{expects `where` to have the dims and symbols of `map`, 1 and 0, given 0 and 0}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0) -> (d0)>
      where affine_set<() : (0 >= 0)> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_reduce_c5_float(%x: tensor<4xf32>) {
  // expected-error @below {{combines by `xor`, which expects integers or booleans, given 'f32'}}
  %y = metaop.reindex_reduce xor %x map affine_map<(d0) -> ()>
      : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @reindex_reduce_c5_integer(%x: tensor<4xi32>) {
  // expected-error @below {{combines by `logaddexp`, which expects floats, given 'i32'}}
  %y = metaop.reindex_reduce logaddexp %x map affine_map<(d0) -> ()>
      : tensor<4xi32> -> tensor<i32>
  return
}

// -----

func.func @reindex_reduce_c5_linear(%x: tensor<4xf32>) {
  // expected-error @below {{does not combine by `linear`, expected add, mul, max, min}}
  %y = metaop.reindex_reduce linear %x map affine_map<(d0) -> ()>
      : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @reindex_reduce_c5_boolean(%x: tensor<4xi1>) {
  // expected-error @below {{combines by `add`, which expects numbers, given 'i1'}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0) -> ()>
      : tensor<4xi1> -> tensor<i1>
  return
}

// -----

func.func @reindex_reduce_c6(%x: tensor<4xf32>) {
  // expected-error @below {{expects source and result to have one element type, given 'f32' and 'f64'}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0) -> ()>
      : tensor<4xf32> -> tensor<f64>
  return
}

// -----

func.func @reindex_reduce_c7(%x: tensor<4xf32>) {
  // expected-error @below {{expects 1 extent operands}}
  %y = metaop.reindex_reduce add %x map affine_map<(d0) -> (d0)>
      : tensor<4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @reindex_reduce_c8(%x: tensor<4xf32>, %s: tensor<i64>) {
  // expected-error @below {{expects the divisors of floordiv, ceildiv and mod to be positive constants}}
  %y = metaop.reindex_reduce add %x symbols(%s)
      map affine_map<(d0)[s0] -> (d0 ceildiv s0)>
      : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reindex_reduce_kind(%x: tensor<4xf32>) {
  // expected-error @below {{expected ::mlir::metaop::Combiner to be one of: add, mul, max, min, and, or, xor, logaddexp, linear, none}}
  // expected-error @below {{failed to parse MetaOp_CombinerAttr parameter 'value'}}
  %y = metaop.reindex_reduce mean %x map affine_map<(d0) -> ()>
      : tensor<4xf32> -> tensor<f32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

func.func @reduce_c1_order(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `dims` to rise strictly and to lie in [0, 2), given [1, 0]}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.reduce add %x dims = [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_range(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects `dims` to rise strictly and to lie in [0, 2), given [2]}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.reduce add %x dims = [2] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c2_float(%x: tensor<4xf32>) {
  // expected-error @below {{combines by `and`, which expects integers or booleans, given 'f32'}}
  %y = metaop.reduce and %x dims = [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c2_none(%x: tensor<4xf32>) {
  // expected-error @below {{does not combine by `none`, expected add, mul, max, min}}
  %y = metaop.reduce none %x dims = [0] : tensor<4xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c2_boolean(%x: tensor<4xi1>) {
  // expected-error @below {{combines by `max`, which expects numbers, given 'i1'}}
  %y = metaop.reduce max %x dims = [0] : tensor<4xi1> -> tensor<i1>
  return
}

// -----

func.func @reduce_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = metaop.reduce add %x dims = [0] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

func.func @constant_type() {
  // expected-error @below {{failed to verify that all of {value, result} have same type}}
  %y = "metaop.constant"() <{value = dense<1.0> : tensor<4xf32>}>
      : () -> tensor<5xf32>
  return
}

// -----

func.func @constant_vector() {
  // expected-error @below {{must be tensor of numbers or booleans}}
  %y = metaop.constant dense<1.0> : vector<4xf32>
  return
}

// -----

func.func @constant_number() {
  // expected-error @below {{invalid kind of attribute specified}}
  %y = metaop.constant 1.0 : f32
  return
}

// -----

func.func @iota_c1_range() {
  // expected-error @below {{expects `dim` in [0, 2), given 2}}
  %y = metaop.iota dim = 2 : tensor<4x8xi64>
  return
}

// -----

func.func @iota_c1_negative() {
  // expected-error @below {{expects `dim` in [0, 2), given -1}}
  %y = metaop.iota dim = -1 : tensor<4x8xi64>
  return
}

// -----

func.func @iota_c2() {
  // expected-error @below {{expects 1 extent operands}}
  %y = metaop.iota dim = 0 : tensor<?xi64>
  return
}

// -----

func.func @iota_c3() {
  // expected-error @below {{must be tensor of numbers}}
  %y = metaop.iota dim = 0 : tensor<4xi1>
  return
}

// -----

func.func @scalar_rank() {
  // expected-error @below {{must be 0D tensor of element values}}
  %y = metaop.scalar : tensor<1xf32>
  return
}

// -----

func.func @random_c1(%k: tensor<i64>) {
  // expected-error @below {{expects the elements to be floats or ui32, given 'i32'}}
  %y = metaop.random %k, %k : tensor<4xi32>
  return
}

// -----

func.func @random_c2(%k: tensor<i64>) {
  // expected-error @below {{expects 1 extent operands}}
  %y = metaop.random %k, %k : tensor<?xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

// expected-error @below {{expects loops over dimensions from 0 to 1023, given -1}}
func.func private @schedule_dim_negative() attributes {s = #metaop.schedule<[step(-1)]>}

// -----

// expected-error @below {{expects loops over dimensions from 0 to 1023, given 1024}}
func.func private @schedule_dim_large() attributes {s = #metaop.schedule<[step(0), step(1024)]>}

// -----

// expected-error @below {{expects loops over all 3 dimensions, but there is none over 1}}
func.func private @schedule_dim_missing() attributes {s = #metaop.schedule<[step(0), step(2)]>}

// -----

// expected-error @below {{expected one of [parallel, step, cluster, block, warp, thread] for kind of loop, got: loop}}
func.func private @schedule_level_kind() attributes {s = #metaop.schedule<[loop(0)]>}

// -----

// expected-error @below {{expected one of [mask, body, sizes] for tail of a loop, got: clamp}}
func.func private @schedule_level_tail() attributes {s = #metaop.schedule<[step(0, 4, clamp)], tile = [0: 4]>}

// -----

// expected-error @below {{expected ')'}}
func.func private @schedule_level_order() attributes {s = #metaop.schedule<[step(0, body, 4)], tile = [0: 4]>}

// -----

// expected-error @below {{expects steps from 1 to 1099511627776, given 0}}
func.func private @schedule_step_zero() attributes {s = #metaop.schedule<[step(0, 0)]>}

// -----

// expected-error @below {{expects steps from 1 to 1099511627776, given 1099511627777}}
func.func private @schedule_step_large() attributes {s = #metaop.schedule<[step(0, 1099511627777)]>}

// -----

// expected-error @below {{expects a further loop of dimension 0 to divide the step before it, 64, given 24}}
func.func private @schedule_step_rest() attributes {s = #metaop.schedule<[step(0, 64), step(1), step(0, 24)], tile = [0: 24]>}

// -----

// expected-error @below {{expects a further loop of dimension 0 to divide the step before it, 4, given 8}}
func.func private @schedule_step_longer() attributes {s = #metaop.schedule<[step(0, 4), step(0, 8)], tile = [0: 8]>}

// -----

// expected-error @below {{expects parallel loops outside of all others, given one of dimension 1 inside}}
func.func private @schedule_parallel_inside() attributes {s = #metaop.schedule<[step(0), parallel(1)]>}

// -----

// expected-error @below {{expects `tile` to name each of the 2 dimensions at most once, given 2}}
func.func private @schedule_tile_dim() attributes {s = #metaop.schedule<[step(0), step(1)], tile = [2: 4]>}

// -----

// expected-error @below {{expects `tile` to name each of the 1 dimensions at most once, given 0}}
func.func private @schedule_tile_repeated() attributes {s = #metaop.schedule<[step(0, 4)], tile = [0: 4, 0: 4]>}

// -----

// expected-error @below {{expects more than one iteration of each dimension in `tile`, given 1 of 0}}
func.func private @schedule_tile_one() attributes {s = #metaop.schedule<[step(0)], tile = [0: 1]>}

// -----

// expected-error @below {{expects the last loop of dimension 0 to step by its number in `tile`, 4, given 8}}
func.func private @schedule_tile_step() attributes {s = #metaop.schedule<[step(0, 8), step(1)], tile = [0: 4]>}

// -----

// expected-error @below {{expects the last loop of dimension 0 to step by its number in `tile`, 8, given 4}}
func.func private @schedule_tile_last() attributes {s = #metaop.schedule<[step(0, 8), step(1), step(0, 4)], tile = [0: 8]>}

// -----

// expected-error @below {{expects the last loop of dimension 0 to step by its number in `tile`, 1, given 8}}
func.func private @schedule_tile_missing() attributes {s = #metaop.schedule<[step(0, 8)]>}

// -----

// expected-error @below {{expects `lanes` along one of the 1 dimensions, given 1}}
func.func private @schedule_lanes_dim() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 1: 8>}

// -----

// expected-error @below {{expects `lanes` along one of the 1 dimensions, given -1}}
func.func private @schedule_lanes_dim_negative() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = -1: 8>}

// -----

// expected-error @below {{expects the number of `lanes` to be a power of two and more than one, given 1}}
func.func private @schedule_lanes_one() attributes {s = #metaop.schedule<[step(0)], lanes = 0: 1>}

// -----

// expected-error @below {{expects the number of `lanes` to be a power of two and more than one, given 6}}
func.func private @schedule_lanes_power() attributes {s = #metaop.schedule<[step(0, 6)], tile = [0: 6], lanes = 0: 6>}

// -----

// expected-error @below {{expects whole vectors of 16 lanes in `tile`, given 24 iterations of dimension 0}}
func.func private @schedule_lanes_whole() attributes {s = #metaop.schedule<[step(0, 24)], tile = [0: 24], lanes = 0: 16>}

// -----

// expected-error @below {{expects whole vectors of 8 lanes in `tile`, given 1 iterations of dimension 0}}
func.func private @schedule_lanes_tile() attributes {s = #metaop.schedule<[step(0), step(1, 8)], tile = [1: 8], lanes = 0: 8>}

// -----

// expected-error @below {{expects `transpose` to name a dimension of `tile` besides that of the lanes, given 0}}
func.func private @schedule_transpose_lanes() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8, transpose = 0>}

// -----

// expected-error @below {{expects `transpose` to name a dimension of `tile` besides that of the lanes, given 1}}
func.func private @schedule_transpose_tile() attributes {s = #metaop.schedule<[step(1), step(0, 8)], tile = [0: 8], lanes = 0: 8, transpose = 1>}

// -----

// expected-error @below {{expects `transpose` to name a dimension of `tile` besides that of the lanes, given 0}}
func.func private @schedule_transpose_scalar() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], transpose = 0>}

// -----

// expected-error @below {{expects `unroll` to name each of the 1 dimensions at most once, given 1}}
func.func private @schedule_unroll_dim() attributes {s = #metaop.schedule<[step(0)], unroll = [1]>}

// -----

// expected-error @below {{expects `unroll` to name each of the 2 dimensions at most once, given 1}}
func.func private @schedule_unroll_repeated() attributes {s = #metaop.schedule<[step(0), step(1)], unroll = [1, 1]>}

// -----

// expected-error @below {{expects dimension 0 in `tile` or in `unroll`, given in both}}
func.func private @schedule_unroll_tile() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], unroll = [0]>}

// -----

// expected-error @below {{expects `prefetch` from 0 to 1099511627776 steps ahead, given -1}}
func.func private @schedule_prefetch() attributes {s = #metaop.schedule<[step(0)], prefetch = -1>}

// -----

// expected-error @below {{expects `pairwise` from 2 to 1024 values, given 1}}
func.func private @schedule_pairwise() attributes {s = #metaop.schedule<[step(0)], pairwise = 1>}

// -----

// expected-error @below {{expects `pairwise` from 2 to 1024 values, given 1025}}
func.func private @schedule_pairwise_large() attributes {s = #metaop.schedule<[step(0)], pairwise = 1025>}

// -----

// expected-error @below {{expects `stream` to be numbers of results in order, given [1, 0]}}
func.func private @schedule_stream_order() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8, stream = [1, 0]>}

// -----

// expected-error @below {{expects `stream` to be numbers of results in order, given [-1]}}
func.func private @schedule_stream_negative() attributes {s = #metaop.schedule<[step(0, 8)], tile = [0: 8], lanes = 0: 8, stream = [-1]>}

// -----

// expected-error @below {{expects vectors where results are in `stream`}}
func.func private @schedule_stream_scalar() attributes {s = #metaop.schedule<[step(0)], stream = [0]>}

// -----

// expected-error @below {{expects `shared` between 0 and the number of loops, 1, given 2}}
func.func private @schedule_shared() attributes {s = #metaop.schedule<[step(0)], shared = 2>}

// -----

// expected-error @below {{expects `shared` between 0 and the number of loops, 1, given -1}}
func.func private @schedule_shared_negative() attributes {s = #metaop.schedule<[step(0)], shared = -1>}

// -----

// expected-error @below {{expects `tile`, `lanes`, `transpose`, `unroll`, `prefetch`, `pairwise`, `stream`, `staged`, `place` and `shared`, each once and in this order, given `vector`}}
func.func private @schedule_field_unknown() attributes {s = #metaop.schedule<[step(0)], vector = 0>}

// -----

// expected-error @below {{expects `tile`, `lanes`, `transpose`, `unroll`, `prefetch`, `pairwise`, `stream`, `staged`, `place` and `shared`, each once and in this order, given `tile`}}
func.func private @schedule_field_order() attributes {s = #metaop.schedule<[step(0, 8)], lanes = 0: 8, tile = [0: 8]>}

// -----

// expected-error @below {{expects `tile`, `lanes`, `transpose`, `unroll`, `prefetch`, `pairwise`, `stream`, `staged`, `place` and `shared`, each once and in this order, given `shared`}}
func.func private @schedule_field_twice() attributes {s = #metaop.schedule<[step(0)], shared = 0, shared = 0>}

// -----

// expected-error @below {{expects clusters outside of blocks, and these outside of all other loops, given `cluster` of dimension 1 inside}}
func.func private @schedule_cluster_inside() attributes {s = #metaop.schedule<[block(0), cluster(1)]>}

// -----

// expected-error @below {{expects clusters outside of blocks, and these outside of all other loops, given `block` of dimension 1 inside}}
func.func private @schedule_block_inside() attributes {s = #metaop.schedule<[step(0), block(1)]>}

// -----

// expected-error @below {{expects warps outside of threads, given those of dimension 0 inside}}
func.func private @schedule_warp_inside() attributes {s = #metaop.schedule<[block(0, 8), block(1, 32), thread(1), warp(0)]>}

// -----

// expected-error @below {{expects one loop of dimension 0 to be `thread`, given two}}
func.func private @schedule_thread_twice() attributes {s = #metaop.schedule<[block(0, 8), thread(0, 4), thread(0)]>}

// -----

// expected-error @below {{expects a loop around `thread` of dimension 1 that says how far its threads go together}}
func.func private @schedule_thread_span() attributes {s = #metaop.schedule<[block(0), thread(1), step(1)]>}

// -----

// expected-error @below {{expects `thread` of dimension 0 to step by a vector of it, 4, given 8}}
func.func private @schedule_thread_vector() attributes {s = #metaop.schedule<[block(0, 64), thread(0, 8)], tile = [0: 8], lanes = 0: 4>}

// -----

// expected-error @below {{expects `warp` of dimension 0 to step by a vector of it, 1, given 2}}
func.func private @schedule_warp_step() attributes {s = #metaop.schedule<[block(0, 64), warp(0, 2)], tile = [0: 2]>}

// -----

// expected-error @below {{expects the threads of dimension 0 to have whole tiles of 3 of the 64 that they go together}}
func.func private @schedule_thread_tile() attributes {s = #metaop.schedule<[block(0, 64), thread(0)], tile = [0: 3]>}

// -----

// expected-error @below {{expects `staged` to be numbers of reads in order, given 0}}
func.func private @schedule_staged_order() attributes {s = #metaop.schedule<[block(0)], staged = [0: 1, 0: 1]>}

// -----

// expected-error @below {{expects `staged` to be numbers of reads in order, given -1}}
func.func private @schedule_staged_negative() attributes {s = #metaop.schedule<[block(0)], staged = [-1: 1]>}

// -----

// expected-error @below {{expects 0 to 1024 unused elements behind rows in `staged`, given 1025}}
func.func private @schedule_staged_pad() attributes {s = #metaop.schedule<[block(0)], staged = [0: 1025]>}

// -----

// expected-error @below {{expected one of [memory, registers, shared, cluster] for place of a result, got: local}}
func.func private @schedule_place() attributes {s = #metaop.schedule<[block(0)], place = [local]>}

// -----

// expected-error @below {{expects a schedule for a GPU or for a CPU}}
func.func private @schedule_both_kinds() attributes {s = #metaop.schedule<[parallel(0), step(1, 32), thread(1)]>}

// -----

// expected-error @below {{expects a schedule for a GPU or for a CPU}}
func.func private @schedule_both_fields() attributes {s = #metaop.schedule<[step(0)], prefetch = 2, staged = [0: 0]>}

// -----

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

func.func @constant_c1() -> tensor<?xf32> {
  // expected-error @below {{expects a static shape, given 'tensor<?xf32>'}}
  %0 = metaop.constant dense_resource<blob> : tensor<?xf32>
  return %0 : tensor<?xf32>
}
{-# dialect_resources: {builtin: {blob: "0x040000000000803F00000040"}} #-}
