// RUN: metaop-opt %s -metaop-pipeline="to=scheduled" -metaop-outline -duplicate-function-elimination -metaop-verify-phase=phase=kernels | FileCheck %s

// Kernels of nested blocks become functions, and equal ones of several blocks
// become one.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = call @[[EXP:.*]](%arg0)
// CHECK: scf.while ({{.*}} = %[[E]])
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[V:.*]]: tensor<8xf32>):
// CHECK:   scf.if
// CHECK-NEXT: call @[[EXP]](%[[V]])
// CHECK:   else
// CHECK-NEXT: call @[[ADD:.*]](%[[V]], %arg0)
// CHECK: call @[[ADD]](%{{.*}}, %[[E]])
// CHECK-COUNT-5: func.func private
// CHECK-NOT: func.func private
func.func @main(%x: tensor<8xf32>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %end = tensor.extract %n[] : tensor<i64>
  %condition = tensor.extract %c[] : tensor<i1>
  %0 = metaop.exp %x : tensor<8xf32>
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %0) -> tensor<8xf32> : i64 {
    %1 = scf.if %condition -> (tensor<8xf32>) {
      %2 = metaop.exp %v : tensor<8xf32>
      scf.yield %2 : tensor<8xf32>
    } else {
      %2 = metaop.add %v, %x : tensor<8xf32>
      scf.yield %2 : tensor<8xf32>
    }
    scf.yield %1 : tensor<8xf32>
  }
  %3 = metaop.add %r, %0 : tensor<8xf32>
  return %3 : tensor<8xf32>
}
