// Which arguments are differentiated for, and what is left out.
// RUN: metaop-opt %s --metaop-autodiff="wrt=2,0" | FileCheck %s

// CHECK-LABEL: @chosen(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<4xi32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-SAME: -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK: metaop.constant
// CHECK-NEXT: %[[GX:.*]] = metaop.mul %{{.*}}, %[[Y]]
// CHECK-NEXT: %[[GY:.*]] = metaop.mul %{{.*}}, %[[X]]
// CHECK: return %{{.*}}, %[[GY]], %[[GX]] :
func.func @chosen(%x: tensor<4xf32>, %n: tensor<4xi32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.mul %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What the gradients of other operands would need is not left behind.
// CHECK-LABEL: @not_needed(
// CHECK-NOT: metaop.log
// CHECK: return
func.func @not_needed(%x: tensor<4xf32>, %n: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = metaop.pow %x, %n : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
