// Gradients of gradients of gradients.
// RUN: metaop-opt %s --metaop-autodiff="order=3" --metaop-verify-closure --canonicalize --cse | FileCheck %s

// Of x^2: 2x, 2 and 0.
// CHECK-LABEL: @square(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-DAG: %[[ZERO:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-DAG: %[[TWO:.*]] = metaop.constant dense<2.000000e+00>
// CHECK-DAG: %[[Y:.*]] = metaop.mul %[[X]], %[[X]]
// CHECK-DAG: %[[G:.*]] = metaop.add %[[X]], %[[X]]
// CHECK: return %[[Y]], %[[G]], %[[TWO]], %[[ZERO]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = metaop.mul %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @exponential(
// CHECK-NEXT: %[[Y:.*]] = metaop.exp
// CHECK-NEXT: return %[[Y]], %[[Y]], %[[Y]], %[[Y]]
func.func @exponential(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = metaop.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @sine(
// CHECK-DAG: %[[Y:.*]] = metaop.sin
// CHECK-DAG: %[[G:.*]] = metaop.cos
// CHECK-DAG: %[[H:.*]] = metaop.neg %[[Y]]
// CHECK-DAG: %[[MINUS:.*]] = metaop.constant dense<-1.000000e+00>
// CHECK-DAG: %[[I:.*]] = metaop.mul %[[G]], %[[MINUS]]
// CHECK: return %[[Y]], %[[G]], %[[H]], %[[I]] :
func.func @sine(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = metaop.sin %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
