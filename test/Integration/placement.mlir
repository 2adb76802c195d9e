// Concats and inserts, compiled and interpreted: parts that kernels write into
// their places, parts that are copied, windows that reach over the border.

// RUN: metaop-run %s --compare --seed=1 | FileCheck %s
// RUN: metaop-run %s --compare --seed=2 | FileCheck %s

// CHECK: rows: 1 results agree
func.func @rows(%a: tensor<3x5xf32>, %b: tensor<4x5xf32>) -> tensor<10x5xf32> {
  %0 = metaop.exp %a : tensor<3x5xf32>
  %1 = metaop.concat %0, %b, %a dim = 0 : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<10x5xf32>
  return %1 : tensor<10x5xf32>
}

// CHECK: columns: 1 results agree
func.func @columns(%a: tensor<3x5xf32>, %b: tensor<3x1xf32>, %c: tensor<3x67xf32>) -> tensor<3x73xf32> {
  %0 = metaop.neg %c : tensor<3x67xf32>
  %1 = metaop.concat %a, %b, %0 dim = 1 : (tensor<3x5xf32>, tensor<3x1xf32>, tensor<3x67xf32>) -> tensor<3x73xf32>
  return %1 : tensor<3x73xf32>
}

// Parts that are read, returned, or in two places.
// CHECK: shared: 4 results agree
func.func @shared(%a: tensor<3xf64>) -> (tensor<9xf64>, tensor<3xf64>, tensor<6xf64>, tensor<3xf64>) {
  %0 = metaop.exp %a : tensor<3xf64>
  %1 = metaop.neg %0 : tensor<3xf64>
  %2 = metaop.mul %1, %1 : tensor<3xf64>
  %3 = metaop.stop_fuse %2 : tensor<3xf64>
  %4 = metaop.concat %0, %3, %1 dim = 0 : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<9xf64>
  %5 = metaop.concat %3, %3 dim = 0 : (tensor<3xf64>, tensor<3xf64>) -> tensor<6xf64>
  %6 = metaop.add %3, %1 : tensor<3xf64>
  return %4, %1, %5, %6 : tensor<9xf64>, tensor<3xf64>, tensor<6xf64>, tensor<3xf64>
}

// What is read after the concat must still be there.
// CHECK: read_later: 2 results agree
func.func @read_later(%a: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<64xf32>, tensor<128xf32>) {
  %0 = metaop.exp %a : tensor<64xf32>
  %1 = metaop.stop_fuse %0 : tensor<64xf32>
  %2 = metaop.neg %b : tensor<64xf32>
  %3 = metaop.stop_fuse %2 : tensor<64xf32>
  %4 = metaop.concat %1, %3 dim = 0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %5 = metaop.stop_fuse %4 : tensor<128xf32>
  %6 = metaop.sqrt %5 : tensor<128xf32>
  %7 = metaop.stop_fuse %6 : tensor<128xf32>
  %8 = metaop.add %1, %3 : tensor<64xf32>
  return %8, %7 : tensor<64xf32>, tensor<128xf32>
}

// Concats in concats, along one dimension and another, and views of parts.
// CHECK: nested: 1 results agree
func.func @nested(%a: tensor<4x3xi16>, %b: tensor<12xi16>) -> tensor<8x7xi16> {
  %z = metaop.constant dense<0> : tensor<i64>
  %0 = metaop.neg %b : tensor<12xi16>
  %1 = metaop.reshape %0 : tensor<12xi16> -> tensor<4x3xi16>
  %2 = metaop.concat %a, %1 dim = 0 : (tensor<4x3xi16>, tensor<4x3xi16>) -> tensor<8x3xi16>
  %3 = metaop.reshape %0 : tensor<12xi16> -> tensor<3x4xi16>
  %4 = metaop.transpose %3 perm = [1, 0] : tensor<3x4xi16> -> tensor<4x3xi16>
  %5 = metaop.slice %4[%z, %z] strides = [1, 1] : tensor<4x3xi16> -> tensor<4x1xi16>
  %6 = metaop.concat %1, %5 dim = 1 : (tensor<4x3xi16>, tensor<4x1xi16>) -> tensor<4x4xi16>
  %7 = metaop.abs %6 : tensor<4x4xi16>
  %8 = metaop.concat %6, %7 dim = 0 : (tensor<4x4xi16>, tensor<4x4xi16>) -> tensor<8x4xi16>
  %9 = metaop.concat %2, %8 dim = 1 : (tensor<8x3xi16>, tensor<8x4xi16>) -> tensor<8x7xi16>
  return %9 : tensor<8x7xi16>
}

// CHECK: booleans: 1 results agree
func.func @booleans(%a: tensor<5xi1>, %b: tensor<3xf32>) -> tensor<8xi1> {
  %0 = metaop.cmp lt %b, %b : tensor<3xf32> -> tensor<3xi1>
  %1 = metaop.concat %a, %0 dim = 0 : (tensor<5xi1>, tensor<3xi1>) -> tensor<8xi1>
  return %1 : tensor<8xi1>
}

// CHECK: inserts: 3 results agree
func.func @inserts(%p: tensor<2x3xf32>, %x: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>) {
  %one = metaop.constant dense<1> : tensor<i64>
  %two = metaop.constant dense<2> : tensor<i64>
  %far = metaop.constant dense<5> : tensor<i64>
  %before = metaop.constant dense<-1> : tensor<i64>
  %0 = metaop.insert none %p into %x[%one, %two] : tensor<2x3xf32> into tensor<6x5xf32>
  %1 = metaop.insert add %p into %0[%far, %before] : tensor<2x3xf32> into tensor<6x5xf32>
  %2 = metaop.exp %p : tensor<2x3xf32>
  %3 = metaop.insert max %2 into %1[%two, %far] : tensor<2x3xf32> into tensor<6x5xf32>
  %4 = metaop.insert mul %p into %x[%before, %one] : tensor<2x3xf32> into tensor<6x5xf32>
  return %1, %3, %4 : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}

// A window of a tensor into the same tensor.
// CHECK: insert_self: 1 results agree
func.func @insert_self(%x: tensor<9xi32>) -> tensor<9xi32> {
  %one = metaop.constant dense<1> : tensor<i64>
  %four = metaop.constant dense<4> : tensor<i64>
  %0 = metaop.neg %x : tensor<9xi32>
  %1 = metaop.stop_fuse %0 : tensor<9xi32>
  %2 = metaop.slice %1[%one] strides = [1] : tensor<9xi32> -> tensor<5xi32>
  %3 = metaop.insert none %2 into %1[%four] : tensor<5xi32> into tensor<9xi32>
  %4 = metaop.insert none %3 into %3[%one] : tensor<9xi32> into tensor<9xi32>
  return %4 : tensor<9xi32>
}

// What is written over must not be read from then on: a part of the destination,
// and the destination itself.
// CHECK: insert_into_concat: 3 results agree
func.func @insert_into_concat(%x: tensor<4xf32>, %p: tensor<3xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>) {
  %two = metaop.constant dense<2> : tensor<i64>
  %0 = metaop.exp %x : tensor<4xf32>
  %1 = metaop.stop_fuse %0 : tensor<4xf32>
  %2 = metaop.neg %x : tensor<4xf32>
  %3 = metaop.stop_fuse %2 : tensor<4xf32>
  %4 = metaop.concat %1, %3 dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %5 = metaop.insert none %p into %4[%two] : tensor<3xf32> into tensor<8xf32>
  %6 = metaop.mul %1, %1 : tensor<4xf32>
  %7 = metaop.concat %3, %1 dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %8 = metaop.insert add %p into %7[%two] : tensor<3xf32> into tensor<8xf32>
  %9 = metaop.insert mul %p into %8[%two] : tensor<3xf32> into tensor<8xf32>
  return %5, %6, %9 : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>
}
