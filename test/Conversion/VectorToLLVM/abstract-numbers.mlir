// RUN: metaop-opt %s -split-input-file -metaop-abstract-numbers | FileCheck %s
// RUN: metaop-opt %s -split-input-file -convert-metaop-to-vector -metaop-abstract-numbers | FileCheck %s --check-prefix=FAMILY

// Each index constant is an argument, equal or not, in the order of the text and
// before the bounds; other constants stay. Buffers forget their lengths, those
// of the kernel's own memory do not.
// CHECK-LABEL: func @numbers(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xi8>, %[[N:.*]]: index, %[[C1:[a-z0-9]*]]: index, %[[C16:[a-z0-9]*]]: index, %[[D16:[a-z0-9]*]]: index, %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK-SAME:    metaop.entry = #metaop.entry<buffers = 2, range = 4>, metaop.kernel, metaop.numbers = array<i64: 1, 16, 16>
// CHECK-NEXT:    %[[F:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:    %[[LOCAL:.*]] = memref.alloca() : memref<8xf32>
// CHECK-NEXT:    scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %[[C1]]
// CHECK-NEXT:      %[[P:.*]] = arith.muli %[[I]], %[[C16]]
// CHECK-NEXT:      %[[Q:.*]] = arith.addi %[[P]], %[[D16]]
// CHECK-NEXT:      %[[R:.*]] = arith.addi %[[Q]], %[[N]]
// CHECK-NEXT:      memref.store %[[F]], %[[X]][%[[R]]] : memref<?xf32>
// CHECK-NEXT:      memref.store %[[F]], %[[LOCAL]][%[[I]]] : memref<8xf32>
// CHECK-NOT:     arith.constant
func.func @numbers(%x: memref<64xf32>, %y: memref<12xi8>, %n: index, %begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 2, range = 4>, metaop.kernel} {
  %c1 = arith.constant 1 : index
  %f = arith.constant 2.000000e+00 : f32
  %local = memref.alloca() : memref<8xf32>
  scf.for %i = %begin to %end step %c1 {
    %c16 = arith.constant 16 : index
    %0 = arith.muli %i, %c16 : index
    %c16_0 = arith.constant 16 : index
    %1 = arith.addi %0, %c16_0 : index
    %2 = arith.addi %1, %n : index
    memref.store %f, %x[%2] : memref<64xf32>
    memref.store %f, %local[%i] : memref<8xf32>
  }
  return
}

// -----

// What is abstracted stays as it is, and so do functions that are no kernels.
// CHECK-LABEL: func @again(
// CHECK-SAME:    memref<4xf32>
// CHECK:         arith.constant 3 : index
func.func @again(%x: memref<4xf32>, %n: index, %begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel, metaop.numbers = array<i64: 7>} {
  %c3 = arith.constant 3 : index
  return
}
// CHECK-LABEL: func @other() -> index
// CHECK:         arith.constant 3 : index
func.func @other() -> index {
  %c3 = arith.constant 3 : index
  return %c3 : index
}

// -----

// Rows of a sum, unrolled: another number of rows, divided by four or not, or of
// columns, divided by eight or not, makes the same loops with other numbers.
// FAMILY-LABEL: func @rows(
// FAMILY-SAME:    range = 3
// FAMILY-SAME:    metaop.numbers = array<i64: 1, 4, 0, 40, 40, 8, 40,
// FAMILY-NOT:     arith.constant {{.*}} : index
// FAMILY:         scf.for
// FAMILY:           scf.for {{.*}} iter_args
// FAMILY:             vector.load
// FAMILY:           scf.for {{.*}} iter_args
// FAMILY:             vector.create_mask
// FAMILY:           scf.if
// FAMILY:             memref.store
// FAMILY:         return
func.func private @rows(%x: tensor<12x40xf32>) -> tensor<12xf32> {
  %k = metaop.kernel(%kx = %x : tensor<12x40xf32>) -> tensor<12xf32> {
    %r = metaop.fused(%bx = %kx : tensor<12x40xf32>) -> tensor<12xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 8)], tile = [0: 4, 1: 8], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<12x40xf32> -> tensor<12xf32>
      metaop.yield %y : tensor<12xf32>
    }
    metaop.yield %r : tensor<12xf32>
  }
  return %k : tensor<12xf32>
}
// FAMILY-LABEL: func @rest(
// FAMILY-SAME:    range = 4
// FAMILY-SAME:    metaop.numbers = array<i64: 1, 4, 0, 37, 32, 8, 37,
// FAMILY-NOT:     arith.constant {{.*}} : index
// FAMILY:         scf.for
// FAMILY:           scf.for {{.*}} iter_args
// FAMILY:             vector.load
// FAMILY:           scf.for {{.*}} iter_args
// FAMILY:             vector.create_mask
// FAMILY:           scf.if
// FAMILY:             memref.store
// FAMILY:         return
func.func private @rest(%x: tensor<13x37xf32>) -> tensor<13xf32> {
  %k = metaop.kernel(%kx = %x : tensor<13x37xf32>) -> tensor<13xf32> {
    %r = metaop.fused(%bx = %kx : tensor<13x37xf32>) -> tensor<13xf32>
        schedule(#metaop.schedule<[parallel(0, 4), step(1, 8)], tile = [0: 4, 1: 8], lanes = 1: 8>) {
      %y = metaop.reduce add %bx dims = [1] : tensor<13x37xf32> -> tensor<13xf32>
      metaop.yield %y : tensor<13xf32>
    }
    metaop.yield %r : tensor<13xf32>
  }
  return %k : tensor<13xf32>
}
