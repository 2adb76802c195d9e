// RUN: metaop-opt %s -metaop-clone-producers="rules=paper" | FileCheck %s

// CHECK-LABEL: func @reindex
// CHECK:         %[[B0:.*]] = metaop.broadcast %[[W:.*]] dims
// CHECK-NEXT:    metaop.mul %{{.*}}, %[[B0]]
// CHECK-NEXT:    %[[B1:.*]] = metaop.broadcast %[[W]] dims
// CHECK-NEXT:    metaop.add %[[B1]], %[[B1]]
func.func @reindex(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %b = metaop.broadcast %w dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
  %0 = metaop.mul %x, %b : tensor<4x8xf32>
  %1 = metaop.add %b, %b : tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A reindex that is returned too is written where it is read first.
// CHECK-LABEL: func @returned_reindex
// CHECK:         %[[T:.*]] = metaop.transpose
// CHECK-NEXT:    metaop.exp %[[T]]
// CHECK-NOT:     metaop.transpose
// CHECK:         return %[[T]]
func.func @returned_reindex(%x: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %t = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %0 = metaop.exp %t : tensor<8x4xf32>
  return %t, %0 : tensor<8x4xf32>, tensor<8x4xf32>
}

// A constant and an iota that are returned are not written by others.
// CHECK-LABEL: func @generators
// CHECK:         %[[C:.*]] = metaop.constant
// CHECK:         %[[I:.*]] = metaop.iota
// CHECK-DAG:     %[[C1:.*]] = metaop.constant
// CHECK-DAG:     %[[I1:.*]] = metaop.iota
// CHECK:         metaop.mul %[[C1]], %[[I1]]
// CHECK:         return %[[C]], %[[I]]
func.func @generators() -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c = metaop.constant dense<2.0> : tensor<8xf32>
  %i = metaop.iota dim = 0 : tensor<8xf32>
  %0 = metaop.mul %c, %i : tensor<8xf32>
  return %c, %i, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Random numbers are not made twice, nor is a reindex copied for another.
// CHECK-LABEL: func @not_copied
// CHECK-COUNT-1: metaop.random
// CHECK-NOT:     metaop.random
// CHECK-COUNT-2: metaop.transpose
// CHECK-NOT:     metaop.transpose
// CHECK:         return
func.func @not_copied(%key: tensor<i64>, %n: tensor<i64>, %x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %r = metaop.random %key, %n : tensor<8xf32>
  %0 = metaop.exp %r : tensor<8xf32>
  %1 = metaop.neg %r : tensor<8xf32>
  %2 = metaop.transpose %x perm = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %3 = metaop.transpose %2 perm = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  return %0, %1, %3 : tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>
}
