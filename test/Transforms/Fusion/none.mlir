// RUN: metaop-opt %s -metaop-fuse="rules=none" | FileCheck %s
// RUN: metaop-opt %s -metaop-clone-producers="rules=none" | FileCheck %s --check-prefix=CLONE
// RUN: metaop-opt %s -metaop-pipeline="to=kernels rules=none reuse=false" | FileCheck %s --check-prefix=PLAN

// Every operation is a kernel of its own, also a constant, which is in memory
// once for all that read it. Views stay between the kernels.
// CHECK-LABEL: func @main
// CHECK:         metaop.kernel()
// CHECK-NEXT:      metaop.fused()
// CHECK-NEXT:        metaop.constant
// CHECK-NEXT:        metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.add
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.reshape
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.broadcast
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.mul
// CHECK-NEXT:      metaop.yield
// CHECK:         metaop.fused
// CHECK-NEXT:      metaop.reduce
// CHECK-NEXT:      metaop.yield
// CHECK-NOT:     metaop.kernel
// CHECK:         return

// CLONE-COUNT-1: metaop.broadcast
// CLONE-NOT:     metaop.broadcast
// CLONE:         return

// PLAN-LABEL: func @main
// PLAN-SAME:    metaop.arena_bytes = 320 : i64
func.func @main(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %one = metaop.constant dense<1.0> : tensor<8xf32>
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.add %one, %0 : tensor<8xf32>
  %2 = metaop.reshape %1 : tensor<8xf32> -> tensor<8xf32>
  %3 = metaop.broadcast %2 dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
  %4 = metaop.mul %3, %3 : tensor<4x8xf32>
  %5 = metaop.reduce add %4 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %5, %4 : tensor<4xf32>, tensor<4x8xf32>
}
