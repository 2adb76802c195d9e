// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// CHECK-LABEL: func @without_rules
func.func @without_rules(%v: tensor<4xf32>, %x: tensor<4xf32>, %c: tensor<f32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: metaop.custom_derivative "F" values(%{{.*}} : tensor<4xf32>) arguments(%{{.*}} : tensor<4xf32>) captures(%{{.*}} : tensor<f32>) -> tensor<4xf32>
  %0 = metaop.custom_derivative "F" values(%v : tensor<4xf32>)
      arguments(%x : tensor<4xf32>) captures(%c : tensor<f32>) -> tensor<4xf32>
  // CHECK: metaop.custom_derivative "F" arguments(%{{.*}} : tensor<4xf32>) -> tensor<4xf32>
  %1 = metaop.custom_derivative "F" arguments(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @with_rules
func.func @with_rules(%v: tensor<4xf32>, %x: tensor<4xf32>, %y: tensor<f64>)
    -> tensor<4xf32> {
  // CHECK: %{{.*}} = metaop.custom_derivative "G" values(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<f64>)
  // CHECK-SAME: arguments(%[[X:.*]] : tensor<4xf32>) -> tensor<4xf32>, tensor<f64> {
  %0:2 = metaop.custom_derivative "G" values(%v, %y : tensor<4xf32>, tensor<f64>)
      arguments(%x : tensor<4xf32>) -> tensor<4xf32>, tensor<f64> {
    // CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>, %{{.*}}: tensor<f64>):
    ^bb0(%a: tensor<4xf32>, %b: tensor<f64>):
      // CHECK: %[[DX:.*]] = metaop.mul %[[A]], %[[X]]
      %dx = metaop.mul %a, %x : tensor<4xf32>
      // CHECK: metaop.custom_yield %[[DX]] : tensor<4xf32>
      metaop.custom_yield %dx : tensor<4xf32>
  // CHECK: }, {
  }, {
    ^bb0(%dx: tensor<4xf32>):
      metaop.custom_yield %dx, %y : tensor<4xf32>, tensor<f64>
  }
  return %0#0 : tensor<4xf32>
}
