// RUN: metaop-opt %s -metaop-fuse | FileCheck %s
// RUN: metaop-opt %s -metaop-fuse="rules=paper" | FileCheck %s

// Element-wise ops that make a sigmoid are one stage.
// CHECK-LABEL: func @sigmoid
// CHECK:         metaop.kernel(%[[A:.*]] = %{{.*}} : tensor<64xf32>) -> tensor<64xf32>
// CHECK-NEXT:      metaop.fused(%[[B:.*]] = %[[A]] : tensor<64xf32>) -> tensor<64xf32>
// CHECK-DAG:         metaop.constant dense<1.0
// CHECK-DAG:         %[[N:.*]] = metaop.neg %[[B]]
// CHECK:             %[[E:.*]] = metaop.exp %[[N]]
// CHECK:             metaop.add %{{.*}}, %[[E]]
// CHECK:             %[[D:.*]] = metaop.div
// CHECK:             metaop.yield %[[D]] : tensor<64xf32>
// CHECK:           metaop.yield
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @sigmoid(%x: tensor<64xf32>) -> tensor<64xf32> {
  %one = metaop.constant dense<1.0> : tensor<64xf32>
  %0 = metaop.neg %x : tensor<64xf32>
  %1 = metaop.exp %0 : tensor<64xf32>
  %2 = metaop.add %one, %1 : tensor<64xf32>
  %3 = metaop.div %one, %2 : tensor<64xf32>
  return %3 : tensor<64xf32>
}

// Rule 1: the reindex is not with the exp that it reads, but with the neg that
// reads it.
// CHECK-LABEL: func @rule_1
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.transpose
// CHECK-NEXT:      metaop.neg
// CHECK-NEXT:      metaop.yield
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @rule_1(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = metaop.exp %x : tensor<8x8xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = metaop.neg %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Rule 1 also where another edge joins the two: the transposed value is read
// beside the value itself.
// CHECK-LABEL: func @rule_1_beside_an_edge
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.transpose
// CHECK-NEXT:      metaop.add
// CHECK-NEXT:      metaop.yield
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @rule_1_beside_an_edge(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = metaop.exp %x : tensor<8x8xf32>
  %1 = metaop.transpose %0 perm = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = metaop.add %0, %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Rule 2: the sum is with the exp that it reads, not with the neg that reads it,
// even where all have one space.
// CHECK-LABEL: func @rule_2
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.reindex_reduce
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.neg
// CHECK-NEXT:      metaop.yield
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @rule_2(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.reindex_reduce add %0 map affine_map<(d0) -> (7 - d0)> : tensor<8xf32> -> tensor<8xf32>
  %2 = metaop.neg %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Rule 3: a path leads from exp through the reduction back to div, so that the
// two cannot be in one stage.
// CHECK-LABEL: func @rule_3
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.reduce add
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.broadcast
// CHECK-NEXT:      metaop.div
// CHECK-NEXT:      metaop.yield
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @rule_3(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = metaop.exp %x : tensor<4x8xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %2 = metaop.broadcast %1 dims = [0] : tensor<4xf32> -> tensor<4x8xf32>
  %3 = metaop.div %0, %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// Rule 3 through a view: what leads through a reshape is a path too.
// CHECK-LABEL: func @rule_3_through_a_view
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.reshape
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.neg
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.reshape
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.add
// CHECK-NEXT:      metaop.yield
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @rule_3_through_a_view(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = metaop.exp %x : tensor<4x8xf32>
  %1 = metaop.reshape %0 : tensor<4x8xf32> -> tensor<32xf32>
  %2 = metaop.neg %1 : tensor<32xf32>
  %3 = metaop.reshape %2 : tensor<32xf32> -> tensor<4x8xf32>
  %4 = metaop.add %0, %3 : tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// CHECK-LABEL: func @stop_fuse
// CHECK:         %[[K:.*]] = metaop.kernel
// CHECK:           metaop.exp
// CHECK:         %[[S:.*]] = metaop.stop_fuse %[[K]]
// CHECK:         metaop.kernel(%{{.*}} = %[[S]]
// CHECK:           metaop.neg
func.func @stop_fuse(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.stop_fuse %0 : tensor<8xf32>
  %2 = metaop.neg %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Two ops on spaces of different shape have different stages.
// CHECK-LABEL: func @spaces
// CHECK-COUNT-2: metaop.kernel
// CHECK:         return
func.func @spaces(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.exp %y : tensor<4xf32>
  return %0, %1 : tensor<8xf32>, tensor<4xf32>
}

// A value that is returned and read is fused and written.
// CHECK-LABEL: func @returned_and_read
// CHECK:         metaop.fused{{.*}} -> (tensor<8xf32>, tensor<8xf32>)
// CHECK:           %[[E:.*]] = metaop.exp
// CHECK:           %[[N:.*]] = metaop.neg %[[E]]
// CHECK:           metaop.yield %[[E]], %[[N]]
// CHECK-NOT:     metaop.fused
// CHECK:         return
func.func @returned_and_read(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.neg %0 : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An argument, and a view of one, are returned as they are. A constant that is
// returned is a kernel.
// CHECK-LABEL: func @results_that_are_not_computed
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8xf32>
// CHECK-DAG:     %[[V:.*]] = metaop.reshape %[[X]]
// CHECK-DAG:     %[[C:.*]] = metaop.kernel() -> tensor<8xf32>
// CHECK:         return %[[X]], %[[V]], %[[C]]
func.func @results_that_are_not_computed(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2x4xf32>, tensor<8xf32>) {
  %0 = metaop.reshape %x : tensor<8xf32> -> tensor<2x4xf32>
  %1 = metaop.constant dense<1.0> : tensor<8xf32>
  return %x, %0, %1 : tensor<8xf32>, tensor<2x4xf32>, tensor<8xf32>
}

// Constants are copied into each stage, and equal copies in a stage merged.
// CHECK-LABEL: func @constants
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.constant
// CHECK-NEXT:      metaop.add
// CHECK-NEXT:      metaop.mul
// CHECK-NEXT:      metaop.reduce
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.transpose
// CHECK-NEXT:      metaop.constant
// CHECK-NEXT:      metaop.add
// CHECK-NEXT:      metaop.yield
func.func @constants(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %c = metaop.constant dense<1.0> : tensor<8x8xf32>
  %0 = metaop.add %x, %c : tensor<8x8xf32>
  %1 = metaop.mul %0, %c : tensor<8x8xf32>
  %2 = metaop.reduce add %1 dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %3 = metaop.transpose %y perm = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %4 = metaop.add %3, %c : tensor<8x8xf32>
  return %2, %4 : tensor<8xf32>, tensor<8x8xf32>
}

// Symbols come from outside, even where they have the shape of the space.
// CHECK-LABEL: func @symbols
// CHECK:         %[[I:.*]] = metaop.kernel
// CHECK:           metaop.add
// CHECK:         metaop.kernel(%[[A:.*]] = %{{.*}} : tensor<9xi64>, %[[B:.*]] = %[[I]] : tensor<i64>)
// CHECK:           metaop.fused(%[[C:.*]] = %[[A]] : tensor<9xi64>, %[[D:.*]] = %[[B]] : tensor<i64>)
// CHECK:             metaop.reindex %[[C]] symbols(%[[D]])
// CHECK-NEXT:        metaop.neg
func.func @symbols(%x: tensor<9xi64>, %i: tensor<i64>) -> tensor<i64> {
  %0 = metaop.add %i, %i : tensor<i64>
  %1 = metaop.reindex %x symbols(%0) map affine_map<()[s0] -> (s0)> fill 0 : i64 : tensor<9xi64> -> tensor<i64>
  %2 = metaop.neg %1 : tensor<i64>
  return %2 : tensor<i64>
}

// Dead groups make no kernel.
// CHECK-LABEL: func @dead
// CHECK-NEXT:    return
func.func @dead(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  return %x : tensor<8xf32>
}
