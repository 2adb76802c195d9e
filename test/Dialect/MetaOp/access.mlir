// RUN: metaop-opt %s --canonicalize --mlir-print-local-scope -split-input-file \
// RUN:   --allow-unregistered-dialect | FileCheck %s

// A read of a splat with another fill folds if and only if it is known to be in
// bounds, so each of these shows what the analysis proves.

// CHECK-LABEL: @in_bounds
// CHECK-NOT: metaop.reindex
// CHECK: return
func.func @in_bounds() -> (tensor<4x3xf32>, tensor<8xf32>, tensor<8xf32>,
                           tensor<6xf32>, tensor<4xf32>, tensor<7xf32>,
                           tensor<0xf32>) {
  %x = metaop.constant dense<2.0> : tensor<6xf32>
  // Sums: 0 .. 5.
  %0 = metaop.reindex %x map affine_map<(d0, d1) -> (d0 + d1)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<4x3xf32>
  // Quotients: 0 .. 3, and 1 .. 5.
  %1 = metaop.reindex %x map affine_map<(d0) -> (d0 floordiv 2)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<8xf32>
  %2 = metaop.reindex %x map affine_map<(d0) -> ((d0 + 1) ceildiv 2 + 1)>
      fill 0.0 : f32 : tensor<6xf32> -> tensor<8xf32>
  // Negative factors: 5 - 0 .. 5.
  %3 = metaop.reindex %x map affine_map<(d0) -> (5 - d0)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<6xf32>
  // Remainders of a range without a multiple: 9 .. 12 mod 8 is 1 .. 4.
  %4 = metaop.reindex %x map affine_map<(d0) -> ((d0 + 9) mod 8)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<4xf32>
  // Remainders of any symbol.
  %s = metaop.scalar : tensor<i64>
  %5 = metaop.reindex %x symbols(%s) map affine_map<(d0)[s0] -> ((d0 + s0) mod 6)>
      fill 0.0 : f32 : tensor<6xf32> -> tensor<7xf32>
  // Nothing is read.
  %6 = metaop.reindex %x map affine_map<(d0) -> (d0 + 100)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<0xf32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<4x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>,
        tensor<4xf32>, tensor<7xf32>, tensor<0xf32>
}

// -----

// One step too far at either end.
// CHECK-LABEL: @out_of_bounds
func.func @out_of_bounds() -> (tensor<4x4xf32>, tensor<12xf32>, tensor<6xf32>,
                               tensor<6xf32>, tensor<6xf32>, tensor<3xf32>) {
  %x = metaop.constant dense<2.0> : tensor<6xf32>
  // CHECK: metaop.reindex {{.*}} map affine_map<(d0, d1) -> (d0 + d1)>
  %0 = metaop.reindex %x map affine_map<(d0, d1) -> (d0 + d1)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<4x4xf32>
  // CHECK: metaop.reindex {{.*}} map affine_map<(d0) -> (d0 ceildiv 2)>
  %1 = metaop.reindex %x map affine_map<(d0) -> (d0 ceildiv 2)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<12xf32>
  // CHECK: metaop.reindex {{.*}} map affine_map<(d0) -> (-d0 + 4)>
  %2 = metaop.reindex %x map affine_map<(d0) -> (4 - d0)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<6xf32>
  // CHECK: metaop.reindex {{.*}} map affine_map<(d0) -> ((d0 + 3) mod 7)>
  %3 = metaop.reindex %x map affine_map<(d0) -> ((d0 + 3) mod 7)> fill 0.0 : f32
      : tensor<6xf32> -> tensor<6xf32>
  // CHECK: metaop.reindex {{.*}} map affine_map<(d0)[s0] -> (d0 + s0)>
  %s = metaop.scalar : tensor<i64>
  %4 = metaop.reindex %x symbols(%s) map affine_map<(d0)[s0] -> (d0 + s0)>
      fill 0.0 : f32 : tensor<6xf32> -> tensor<6xf32>
  // Products that do not fit are not known.
  // CHECK: metaop.reindex {{.*}} map affine_map<(d0) -> (d0 * 9223372036854775807)>
  %5 = metaop.reindex %x
      map affine_map<(d0) -> (d0 * 9223372036854775807)>
      fill 0.0 : f32 : tensor<6xf32> -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4x4xf32>, tensor<12xf32>,
      tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<3xf32>
}

// -----

// Nothing can be read from an empty tensor.
// CHECK-LABEL: @empty_source
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<7.000000e+00> : tensor<3xf32>
// CHECK-NEXT: return %[[C]]
func.func @empty_source(%x: tensor<0xf32>) -> tensor<3xf32> {
  %0 = metaop.reindex %x map affine_map<(d0) -> (d0)> fill 7.0 : f32
      : tensor<0xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Conditions that hold are dropped, and those that follow from the range of the
// indices or from another condition.
// CHECK-LABEL: @conditions
func.func @conditions(%x: tensor<4x8xf32>, %s: tensor<i64>)
    -> (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>) {
  // CHECK: map affine_map<(d0, d1) -> (d0 - 1, d1)> fill
  %0 = metaop.reindex %x map affine_map<(d0, d1) -> (d0 - 1, d1)>
      where affine_set<(d0, d1) : (d1 >= 0, 5 - d1 >= 0, d0 >= 0, d0 - 1 >= 0,
                                   4 - d0 >= 0, 0 == 0)>
      fill 0.0 : f32 : tensor<4x8xf32> -> tensor<6x6xf32>
  // CHECK: where affine_set<(d0, d1) : (d0 - d1 - 1 >= 0)> fill
  %1 = metaop.reindex %x map affine_map<(d0, d1) -> (d0, d1)>
      where affine_set<(d0, d1) : (d0 - d1 - 1 >= 0, d0 - d1 >= 0)>
      fill 0.0 : f32 : tensor<4x8xf32> -> tensor<6x6xf32>
  // CHECK: where affine_set<(d0, d1)[s0] : (d1 mod 2 == 0, -d0 + s0 >= 0)> fill
  %2 = metaop.reindex %x symbols(%s) map affine_map<(d0, d1)[s0] -> (d0, d1)>
      where affine_set<(d0, d1)[s0] : (d1 mod 2 == 0, s0 - d0 >= 0)>
      fill 0.0 : f32 : tensor<4x8xf32> -> tensor<6x6xf32>
  return %0, %1, %2 : tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>
}

// -----

// A dynamic extent is followed through element-wise ops and the other forms.
// CHECK-LABEL: @dynamic_extents
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4xf32>
// CHECK: return %[[X]]
func.func @dynamic_extents(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  %c1 = arith.constant 1 : index
  %0 = metaop.exp %x : tensor<?x4xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  %2 = metaop.reduce add %1 dims = [0] keep_dims
      : tensor<4x?xf32> -> tensor<1x?xf32>
  %m = tensor.dim %2, %c1 : tensor<1x?xf32>
  %3 = metaop.reindex %x extents(%m) map affine_map<(d0, d1) -> (d0, d1)>
      fill 0.0 : f32 : tensor<?x4xf32> -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}

// -----

// Values may depend on themselves in a graph region.
// CHECK-LABEL: module
// CHECK: metaop.exp
module {
  %0 = metaop.exp %1 : tensor<?xf32>
  %1 = metaop.reindex %0 extents(%n) map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : tensor<?xf32> -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %1, %c0 : tensor<?xf32>
  "test.use"(%1) : (tensor<?xf32>) -> ()
}

// -----

// CHECK-LABEL: module
// CHECK-COUNT-3: metaop
module {
  %0 = metaop.reindex %0 map affine_map<(d0) -> (d0)> fill 0.0 : f32
      : tensor<4xf32> -> tensor<4xf32>
  %1 = metaop.reshape %2 : tensor<4xf32> -> tensor<2x2xf32>
  %2 = metaop.reshape %1 : tensor<2x2xf32> -> tensor<4xf32>
  %3 = metaop.reduce add %3 dims = [] : tensor<4xf32> -> tensor<4xf32>
  "test.use"(%0, %1, %3) : (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) -> ()
}
