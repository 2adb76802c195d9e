// RUN: metaop-opt %s -metaop-push-forward | FileCheck %s

// Loops whose trips are not in their text move on with their tangents.

// CHECK-LABEL: @counting(
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[V:.*]] = %arg0, %[[D:.*]] = %arg2)
// CHECK: %[[E:.*]] = metaop.exp %[[V]]
// CHECK: %[[T:.*]] = metaop.mul %[[D]], %[[E]]
// CHECK: scf.yield %[[E]], %[[T]]
// CHECK: return %{{.*}}, %[[R]]#1
func.func @counting(%x: tensor<f32>, %n: index) -> tensor<f32> {
  %r = scf.for %i = %n to %n step %n iter_args(%v = %x) -> tensor<f32> {
    %1 = metaop.exp %v : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

// CHECK-LABEL: @asking(
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %arg0, %{{.*}} = %arg1)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: ^bb0(%[[V:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>):
// CHECK: scf.yield
// CHECK: return %{{.*}}, %[[R]]#1
func.func @asking(%x: tensor<f32>) -> tensor<f32> {
  %one = metaop.constant dense<1.0> : tensor<f32>
  %r = scf.while (%v = %x) : (tensor<f32>) -> tensor<f32> {
    %c = metaop.cmp lt %v, %one : tensor<f32> -> tensor<i1>
    %go = tensor.extract %c[] : tensor<i1>
    scf.condition(%go) %v : tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %e = metaop.exp %v : tensor<f32>
    scf.yield %e : tensor<f32>
  }
  return %r : tensor<f32>
}
