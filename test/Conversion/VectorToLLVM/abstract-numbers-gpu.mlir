// RUN: metaop-opt %s -metaop-abstract-numbers | FileCheck %s

// Blocks of a GPU know what they do: there are no bounds behind the numbers.
// What a block has of its own keeps its length.
// CHECK:      gpu.func @k(%[[X:.*]]: memref<?xf32, 1>, %[[N:.*]]: index, %[[A:.*]]: index, %[[B:.*]]: index)
// CHECK-SAME:     workgroup(%[[S:.*]] : memref<32xf32, 3>)
// CHECK-SAME:     metaop.numbers = array<i64: 4, 7>
// CHECK:        %[[AT:.*]] = arith.muli %[[N]], %[[A]] : index
// CHECK:        %[[VALUE:.*]] = memref.load %[[X]][%[[AT]]] : memref<?xf32, 1>
// CHECK:        memref.store %[[VALUE]], %[[S]][%[[B]]] : memref<32xf32, 3>
gpu.module @k {
  gpu.func @k(%x: memref<64xf32, 1>, %n: index) workgroup(%s: memref<32xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 1>} {
    %c4 = arith.constant 4 : index
    %at = arith.muli %n, %c4 : index
    %value = memref.load %x[%at] : memref<64xf32, 1>
    %c7 = arith.constant 7 : index
    memref.store %value, %s[%c7] : memref<32xf32, 3>
    gpu.return
  }
}
