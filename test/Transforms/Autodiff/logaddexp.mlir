// The derivative of logarithms of sums of exponentials: the share of the element, or,
// where the result is infinite, that of an extreme.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK: #[[OUTER:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: @logarithms(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = metaop.reduce logaddexp %[[X]] dims = [1]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK: %[[TOP:.*]] = metaop.reindex %[[Y]] map #[[OUTER]] fill 0x7F800000 : f32
// CHECK-NEXT: %[[SIZE:.*]] = metaop.abs %[[TOP]]
// CHECK: %[[INFINITE:.*]] = metaop.cmp eq %[[SIZE]], %{{.*}}
// CHECK: %[[BELOW:.*]] = metaop.sub %[[X]], %[[TOP]]
// CHECK-NEXT: %[[EXPONENT:.*]] = metaop.select %[[INFINITE]], %{{.*}}, %[[BELOW]]
// CHECK-NEXT: %[[SHARE:.*]] = metaop.exp %[[EXPONENT]]
// CHECK-NEXT: %[[BACK:.*]] = metaop.reindex %[[C]] map #[[OUTER]] fill 0.000000e+00 : f32
// CHECK-NEXT: %[[SHARED:.*]] = metaop.mul %[[BACK]], %[[SHARE]]
// CHECK: %[[ATTAINING:.*]] = metaop.select
// CHECK-NEXT: %[[G:.*]] = metaop.select %[[INFINITE]], %[[ATTAINING]], %[[SHARED]]
// CHECK-NEXT: return %[[Y]], %[[G]]
func.func @logarithms(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = metaop.reduce logaddexp %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
