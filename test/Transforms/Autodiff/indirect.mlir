// RUN: metaop-opt %s --metaop-autodiff | FileCheck %s

// CHECK: #[[ROWS:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>

// CHECK-LABEL: @gather(
// CHECK-SAME: %[[X:.*]]: tensor<9x8xf32>, %[[I:.*]]: tensor<4x8xi64>)
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<4x8xf32>
// CHECK-NEXT: %[[G:.*]] = metaop.scatter add %[[ONE]][%[[I]]] map #[[ROWS]]
// CHECK: return %{{.*}}, %[[G]]
func.func @gather(%x: tensor<9x8xf32>, %i: tensor<4x8xi64>) -> tensor<4x8xf32> {
  %y = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 0.0 : f32
      : (tensor<9x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @scatter(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[I:.*]]: tensor<4x8xi64>)
// CHECK: %[[ONE:.*]] = metaop.constant dense<1.000000e+00> : tensor<9x8xf32>
// CHECK-NEXT: %[[G:.*]] = metaop.gather %[[ONE]][%[[I]]] map #[[ROWS]] fill 0.000000e+00
// CHECK: return %{{.*}}, %[[G]]
func.func @scatter(%x: tensor<4x8xf32>, %i: tensor<4x8xi64>) -> tensor<9x8xf32> {
  %y = metaop.scatter add %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<9x8xf32>
  return %y : tensor<9x8xf32>
}

// CHECK-LABEL: @scatter_max(
// CHECK: metaop.scatter max
// CHECK: metaop.gather %{{.*}} fill 0x7FC00000
// CHECK: metaop.scatter add
// CHECK: metaop.gather %{{.*}} fill 0.000000e+00
// CHECK: metaop.select
func.func @scatter_max(%x: tensor<4x8xf32>, %i: tensor<4x8xi64>) -> tensor<9x8xf32> {
  %y = metaop.scatter max %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<9x8xf32>
  return %y : tensor<9x8xf32>
}
