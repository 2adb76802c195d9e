// RUN: metaop-opt %s | FileCheck %s
// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// A loop that says how many trips it makes at most counts them by the last
// value that it carries.
// CHECK-LABEL: func @halve
func.func @halve(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = metaop.constant dense<0.5> : tensor<8xf32>
  %limit = metaop.constant dense<1.0> : tensor<f32>
  %one = metaop.constant dense<1> : tensor<i64>
  %zero = metaop.constant dense<0> : tensor<i64>
  // CHECK: scf.while (%[[V:.*]] = %arg0, %[[N:.*]] = %{{.*}}) : (tensor<8xf32>, tensor<i64>)
  // CHECK: scf.condition(%{{.*}}) %[[V]], %[[N]]
  // CHECK: metaop.check %{{.*}} extent = 101 trips : tensor<i64>
  // CHECK: } attributes {metaop.max_trips = 100 : i64}
  %r:2 = scf.while (%v = %x, %n = %zero) : (tensor<8xf32>, tensor<i64>) -> (tensor<8xf32>, tensor<i64>) {
    %top = metaop.reduce max %v dims = [0] : tensor<8xf32> -> tensor<f32>
    %is_more = metaop.cmp gt %top, %limit : tensor<f32> -> tensor<i1>
    %more = tensor.extract %is_more[] : tensor<i1>
    scf.condition(%more) %v, %n : tensor<8xf32>, tensor<i64>
  } do {
  ^bb0(%v: tensor<8xf32>, %n: tensor<i64>):
    %next = metaop.mul %v, %half : tensor<8xf32>
    %count = metaop.add %n, %one : tensor<i64>
    %checked = metaop.check %count extent = 101 trips : tensor<i64>
    scf.yield %next, %checked : tensor<8xf32>, tensor<i64>
  } attributes {metaop.max_trips = 100 : i64}
  return %r#0 : tensor<8xf32>
}
