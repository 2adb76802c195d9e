// Sorts go back by their places, Fourier transforms by themselves.
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

// A part that nobody reads has a cotangent of zeros.
// CHECK-LABEL: @complex(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[PAIR:.*]]:2 = metaop.fft(%[[X]], %[[X]]) dims = [0] scale = 5.000000e-01
// CHECK-NEXT: %[[ONE:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[ZERO:.*]] = metaop.constant dense<0.000000e+00>
// CHECK-NEXT: %[[BACK:.*]]:2 = metaop.fft(%[[ONE]], %[[ZERO]]) dims = [0] inverse scale = 5.000000e-01
// CHECK-NEXT: %[[SUM:.*]] = metaop.add %[[BACK]]#{{[01]}}, %[[BACK]]#{{[01]}}
// CHECK-NEXT: return %[[PAIR]]#0, %[[SUM]] :
func.func @complex(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = metaop.fft(%x, %x) dims = [0] scale = 0.5 : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0 : tensor<4xf32>
}

// Results that stand for two count half: of an odd number all but the first.
// CHECK-LABEL: @real(
// CHECK: metaop.fft(%{{.*}}) dims = [0] scale = 1.000000e+00
// CHECK: metaop.iota dim = 0 : tensor<3xi64>
// CHECK: %[[HALF:.*]] = metaop.constant dense<5.000000e-01>
// CHECK: %[[RE:.*]] = metaop.select
// CHECK: %[[IM:.*]] = metaop.select
// CHECK-NEXT: %[[BACK:.*]] = metaop.fft(%[[RE]], %[[IM]]) dims = [0] inverse scale = 1.000000e+00 : (tensor<3xf32>, tensor<3xf32>) -> tensor<5xf32>
func.func @real(%x: tensor<5xf32>) -> tensor<3xf32> {
  %r:2 = metaop.fft(%x) dims = [0] scale = 1.0 : (tensor<5xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %r#0 : tensor<3xf32>
}
