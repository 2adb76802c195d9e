// RUN: metaop-opt %s --canonicalize --mlir-print-local-scope -split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Named forms
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<8x1xf32>, %n: index)
    -> (tensor<4x8x6xf32>, tensor<8x?xf32>) {
  // CHECK: metaop.reindex %{{.*}} map affine_map<(d0, d1, d2) -> (d1, 0)> fill 0.000000e+00 : f32 : tensor<8x1xf32> -> tensor<4x8x6xf32>
  %0 = metaop.broadcast %x dims = [1, 2] : tensor<8x1xf32> -> tensor<4x8x6xf32>
  // CHECK: metaop.reindex %{{.*}} extents(%{{.*}}) map affine_map<(d0, d1) -> (d0, 0)> fill
  %1 = metaop.broadcast %x extents(%n) dims = [0, 1]
      : tensor<8x1xf32> -> tensor<8x?xf32>
  return %0, %1 : tensor<4x8x6xf32>, tensor<8x?xf32>
}

// -----

// CHECK-LABEL: @transpose
// CHECK-SAME: %[[X:.*]]: tensor<4x?x8xi1>
func.func @transpose(%x: tensor<4x?x8xi1>) -> tensor<8x4x?xi1> {
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK: %[[N:.*]] = tensor.dim %[[X]], %[[C1]]
  // CHECK: metaop.reindex %[[X]] extents(%[[N]]) map affine_map<(d0, d1, d2) -> (d1, d2, d0)> fill false
  %0 = metaop.transpose %x perm = [2, 0, 1]
      : tensor<4x?x8xi1> -> tensor<8x4x?xi1>
  return %0 : tensor<8x4x?xi1>
}

// -----

// CHECK-LABEL: @slice
// CHECK-SAME: %[[X:[^:]*]]: tensor<100x8xui8>, %[[I:[^:]*]]: tensor<i64>, %[[J:[^:]*]]: tensor<i64>
func.func @slice(%x: tensor<100x8xui8>, %i: tensor<i64>, %j: tensor<i64>)
    -> tensor<32x4xui8> {
  // CHECK: metaop.reindex %[[X]] symbols(%[[I]], %[[J]]) map affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 * -2 + s1)> fill 0 : ui8
  %0 = metaop.slice %x[%i, %j] strides = [1, -2]
      : tensor<100x8xui8> -> tensor<32x4xui8>
  return %0 : tensor<32x4xui8>
}

// -----

// CHECK-LABEL: @pad
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>
func.func @pad(%x: tensor<4x?xf32>) -> tensor<6x?xf32> {
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
  // CHECK: %[[N:.*]] = tensor.dim %[[X]], %[[C1]]
  // CHECK: %[[M:.*]] = arith.addi %[[N]], %[[C3]]
  // CHECK: metaop.reindex %[[X]] extents(%[[M]]) map affine_map<(d0, d1) -> (d0 - 1, d1)> fill 1.000000e+00 : f32
  %0 = metaop.pad %x low = [1, 0] high = [1, 3] fill 1.0 : f32
      : tensor<4x?xf32> -> tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// -----

// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<4x?x3xf32>) -> (tensor<?xf32>, tensor<1x?x1xf32>) {
  // CHECK: metaop.reindex_reduce max %{{.*}} extents(%{{.*}}) map affine_map<(d0, d1, d2) -> (d1)>
  %0 = metaop.reduce max %x dims = [0, 2] : tensor<4x?x3xf32> -> tensor<?xf32>
  // CHECK: metaop.reindex_reduce add %{{.*}} extents(%{{.*}}) map affine_map<(d0, d1, d2) -> (0, d1, 0)>
  %1 = metaop.reduce add %x dims = [0, 2] keep_dims
      : tensor<4x?x3xf32> -> tensor<1x?x1xf32>
  return %0, %1 : tensor<?xf32>, tensor<1x?x1xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

// Constants go into the map, equal symbols are one, unused ones go.
// CHECK-LABEL: @symbols
// CHECK-SAME: %[[X:[^:]*]]: tensor<8x8x8xf32>, %[[I:[^:]*]]: tensor<i64>
func.func @symbols(%x: tensor<8x8x8xf32>, %i: tensor<i64>, %j: tensor<i64>)
    -> tensor<8x8x8xf32> {
  %two = metaop.constant dense<2> : tensor<i64>
  // CHECK: metaop.reindex %[[X]] symbols(%[[I]]) map affine_map<(d0, d1, d2)[s0] -> (d0 + s0, d1 + s0, d2 + 2)> fill
  %0 = metaop.reindex %x symbols(%i, %j, %two, %i)
      map affine_map<(d0, d1, d2)[s0, s1, s2, s3] -> (d0 + s0, d1 + s3, d2 + s2)>
      fill 0.0 : f32 : tensor<8x8x8xf32> -> tensor<8x8x8xf32>
  return %0 : tensor<8x8x8xf32>
}

// -----

// A symbol that only a condition uses stays.
// CHECK-LABEL: @symbol_of_condition
func.func @symbol_of_condition(%x: tensor<8xf32>, %i: tensor<i64>)
    -> tensor<f32> {
  // CHECK: metaop.reindex_reduce add %{{.*}} symbols(%{{.*}}) map affine_map<(d0)[s0] -> ()> where affine_set<(d0)[s0] : (-d0 + s0 >= 0)>
  %0 = metaop.reindex_reduce add %x symbols(%i) map affine_map<(d0)[s0] -> ()>
      where affine_set<(d0)[s0] : (s0 - d0 >= 0)> : tensor<8xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: @simplify_map
func.func @simplify_map(%x: tensor<8x8x8x8xf32>) -> tensor<4x4x1x4xf32> {
  // CHECK: map affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2, 0, d3)> fill
  %0 = metaop.reindex %x
      map affine_map<(d0, d1, d2, d3)
          -> (d0 mod 4, d1 * 2 + d2, d0 floordiv 4, (d1 * 4 + d3) mod 4)>
      fill 0.0 : f32 : tensor<8x8x8x8xf32> -> tensor<4x4x1x4xf32>
  return %0 : tensor<4x4x1x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @compose_in_bounds
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @compose_in_bounds(%x: tensor<4x8xf32>) -> tensor<8x4x3xf32> {
  // CHECK-NEXT: %[[Y:.*]] = metaop.reindex %[[X]] map affine_map<(d0, d1, d2) -> (d1, d0)> fill 0.000000e+00 : f32 : tensor<4x8xf32> -> tensor<8x4x3xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = metaop.broadcast %0 dims = [0, 1] : tensor<8x4xf32> -> tensor<8x4x3xf32>
  return %1 : tensor<8x4x3xf32>
}

// -----

// The outer guard is kept only where the inner range does not imply it.
// CHECK-LABEL: @compose_guards
func.func @compose_guards(%x: tensor<8xf32>) -> (tensor<12xf32>, tensor<4xf32>) {
  // CHECK: metaop.reindex %{{.*}} map affine_map<(d0) -> (d0 - 2)> fill 1.000000e+00 : f32 : tensor<8xf32> -> tensor<12xf32>
  %0 = metaop.pad %x low = [1] high = [1] fill 1.0 : f32
      : tensor<8xf32> -> tensor<10xf32>
  %1 = metaop.pad %0 low = [1] high = [1] fill 1.0 : f32
      : tensor<10xf32> -> tensor<12xf32>
  // Elements 0 and 1 of the padded slice are outside of the slice, though the
  // source has them.
  // CHECK: metaop.reindex %{{.*}} map affine_map<(d0) -> (d0 + 1)> where affine_set<(d0) : (d0 - 2 >= 0)> fill 5.000000e+00 : f32 : tensor<8xf32> -> tensor<4xf32>
  %2 = metaop.reindex %x map affine_map<(d0) -> (d0 + 3)> fill 0.0 : f32
      : tensor<8xf32> -> tensor<2xf32>
  %3 = metaop.pad %2 low = [2] high = [0] fill 5.0 : f32
      : tensor<2xf32> -> tensor<4xf32>
  return %1, %3 : tensor<12xf32>, tensor<4xf32>
}

// -----

// Two fills that both can appear stay two reindexes.
// CHECK-LABEL: @compose_two_fills
// CHECK: metaop.reindex %{{.*}} fill 1.000000e+00 : f32
// CHECK: metaop.reindex %{{.*}} fill 2.000000e+00 : f32
func.func @compose_two_fills(%x: tensor<8xf32>) -> tensor<12xf32> {
  %0 = metaop.pad %x low = [1] high = [1] fill 1.0 : f32
      : tensor<8xf32> -> tensor<10xf32>
  %1 = metaop.pad %0 low = [1] high = [1] fill 2.0 : f32
      : tensor<10xf32> -> tensor<12xf32>
  return %1 : tensor<12xf32>
}

// -----

// The outer is in bounds: the inner's fill and conditions are what is left.
// CHECK-LABEL: @compose_inner_guards
// CHECK: metaop.reindex %{{.*}} symbols(%{{.*}}, %{{.*}}) map affine_map<(d0)[s0, s1] -> ((d0 + s0) mod 10 + s1)> where affine_set<(d0)[s0, s1] : (-((d0 + s0) mod 10) + s1 >= 0)> fill 1.000000e+00 : f32 : tensor<8xf32> -> tensor<5xf32>
func.func @compose_inner_guards(%x: tensor<8xf32>, %i: tensor<i64>,
                                %j: tensor<i64>) -> tensor<5xf32> {
  %0 = metaop.reindex %x symbols(%i) map affine_map<(d0)[s0] -> (d0 + s0)>
      where affine_set<(d0)[s0] : (s0 - d0 >= 0)> fill 1.0 : f32
      : tensor<8xf32> -> tensor<10xf32>
  %1 = metaop.reindex %0 symbols(%j) map affine_map<(d0)[s0] -> ((d0 + s0) mod 10)>
      fill 2.0 : f32 : tensor<10xf32> -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// The extent between is not known, and no condition can name it.
// CHECK-LABEL: @compose_dynamic_middle
// CHECK-COUNT-2: metaop.reindex
func.func @compose_dynamic_middle(%x: tensor<8xf32>, %n: index) -> tensor<5xf32> {
  %0 = metaop.reindex %x extents(%n) map affine_map<(d0) -> (d0)> fill 1.0 : f32
      : tensor<8xf32> -> tensor<?xf32>
  %1 = metaop.reindex %0 map affine_map<(d0) -> (d0)> fill 1.0 : f32
      : tensor<?xf32> -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// The transposes of a dynamic shape cancel out.
// CHECK-LABEL: @compose_dynamic
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>
// CHECK: return %[[X]]
func.func @compose_dynamic(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = metaop.transpose %x perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @reshape_of_reshape
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT: metaop.reshape %[[X]] : tensor<4x8xf32> -> tensor<2x16xf32>
func.func @reshape_of_reshape(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  %0 = metaop.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = metaop.reshape %0 : tensor<32xf32> -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}

// -----

// CHECK-LABEL: @reindex_to_reshape
// CHECK-SAME: %[[X:.*]]: tensor<4x1x8xf32>
func.func @reindex_to_reshape(%x: tensor<4x1x8xf32>)
    -> (tensor<1x4x8xf32>, tensor<4x8xf32>, tensor<8x1x4xf32>) {
  // CHECK: metaop.reshape %[[X]] : tensor<4x1x8xf32> -> tensor<1x4x8xf32>
  %0 = metaop.transpose %x perm = [1, 0, 2]
      : tensor<4x1x8xf32> -> tensor<1x4x8xf32>
  // CHECK: metaop.reshape %[[X]] : tensor<4x1x8xf32> -> tensor<4x8xf32>
  %1 = metaop.reduce add %x dims = [1] : tensor<4x1x8xf32> -> tensor<4x8xf32>
  // CHECK: metaop.reindex %[[X]] map affine_map<(d0, d1, d2) -> (d2, d1, d0)>
  %2 = metaop.transpose %x perm = [2, 1, 0]
      : tensor<4x1x8xf32> -> tensor<8x1x4xf32>
  return %0, %1, %2 : tensor<1x4x8xf32>, tensor<4x8xf32>, tensor<8x1x4xf32>
}

// -----

// CHECK-LABEL: @reindex_of_reshape
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @reindex_of_reshape(%x: tensor<4x8xf32>)
    -> (tensor<4x3x8xf32>, tensor<4x2x8xf32>) {
  %0 = metaop.reshape %x : tensor<4x8xf32> -> tensor<4x1x8xf32>
  // CHECK: metaop.reindex %[[X]] map affine_map<(d0, d1, d2) -> (d0, d2)> fill 0.000000e+00 : f32 : tensor<4x8xf32> -> tensor<4x3x8xf32>
  %1 = metaop.broadcast %0 dims = [0, 1, 2]
      : tensor<4x1x8xf32> -> tensor<4x3x8xf32>
  // The guard of the unit dimension becomes a condition.
  // CHECK: metaop.reindex %[[X]] map affine_map<(d0, d1, d2) -> (d0, d2)> where affine_set<(d0, d1, d2) : (-d1 >= 0)> fill 3.000000e+00 : f32 : tensor<4x8xf32> -> tensor<4x2x8xf32>
  %2 = metaop.pad %0 low = [0, 0, 0] high = [0, 1, 0] fill 3.0 : f32
      : tensor<4x1x8xf32> -> tensor<4x2x8xf32>
  return %1, %2 : tensor<4x3x8xf32>, tensor<4x2x8xf32>
}

// -----

// CHECK-LABEL: @reduce_of_reshape
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT: metaop.reindex_reduce add %[[X]] map affine_map<(d0, d1) -> (d0)> where affine_set<(d0, d1) : (-d0 + d1 >= 0)> : tensor<4x8xf32> -> tensor<4xf32>
func.func @reduce_of_reshape(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = metaop.reshape %x : tensor<4x8xf32> -> tensor<1x4x1x8xf32>
  %1 = metaop.reindex_reduce add %0
      map affine_map<(d0, d1, d2, d3) -> (d1 + d2)>
      where affine_set<(d0, d1, d2, d3) : (d3 - d1 + d0 >= 0)>
      : tensor<1x4x1x8xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @hoist
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[Z:[^:]*]]: tensor<4x8xf32>, %[[S:[^:]*]]: tensor<f32>
func.func @hoist(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %s: tensor<f32>)
    -> tensor<2x16xi1> {
  // CHECK-DAG: %[[C:.*]] = metaop.constant dense<5.000000e-01> : tensor<4x8xf32>
  // CHECK-DAG: %[[B:.*]] = metaop.reindex %[[S]] map affine_map<(d0, d1) -> ()> {{.*}} : tensor<f32> -> tensor<4x8xf32>
  // CHECK-DAG: %[[E:.*]] = metaop.exp %[[X]] : tensor<4x8xf32>
  // CHECK-DAG: %[[M:.*]] = metaop.mul %[[E]], %[[C]] : tensor<4x8xf32>
  // CHECK-DAG: %[[A:.*]] = metaop.sub %[[M]], %[[B]] : tensor<4x8xf32>
  // CHECK: %[[L:.*]] = metaop.cmp lt %[[A]], %[[Z]] : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK-NEXT: %[[R:.*]] = metaop.reshape %[[L]] : tensor<4x8xi1> -> tensor<2x16xi1>
  // CHECK-NEXT: return %[[R]]
  %half = metaop.constant dense<0.5> : tensor<2x16xf32>
  %0 = metaop.reshape %x : tensor<4x8xf32> -> tensor<2x16xf32>
  %1 = metaop.reshape %z : tensor<4x8xf32> -> tensor<2x16xf32>
  %2 = metaop.exp %0 : tensor<2x16xf32>
  %3 = metaop.mul %2, %half : tensor<2x16xf32>
  %4 = metaop.broadcast %s dims = [] : tensor<f32> -> tensor<2x16xf32>
  %5 = metaop.sub %3, %4 : tensor<2x16xf32>
  %6 = metaop.cmp lt %5, %1 : tensor<2x16xf32> -> tensor<2x16xi1>
  return %6 : tensor<2x16xi1>
}

// -----

// What converts halves reads them through the view.

// CHECK-LABEL: @hoist_no_widening
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xbf16>, %[[Y:[^:]*]]: tensor<4x8xf32>
func.func @hoist_no_widening(%x: tensor<4x8xbf16>, %y: tensor<4x8xf32>)
    -> (tensor<2x16xf32>, tensor<2x16xbf16>) {
  // CHECK: %[[V:.*]] = metaop.reshape %[[X]] : tensor<4x8xbf16> -> tensor<2x16xbf16>
  // CHECK: metaop.cast %[[V]] : tensor<2x16xbf16> -> tensor<2x16xf32>
  %0 = metaop.reshape %x : tensor<4x8xbf16> -> tensor<2x16xbf16>
  %1 = metaop.cast %0 : tensor<2x16xbf16> -> tensor<2x16xf32>
  // CHECK: metaop.cast %[[Y]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  %2 = metaop.reshape %y : tensor<4x8xf32> -> tensor<2x16xf32>
  %3 = metaop.cast %2 : tensor<2x16xf32> -> tensor<2x16xbf16>
  return %1, %3 : tensor<2x16xf32>, tensor<2x16xbf16>
}

// -----

// CHECK-LABEL: @hoist_not
func.func @hoist_not(%x: tensor<4x8xf32>, %z: tensor<8x4xf32>,
                     %w: tensor<2x16xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  // Two source shapes.
  // CHECK: metaop.add %{{.*}} : tensor<2x16xf32>
  %0 = metaop.reshape %x : tensor<4x8xf32> -> tensor<2x16xf32>
  %1 = metaop.reshape %z : tensor<8x4xf32> -> tensor<2x16xf32>
  %2 = metaop.add %0, %1 : tensor<2x16xf32>
  // An operand that is neither a reshape nor a splat.
  // CHECK: metaop.add %{{.*}} : tensor<2x16xf32>
  %3 = metaop.add %0, %w : tensor<2x16xf32>
  return %2, %3 : tensor<2x16xf32>, tensor<2x16xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Reindex-reduce
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @reduce_to_transpose
// CHECK: metaop.reindex %{{.*}} map affine_map<(d0, d1) -> (d1, d0)> fill 0.000000e+00 : f32 : tensor<4x8xf32> -> tensor<8x4xf32>
func.func @reduce_to_transpose(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d1, d0)>
      : tensor<4x8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// The gradients of slices: what is not written holds the identity.
// CHECK-LABEL: @reduce_to_reindex
func.func @reduce_to_reindex(%x: tensor<4xf32>, %i: tensor<i64>)
    -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) {
  // CHECK: metaop.reindex %{{.*}} symbols(%{{.*}}) map affine_map<(d0)[s0] -> (d0 - s0)> fill 0.000000e+00 : f32
  %0 = metaop.reindex_reduce add %x symbols(%i)
      map affine_map<(d0)[s0] -> (d0 + s0)> : tensor<4xf32> -> tensor<9xf32>
  // CHECK: metaop.reindex %{{.*}} map affine_map<(d0) -> ((d0 - 1) floordiv 2)> where affine_set<(d0) : ((d0 - 1) mod 2 == 0)> fill 1.000000e+00 : f32
  %1 = metaop.reindex_reduce mul %x map affine_map<(d0) -> (d0 * 2 + 1)>
      : tensor<4xf32> -> tensor<9xf32>
  // CHECK: metaop.reindex %{{.*}} map affine_map<(d0) -> (-d0 + 5)> where affine_set<(d0) : (-d0 + 3 >= 0)> fill 0xFF800000 : f32
  %2 = metaop.reindex_reduce max %x map affine_map<(d0) -> (5 - d0)>
      where affine_set<(d0) : (d0 - 2 >= 0)> : tensor<4xf32> -> tensor<9xf32>
  return %0, %1, %2 : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
}

// -----

// The identities of integers.
// CHECK-LABEL: @reduce_to_reindex_integers
// CHECK: fill 127 : i8
// CHECK: fill 0 : ui8
// CHECK: fill -1 : i8
// CHECK: fill false
func.func @reduce_to_reindex_integers(%x: tensor<2xi8>, %u: tensor<2xui8>,
                                      %b: tensor<2xi1>)
    -> (tensor<3xi8>, tensor<3xui8>, tensor<3xi8>, tensor<3xi1>) {
  %0 = metaop.reindex_reduce min %x map affine_map<(d0) -> (d0)>
      : tensor<2xi8> -> tensor<3xi8>
  %1 = metaop.reindex_reduce max %u map affine_map<(d0) -> (d0)>
      : tensor<2xui8> -> tensor<3xui8>
  %2 = metaop.reindex_reduce and %x map affine_map<(d0) -> (d0)>
      : tensor<2xi8> -> tensor<3xi8>
  %3 = metaop.reindex_reduce or %b map affine_map<(d0) -> (d0)>
      : tensor<2xi1> -> tensor<3xi1>
  return %0, %1, %2, %3 : tensor<3xi8>, tensor<3xui8>, tensor<3xi8>, tensor<3xi1>
}

// -----

// What is written in steps is reduced without the elements between.
// CHECK-LABEL: @reduce_in_steps
// CHECK: %[[Z:.*]] = metaop.reindex_reduce max %{{.*}} map affine_map<(d0, d1, d2) -> (d1 + d2 * 2, d0)> : tensor<3x8x4xf32> -> tensor<15x3xf32>
// CHECK: metaop.reindex %[[Z]] map affine_map<(d0, d1) -> ((d0 - 1) floordiv 2, d1)> where affine_set<(d0, d1) : ((d0 - 1) mod 2 == 0)> fill 0xFF800000 : f32 : tensor<15x3xf32> -> tensor<30x3xf32>
func.func @reduce_in_steps(%x: tensor<3x8x4xf32>) -> tensor<30x3xf32> {
  %0 = metaop.reindex_reduce max %x
      map affine_map<(d0, d1, d2) -> (d1 * 2 + d2 * 4 + 1, d0)>
      : tensor<3x8x4xf32> -> tensor<30x3xf32>
  return %0 : tensor<30x3xf32>
}

// -----

// So is what counts down, and starts below the result.
// CHECK-LABEL: @reduce_in_steps_down
// CHECK: %[[Z:.*]] = metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0 * 2 - d1 * 3 - 1)> : tensor<8x4xf32> -> tensor<10xf32>
// CHECK: metaop.reindex %[[Z]] map affine_map<(d0) -> ((d0 - 1) floordiv 3)> where affine_set<(d0) : ((d0 - 1) mod 3 == 0)> fill 0.000000e+00 : f32 : tensor<10xf32> -> tensor<30xf32>
func.func @reduce_in_steps_down(%x: tensor<8x4xf32>) -> tensor<30xf32> {
  %0 = metaop.reindex_reduce add %x
      map affine_map<(d0, d1) -> (d0 * 6 - d1 * 9 - 2)>
      : tensor<8x4xf32> -> tensor<30xf32>
  return %0 : tensor<30xf32>
}

// -----

// Indices that wrap, or that a symbol moves, stay as they are.
// CHECK-LABEL: @reduce_in_no_steps
func.func @reduce_in_no_steps(%x: tensor<8x4xf32>, %i: tensor<i64>)
    -> (tensor<30xf32>, tensor<30xf32>) {
  // CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0 * 4611686018427387904 + d1 * 2)> : tensor<8x4xf32> -> tensor<30xf32>
  %0 = metaop.reindex_reduce add %x
      map affine_map<(d0, d1) -> (d0 * 4611686018427387904 + d1 * 2)>
      : tensor<8x4xf32> -> tensor<30xf32>
  // CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 * 4 + s0)> : tensor<8x4xf32> -> tensor<30xf32>
  %1 = metaop.reindex_reduce add %x symbols(%i)
      map affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 * 4 + s0)>
      : tensor<8x4xf32> -> tensor<30xf32>
  return %0, %1 : tensor<30xf32>, tensor<30xf32>
}

// -----

// A constant index: one slice of the result is written.
// CHECK-LABEL: @reduce_to_reindex_constant
// CHECK: metaop.reindex %{{.*}} map affine_map<(d0, d1) -> (d1)> where affine_set<(d0, d1) : (d0 - 2 == 0)> fill 0.000000e+00 : f32 : tensor<8xf32> -> tensor<4x8xf32>
func.func @reduce_to_reindex_constant(%x: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = metaop.reindex_reduce add %x map affine_map<(d0) -> (2, d0)>
      : tensor<8xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Elements may meet: windows that overlap, and dimensions that are summed.
// CHECK-LABEL: @reduce_stays
// CHECK-COUNT-4: metaop.reindex_reduce
func.func @reduce_stays(%x: tensor<4x3xf32>, %i: tensor<i64>, %z: tensor<?x3xf32>)
    -> (tensor<6xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3xf32>) {
  %0 = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d0 + d1)>
      : tensor<4x3xf32> -> tensor<6xf32>
  %1 = metaop.reduce add %x dims = [1] : tensor<4x3xf32> -> tensor<4xf32>
  %2 = metaop.reindex_reduce add %x symbols(%i)
      map affine_map<(d0, d1)[s0] -> (d0 * s0, d1)>
      : tensor<4x3xf32> -> tensor<4x3xf32>
  %3 = metaop.reduce add %z dims = [0] : tensor<?x3xf32> -> tensor<3xf32>
  return %0, %1, %2, %3
      : tensor<6xf32>, tensor<4xf32>, tensor<4x3xf32>, tensor<3xf32>
}
