// Sorts go back by their places.
// RUN: metaop-opt %s --metaop-autodiff --metaop-verify-closure | FileCheck %s

// CHECK-LABEL: @sorted(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[VALUES:.*]], %[[INDICES:.*]] = metaop.sort %[[X]] dim = 0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[SCATTER:.*]] = metaop.scatter add %[[C]][%[[INDICES]]] map #map
// CHECK-NEXT: return %[[VALUES]], %[[SCATTER]] :
func.func @sorted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r, %i = metaop.sort %x dim = 0 : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// The part of the order whose places are wanted is scattered alone.
// CHECK-LABEL: @middle(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[K:.*]]: tensor<i64>)
// CHECK-NEXT: %[[VALUES:.*]], %[[INDICES:.*]] = metaop.sort %[[X]] dim = 0 begin = %[[K]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[SCATTER:.*]] = metaop.scatter add %[[C]][%[[INDICES]]] map #map : (tensor<2xf32>, tensor<2xi64>) -> tensor<4xf32>
// CHECK-NEXT: return %[[VALUES]], %[[SCATTER]] :
func.func @middle(%x: tensor<4xf32>, %k: tensor<i64>) -> tensor<2xf32> {
  %r, %i = metaop.sort %x dim = 0 begin = %k : tensor<4xf32> -> tensor<2xf32>
  return %r : tensor<2xf32>
}
