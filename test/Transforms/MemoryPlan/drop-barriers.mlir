// RUN: metaop-opt %s --metaop-drop-barriers | FileCheck %s

// CHECK-LABEL: func @straight(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[Y:.*]] = call @kernel(%[[X]], %[[X]])
// CHECK-NEXT: %[[Z:.*]] = call @kernel(%[[X]], %[[Y]])
// CHECK-NEXT: return %[[Z]], %[[X]]
func.func @straight(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @kernel(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1:2 = metaop.barrier %x, %0 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
  %2 = metaop.barrier %1#1 : tensor<8xf32> -> tensor<8xf32>
  %3 = call @kernel(%1#0, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3, %1#0 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @loop(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>)
// CHECK: metaop.scan
// CHECK-NOT: barrier
// CHECK: %[[Y:.*]] = func.call @kernel(%{{.*}}, %[[X]])
// CHECK: metaop.scan_yield %[[Y]]
func.func @loop(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.scan 4 carries(%c = %x : tensor<8xf32>) -> tensor<8xf32> {
    %1:2 = metaop.barrier %c, %x : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32>
    %2 = func.call @kernel(%1#0, %1#1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    metaop.scan_yield %2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

func.func private @kernel(tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
