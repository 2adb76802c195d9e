// RUN: metaop-opt %s -metaop-outline | FileCheck %s
// RUN: metaop-opt %s -metaop-outline -metaop-outline | FileCheck %s
// RUN: metaop-opt %s -metaop-outline -duplicate-function-elimination -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=UNIQUE

// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<?xf32>, %[[N:[^:]*]]: index)
// CHECK-NEXT:    %[[A:.*]] = call @kernel_1(%[[X]], %[[N]]) : (tensor<?xf32>, index) -> tensor<?xf32>
// CHECK-NEXT:    %[[V:.*]] = metaop.reshape %[[A]]
// CHECK-NEXT:    %[[B:.*]] = call @kernel_2(%[[V]], %[[N]]) : (tensor<?xf32>, index) -> tensor<?xf32>
// CHECK-NEXT:    return %[[B]]

// UNIQUE-LABEL: func.func @main
// UNIQUE:         call @kernel_1{{.*}} loc("a.py":1:1)
// UNIQUE:         call @kernel_1{{.*}} loc("b.py":2:2)
func.func @main(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = metaop.kernel(%a = %x : tensor<?xf32>, %b = %x : tensor<?xf32>, %c = %n : index) -> tensor<?xf32> {
    %1 = metaop.fused(%d = %a : tensor<?xf32>, %e = %b : tensor<?xf32>) -> tensor<?xf32> {
      %2 = metaop.mul %d, %e : tensor<?xf32> loc("a.py":1:1)
      metaop.yield %2 : tensor<?xf32>
    } loc("a.py":1:1)
    metaop.yield %1 : tensor<?xf32>
  } loc("a.py":1:1)
  %3 = metaop.reshape %0 extents(%n) : tensor<?xf32> -> tensor<?xf32>
  %4 = metaop.kernel(%a = %3 : tensor<?xf32>, %b = %n : index) -> tensor<?xf32> {
    %5 = metaop.fused(%d = %a : tensor<?xf32>) -> tensor<?xf32> {
      %6 = metaop.mul %d, %d : tensor<?xf32> loc("b.py":2:2)
      metaop.yield %6 : tensor<?xf32>
    } loc("b.py":2:2)
    metaop.yield %5 : tensor<?xf32>
  } loc("b.py":2:2)
  return %4 : tensor<?xf32>
}

// A name that is taken is not used again.
// CHECK-LABEL: func.func @kernel_0
func.func @kernel_0(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// Values passed twice are one argument, in the stage too.
// CHECK-LABEL: func.func private @kernel_1
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<?xf32>, %[[N:[^:]*]]: index) -> tensor<?xf32>
// CHECK-NEXT:    %[[K:.*]] = metaop.kernel(%[[A:.*]] = %[[X]] : tensor<?xf32>, %{{.*}} = %[[N]] : index)
// CHECK-NEXT:      metaop.fused(%[[B:.*]] = %[[A]] : tensor<?xf32>)
// CHECK-NEXT:        metaop.mul %[[B]], %[[B]]
// CHECK:         return %[[K]]

// CHECK-LABEL: func.func private @kernel_2
// CHECK-NOT:   func.func
// UNIQUE:      func.func private @kernel_1
// UNIQUE-NOT:  func.func private
