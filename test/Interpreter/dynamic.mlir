// RUN: metaop-run %s --interpret --seed=7 --shape=0:2x3 --shape=1:3 \
// RUN:   | FileCheck %s --match-full-lines

// Dynamic extents: given on the command line, read by tensor.dim, computed
// with arith, and passed to the ops whose results are dynamic.

func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>, %n: index) -> (
    tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>,
    tensor<?x?xi32>, tensor<?x2xf32>, tensor<?x?xf32>, tensor<?x?xf32>,
    tensor<?xf32>, tensor<?xf32>, tensor<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %r0 = metaop.broadcast %y extents(%rows, %columns) dims = [1]
      : tensor<?xf32> -> tensor<?x?xf32>
  // CHECK: result 0: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[-0.0640941, -0.343847, -0.731483],
  // CHECK-NEXT: [-0.0640941, -0.343847, -0.731483]]
  %r1 = metaop.mul %x, %r0 : tensor<?x?xf32>
  // CHECK: result 1: tensor<2x3xf32>
  // CHECK-NEXT{LITERAL}: [[0.0141225, 0.332301, -0.5863],
  // CHECK-NEXT: [-0.0106307, 0.0327054, 0.366573]]
  %r2 = metaop.reduce add %r1 dims = [1] : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK: result 2: tensor<2xf32>
  // CHECK-NEXT: [-0.239876, 0.388648]
  %twice = arith.addi %rows, %rows : index
  %size = arith.muli %rows, %columns : index
  %half = arith.floordivsi %size, %twice : index
  %more = arith.subi %size, %half : index
  %r3 = metaop.reshape %x extents(%size) : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK: result 3: tensor<6xf32>
  // CHECK-NEXT: [-0.220341, -0.966424, 0.801521, 0.165861, -0.0951163, -0.501137]
  %r4 = metaop.iota dim = 1 extents(%rows, %more) : tensor<?x?xi32>
  // CHECK: result 4: tensor<2x5xi32>
  // CHECK-NEXT{LITERAL}: [[0, 1, 2, 3, 4],
  // CHECK-NEXT: [0, 1, 2, 3, 4]]
  %r5 = metaop.reindex %x extents(%columns) map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32
      : tensor<?x?xf32> -> tensor<?x2xf32>
  // CHECK: result 5: tensor<3x2xf32>
  // CHECK-NEXT{LITERAL}: [[-0.220341, 0.165861],
  // CHECK-NEXT: [-0.966424, -0.0951163],
  // CHECK-NEXT: [0.801521, -0.501137]]
  %r6 = metaop.transpose %x perm = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK: result 6: tensor<3x2xf32>
  // CHECK-NEXT{LITERAL}: [[-0.220341, 0.165861],
  // CHECK-NEXT: [-0.966424, -0.0951163],
  // CHECK-NEXT: [0.801521, -0.501137]]
  %r7 = metaop.pad %x low = [0, 1] high = [0, 0] fill 2.0 : f32
      : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK: result 7: tensor<2x4xf32>
  // CHECK-NEXT{LITERAL}: [[2, -0.220341, -0.966424, 0.801521],
  // CHECK-NEXT: [2, 0.165861, -0.0951163, -0.501137]]
  %r8 = metaop.reindex_reduce max %x extents(%columns) map affine_map<(d0, d1) -> (d1)>
      : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK: result 8: tensor<3xf32>
  // CHECK-NEXT: [0.165861, -0.0951163, 0.801521]
  %one = metaop.constant dense<1> : tensor<i64>
  %start = tensor.extract %one[] : tensor<i64>
  %begin = arith.index_cast %start : i64 to index
  %rest = arith.subi %columns, %begin : index
  %r9 = metaop.slice %y[%one] extents(%rest) strides = [1]
      : tensor<?xf32> -> tensor<?xf32>
  // CHECK: result 9: tensor<2xf32>
  // CHECK-NEXT: [-0.343847, -0.731483]
  %number = arith.index_cast %n : index to i64
  %boxed = tensor.from_elements %number : tensor<i64>
  // CHECK: result 10: tensor<i64>
  // CHECK-NEXT: 3
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %boxed :
      tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>,
      tensor<?x?xi32>, tensor<?x2xf32>, tensor<?x?xf32>, tensor<?x?xf32>,
      tensor<?xf32>, tensor<?xf32>, tensor<i64>
}
