// RUN: metaop-opt %s -convert-metaop-to-vector -canonicalize -cse | FileCheck %s

// Whole tiles only: rows of 4 are read along the rows' loop, transposed by two
// rounds of shuffles, and stored along the other.
// CHECK-LABEL: func @whole
// CHECK-SAME: range = 1
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c4
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c4
// CHECK: arith.minsi %[[NEXT]], %c4
// CHECK-COUNT-4: memref.prefetch %{{.*}}, read, locality<3>, data
// CHECK-COUNT-4: vector.load %{{.*}} : memref<64xf32>, vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7]
// CHECK-COUNT-6: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-4: vector.store %{{.*}} : memref<64xf32>, vector<4xf32>
// CHECK-NOT: masked
// CHECK: return
func.func @whole(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %k = metaop.kernel(%bx = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = metaop.fused(%a = %bx : tensor<8x8xf32>) -> tensor<8x8xf32> schedule(#metaop.schedule<[step(0, 4), step(1, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
      metaop.yield %y : tensor<8x8xf32>
    }
    metaop.yield %0 : tensor<8x8xf32>
  }
  return %k : tensor<8x8xf32>
}

// With the lanes outside, the loops are exchanged.
// CHECK-LABEL: func @lanes_outside
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[I:.*]] = %c0 to %c12 step %c4
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c4
// CHECK: arith.minsi %[[NEXT]], %c4
// CHECK-COUNT-4: memref.prefetch
func.func @lanes_outside(%x: tensor<8x12xf32>) -> tensor<12x8xf32> {
  %k = metaop.kernel(%bx = %x : tensor<8x12xf32>) -> tensor<12x8xf32> {
    %0 = metaop.fused(%a = %bx : tensor<8x12xf32>) -> tensor<12x8xf32> schedule(#metaop.schedule<[step(1, 4), step(0, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<8x12xf32> -> tensor<12x8xf32>
      metaop.yield %y : tensor<12x8xf32>
    }
    metaop.yield %0 : tensor<12x8xf32>
  }
  return %k : tensor<12x8xf32>
}

// 70 rows and 6 lanes: two strips of rows for the threads, and borders on both
// sides. Only where rows or lanes may be left over there are masks; behind the
// first four lanes, two are left to read.
// CHECK-LABEL: func @borders
// CHECK-SAME: range = 2
// CHECK-COUNT-4: vector.load
// CHECK-COUNT-4: vector.store
// CHECK: vector.create_mask
// CHECK-COUNT-4: vector.maskedload
// CHECK: vector.store
// CHECK-COUNT-3: vector.maskedstore
// CHECK: vector.create_mask
// CHECK-COUNT-2: vector.maskedload
// CHECK-COUNT-4: vector.maskedstore
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func @borders(%x: tensor<6x70xf32>) -> tensor<70x6xf32> {
  %k = metaop.kernel(%bx = %x : tensor<6x70xf32>) -> tensor<70x6xf32> {
    %0 = metaop.fused(%a = %bx : tensor<6x70xf32>) -> tensor<70x6xf32> schedule(#metaop.schedule<[parallel(0, 64), step(1, 4), step(0, 4)], tile = [0: 4, 1: 4], lanes = 1: 4, transpose = 0>) {
      %y = metaop.transpose %a perm = [1, 0] : tensor<6x70xf32> -> tensor<70x6xf32>
      metaop.yield %y : tensor<70x6xf32>
    }
    metaop.yield %0 : tensor<70x6xf32>
  }
  return %k : tensor<70x6xf32>
}
