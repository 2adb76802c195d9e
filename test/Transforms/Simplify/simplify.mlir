// RUN: metaop-opt %s -metaop-simplify | FileCheck %s

// CHECK-LABEL: func @stop_grad
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf32>
// CHECK-NEXT:    %[[E:.*]] = metaop.exp %[[X]]
// CHECK-NEXT:    %[[S:.*]] = metaop.add %[[E]], %[[E]]
// CHECK-NEXT:    return %[[S]]
func.func @stop_grad(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = metaop.stop_grad %x : tensor<?x8xf32>
  %1 = metaop.exp %0 : tensor<?x8xf32>
  %2 = metaop.exp %x : tensor<?x8xf32>
  %3 = metaop.neg %x : tensor<?x8xf32>
  %4 = metaop.add %1, %2 : tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}

// CHECK-LABEL: func @transfer
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf32>
// CHECK-NEXT:    %[[E:.*]] = metaop.exp %[[X]]
// CHECK-NEXT:    return %[[E]]
func.func @transfer(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = metaop.transfer %x from "cpu:0" to "cpu:1" : tensor<?x8xf32>
  %1 = metaop.exp %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// The extent of a computed tensor is that of an argument.
// CHECK-LABEL: func @extents
// CHECK-SAME:    %[[X:[^:]*]]: tensor<?x8xf32>, %[[W:[^:]*]]: tensor<f32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x8xf32>
// CHECK:         metaop.{{.*}} %[[W]] extents(%[[N]])
func.func @extents(%x: tensor<?x8xf32>, %w: tensor<f32>) -> (tensor<?x8xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %0 = metaop.exp %x : tensor<?x8xf32>
  %n = tensor.dim %0, %c0 : tensor<?x8xf32>
  %1 = metaop.broadcast %w extents(%n) dims = [] : tensor<f32> -> tensor<?x4xf32>
  %m = tensor.dim %1, %c0 : tensor<?x4xf32>
  %2 = metaop.broadcast %w extents(%m) dims = [] : tensor<f32> -> tensor<?x4xf32>
  return %0, %2 : tensor<?x8xf32>, tensor<?x4xf32>
}

// Random numbers with other counters are other numbers.
// CHECK-LABEL: func @random
// CHECK-COUNT-2: metaop.random
func.func @random(%key: tensor<i64>, %a: tensor<i64>, %b: tensor<i64>) -> tensor<8xf32> {
  %0 = metaop.random %key, %a : tensor<8xf32>
  %1 = metaop.random %key, %b : tensor<8xf32>
  %2 = metaop.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
