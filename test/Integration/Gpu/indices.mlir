// Indices have 32 bits where extents allow that, and numbers out of tensors are
// cut off so far out that they are no places still.

// RUN: metaop-run %s --compare --target=cuda --emulate | FileCheck %s

// CHECK: rows: 1 results agree
func.func @rows(%x: tensor<9x33xf32>) -> tensor<6x33xf32> {
  %i = metaop.constant dense<[1, 4294967297, -4294967295, 8, 9, -1]> : tensor<6xi64>
  %k = metaop.broadcast %i dims = [0] : tensor<6xi64> -> tensor<6x33xi64>
  %y = metaop.gather %x[%k] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 2.0 : f32
      : (tensor<9x33xf32>, tensor<6x33xi64>) -> tensor<6x33xf32>
  return %y : tensor<6x33xf32>
}

// CHECK: sums: 1 results agree
func.func @sums(%x: tensor<6x5xf32>) -> tensor<9x5xf32> {
  %i = metaop.constant dense<[1, 4294967297, -4294967295, 8, 9, -1]> : tensor<6xi64>
  %k = metaop.broadcast %i dims = [0] : tensor<6xi64> -> tensor<6x5xi64>
  %y = metaop.scatter add %x[%k] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<6x5xf32>, tensor<6x5xi64>) -> tensor<9x5xf32>
  return %y : tensor<9x5xf32>
}

// A slice that begins far behind the end.
// CHECK: far: 1 results agree
func.func @far(%x: tensor<100xf32>) -> tensor<7xf32> {
  %s = metaop.constant dense<4294967300> : tensor<i64>
  %z = metaop.stop_fuse %s : tensor<i64>
  %y = metaop.reindex %x symbols(%z) map affine_map<(d0)[s0] -> (2 * d0 + s0)> fill 3.0 : f32 : tensor<100xf32> -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// A remainder of any number is a place, so that all of the number is needed.
// CHECK: remainders: 1 results agree
func.func @remainders(%x: tensor<5xf32>) -> tensor<6xf32> {
  %i = metaop.constant dense<[1, 4294967297, -4294967295, 8, 9, -1]> : tensor<6xi64>
  %z = metaop.stop_fuse %i : tensor<6xi64>
  %y = metaop.gather %x[%z] map affine_map<(d0)[s0] -> (s0 mod 5)> fill 2.0 : f32
      : (tensor<5xf32>, tensor<6xi64>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
