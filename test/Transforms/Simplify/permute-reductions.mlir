// RUN: metaop-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(metaop-simplify,metaop-permute-reductions))" -mlir-print-local-scope | FileCheck %s

// The gradient of x @ w.T by w is a product, transposed.
// CHECK-LABEL: func @gradient(
// CHECK:         %[[P:.*]] = metaop.mul
// CHECK-NEXT:    %[[R:.*]] = metaop.reindex_reduce add %[[P]] map affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<4x8x16xf32> -> tensor<16x8xf32>
// CHECK-NEXT:    return %[[R]]
func.func @gradient(%x: tensor<4x8xf32>, %y: tensor<4x16xf32>) -> tensor<16x8xf32> {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<4x8xf32> -> tensor<4x8x16xf32>
  %1 = metaop.broadcast %y dims = [0, 2] : tensor<4x16xf32> -> tensor<4x8x16xf32>
  %2 = metaop.mul %0, %1 : tensor<4x8x16xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<4x8x16xf32> -> tensor<8x16xf32>
  %4 = metaop.transpose %3 perm = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  return %4 : tensor<16x8xf32>
}

// -----

// Three dimensions, of which none stays: (b, m, n) becomes (m, n, b).
// CHECK-LABEL: func @cycle(
// CHECK:         metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2, d3) -> (d1, d3, d0)> : tensor<2x3x5x7xf32> -> tensor<3x7x2xf32>
// CHECK-NEXT:    return
func.func @cycle(%x: tensor<2x3x5xf32>, %y: tensor<2x5x7xf32>) -> tensor<3x7x2xf32> {
  %0 = metaop.broadcast %x dims = [0, 1, 2] : tensor<2x3x5xf32> -> tensor<2x3x5x7xf32>
  %1 = metaop.broadcast %y dims = [0, 2, 3] : tensor<2x5x7xf32> -> tensor<2x3x5x7xf32>
  %2 = metaop.mul %0, %1 : tensor<2x3x5x7xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<2x3x5x7xf32> -> tensor<2x3x7xf32>
  %4 = metaop.transpose %3 perm = [1, 2, 0] : tensor<2x3x7xf32> -> tensor<3x7x2xf32>
  return %4 : tensor<3x7x2xf32>
}

// -----

// Where extents are not known there are no tiles, to be stored along either
// dimension.
// CHECK-LABEL: func @dynamic(
// CHECK:         %[[R:.*]] = metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2) -> (d1, d2)>{{.*}} : tensor<4x?x16xf32> -> tensor<?x16xf32>
// CHECK-NEXT:    metaop.reindex %[[R]] extents(%{{.*}}) map affine_map<(d0, d1) -> (d1, d0)>
// CHECK-NEXT:    return
func.func @dynamic(%x: tensor<4x?xf32>, %y: tensor<4x16xf32>) -> tensor<16x?xf32> {
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %one : tensor<4x?xf32>
  %0 = metaop.broadcast %x extents(%n) dims = [0, 1] : tensor<4x?xf32> -> tensor<4x?x16xf32>
  %1 = metaop.broadcast %y extents(%n) dims = [0, 2] : tensor<4x16xf32> -> tensor<4x?x16xf32>
  %2 = metaop.mul %0, %1 : tensor<4x?x16xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<4x?x16xf32> -> tensor<?x16xf32>
  %4 = metaop.transpose %3 perm = [1, 0] : tensor<?x16xf32> -> tensor<16x?xf32>
  return %4 : tensor<16x?xf32>
}

// -----

// What somebody else reads as well stays in its order.
// CHECK-LABEL: func @shared(
// CHECK:         %[[R:.*]] = metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-NEXT:    %[[T:.*]] = metaop.reindex %[[R]] map affine_map<(d0, d1) -> (d1, d0)>
// CHECK-NEXT:    return %[[R]], %[[T]]
func.func @shared(%x: tensor<4x8xf32>, %y: tensor<4x16xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
  %0 = metaop.broadcast %x dims = [0, 1] : tensor<4x8xf32> -> tensor<4x8x16xf32>
  %1 = metaop.broadcast %y dims = [0, 2] : tensor<4x16xf32> -> tensor<4x8x16xf32>
  %2 = metaop.mul %0, %1 : tensor<4x8x16xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<4x8x16xf32> -> tensor<8x16xf32>
  %4 = metaop.transpose %3 perm = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  return %3, %4 : tensor<8x16xf32>, tensor<16x8xf32>
}

// -----

// A sum of anything else has no tiles to store along either dimension, and a
// slice is no permutation.
// CHECK-LABEL: func @others(
// CHECK:         %[[R:.*]] = metaop.reindex_reduce add %{{.*}} : tensor<4x8x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT:    metaop.reindex %[[R]] map affine_map<(d0, d1) -> (d1, d0)>
// CHECK:         %[[S:.*]] = metaop.reindex_reduce add %{{.*}} : tensor<4x8x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT:    metaop.reindex %[[S]] map affine_map<(d0, d1) -> (d1, d0)>{{.*}} : tensor<8x16xf32> -> tensor<8x8xf32>
func.func @others(%z: tensor<4x8x16xf32>, %x: tensor<4x8xf32>, %y: tensor<4x16xf32>) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %0 = metaop.reduce add %z dims = [0] : tensor<4x8x16xf32> -> tensor<8x16xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %2 = metaop.broadcast %x dims = [0, 1] : tensor<4x8xf32> -> tensor<4x8x16xf32>
  %3 = metaop.broadcast %y dims = [0, 2] : tensor<4x16xf32> -> tensor<4x8x16xf32>
  %4 = metaop.mul %2, %3 : tensor<4x8x16xf32>
  %5 = metaop.reduce add %4 dims = [0] : tensor<4x8x16xf32> -> tensor<8x16xf32>
  %6 = metaop.reindex %5 map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<8x16xf32> -> tensor<8x8xf32>
  return %1, %6 : tensor<16x8xf32>, tensor<8x8xf32>
}
