// RUN: metaop-opt %s -metaop-bind-numbers | FileCheck %s
// RUN: metaop-opt %s -metaop-bind-numbers -metaop-abstract-numbers -metaop-bind-numbers | FileCheck %s

// Equal numbers are one constant.
// CHECK-LABEL: func.func @k(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32>, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-SAME:    attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel}
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[WIDE:.*]] = arith.constant 16 : index
// CHECK:         scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]] step %[[ONE]] {
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[I]], %[[WIDE]] : index
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[AT]], %[[ONE]] : index
func.func @k(%x: memref<?xf32>, %n0: index, %n1: index, %n2: index, %begin: index, %end: index)
    attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.kernel, metaop.numbers = array<i64: 1, 16, 1>} {
  scf.for %i = %begin to %end step %n0 {
    %at = arith.muli %i, %n1 : index
    %next = arith.addi %at, %n2 : index
    %value = memref.load %x[%at] : memref<?xf32>
    memref.store %value, %x[%next] : memref<?xf32>
  }
  return
}

// What has no numbers stays as it is.
// CHECK-LABEL: func.func @other(
// CHECK-SAME:    %[[N:.*]]: index
// CHECK-NEXT:    return %[[N]] : index
func.func @other(%n: index) -> index {
  return %n : index
}
