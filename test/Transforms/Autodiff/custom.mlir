// RUN: metaop-opt %s --metaop-autodiff --canonicalize | FileCheck %s
// RUN: metaop-opt %s --metaop-push-forward --canonicalize | FileCheck %s --check-prefix=FORWARD
// RUN: metaop-opt %s --metaop-simplify | FileCheck %s --check-prefix=SIMPLE

// The rule stands for what the values are made of.

// CHECK-LABEL: func @rule(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>)
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK: %[[F:.*]] = metaop.custom_derivative "F"
// CHECK: ^bb0
// CHECK: }
// CHECK: %[[DX:.*]] = metaop.sin %[[ONE]]
// CHECK: %[[DY:.*]] = metaop.add %[[X]], %[[ONE]]
// CHECK: return %[[F]], %[[DX]], %[[DY]]

// FORWARD-LABEL: func @rule(
// FORWARD-SAME: %[[TX:[a-z0-9]+]]: tensor<4xf32>, %[[TY:[a-z0-9]+]]: tensor<4xf32>)
// FORWARD: metaop.custom_derivative
// FORWARD: %[[T:.*]] = metaop.cos %[[TY]]
// FORWARD: return %{{.*}}, %[[T]]

// SIMPLE-LABEL: func @rule(
// SIMPLE-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
// SIMPLE-NEXT: %[[E:.*]] = metaop.exp %[[X]]
// SIMPLE-NEXT: return %[[E]]
func.func @rule(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %v = metaop.exp %x : tensor<4xf32>
  %0 = metaop.custom_derivative "F" values(%v : tensor<4xf32>)
      arguments(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%d: tensor<4xf32>):
      %dx = metaop.sin %d : tensor<4xf32>
      %dy = metaop.add %d, %x : tensor<4xf32>
      metaop.custom_yield %dx, %dy : tensor<4xf32>, tensor<4xf32>
  }, {
    ^bb0(%tx: tensor<4xf32>, %ty: tensor<4xf32>):
      %t = metaop.cos %ty : tensor<4xf32>
      metaop.custom_yield %t : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
