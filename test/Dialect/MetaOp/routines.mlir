// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// CHECK-LABEL: @sorts
func.func @sorts(%x: tensor<4x8xi1>) -> (tensor<4x8xi1>, tensor<4x8xi64>) {
  // CHECK: %[[VALUES:.*]], %{{.*}} = metaop.sort %{{.*}} dim = 1 : tensor<4x8xi1> -> tensor<4x8xi1>
  %0, %1 = metaop.sort %x dim = 1 : tensor<4x8xi1> -> tensor<4x8xi1>
  // CHECK: %[[VALUES2:.*]], %[[INDICES:.*]] = metaop.sort %[[VALUES]] dim = 0 descending : tensor<4x8xi1> -> tensor<4x8xi1>
  %2, %3 = metaop.sort %0 dim = 0 descending : tensor<4x8xi1> -> tensor<4x8xi1>
  // CHECK: return %[[VALUES2]], %[[INDICES]] : tensor<4x8xi1>, tensor<4x8xi64>
  return %2, %3 : tensor<4x8xi1>, tensor<4x8xi64>
}

// CHECK-LABEL: @parts
func.func @parts(%x: tensor<?x8xf32>, %k: tensor<i64>) -> (tensor<?x3xf32>, tensor<?x3xi64>, tensor<?x8xf32>) {
  // CHECK: %[[VALUES:.*]], %[[INDICES:.*]] = metaop.sort %{{.*}} dim = 1 descending begin = %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
  %0, %1 = metaop.sort %x dim = 1 descending begin = %k : tensor<?x8xf32> -> tensor<?x3xf32>
  // CHECK: metaop.sort %{{.*}} dim = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
  %2, %3 = metaop.sort %x dim = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
  // CHECK: return %[[VALUES]], %[[INDICES]]
  return %0, %1, %2 : tensor<?x3xf32>, tensor<?x3xi64>, tensor<?x8xf32>
}

// CHECK-LABEL: @by_name
func.func @by_name(%x: tensor<4x8xf32>, %n: tensor<?xi64>) -> (tensor<4xf32>, tensor<4x8xf32>, tensor<?xi64>) {
  // CHECK: metaop.routine "logsumexp"(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4xf32>
  %0 = metaop.routine "logsumexp"(%x) : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: metaop.routine "qr"(%{{.*}}, %{{.*}}) parameters = {mode = "full", scales = array<f64: 5.000000e-01>, shift = 3 : i64} roles = ["a", "n", "q", "m"] over = [0, -1] batched total : (tensor<4x8xf32>, tensor<?xi64>) -> (tensor<4x8xf32>, tensor<?xi64>)
  %1, %2 = metaop.routine "qr"(%x, %n)
      parameters = {shift = 3 : i64, mode = "full", scales = array<f64: 0.5>}
      roles = ["a", "n", "q", "m"] over = [0, -1] batched total
      : (tensor<4x8xf32>, tensor<?xi64>) -> (tensor<4x8xf32>, tensor<?xi64>)
  return %0, %1, %2 : tensor<4xf32>, tensor<4x8xf32>, tensor<?xi64>
}

// CHECK-LABEL: @transforms
func.func @transforms(%x: tensor<4x?x8xf32>, %y: tensor<4x?x8xf32>) -> tensor<4x?x8xf32> {
  // CHECK: %[[PAIR:.*]]:2 = metaop.fft(%{{.*}}, %{{.*}}) dims = [2, 0] scale = 1.000000e+00 : (tensor<4x?x8xf32>, tensor<4x?x8xf32>) -> (tensor<4x?x8xf32>, tensor<4x?x8xf32>)
  %0:2 = metaop.fft(%x, %y) dims = [2, 0] scale = 1.0 : (tensor<4x?x8xf32>, tensor<4x?x8xf32>) -> (tensor<4x?x8xf32>, tensor<4x?x8xf32>)
  // CHECK: %[[HALF:.*]]:2 = metaop.fft(%[[PAIR]]#0) dims = [2] scale = 5.000000e-01 : (tensor<4x?x8xf32>) -> (tensor<4x?x5xf32>, tensor<4x?x5xf32>)
  %1:2 = metaop.fft(%0#0) dims = [2] scale = 0.5 : (tensor<4x?x8xf32>) -> (tensor<4x?x5xf32>, tensor<4x?x5xf32>)
  // CHECK: %[[REAL:.*]] = metaop.fft(%[[HALF]]#0, %[[HALF]]#1) dims = [2] inverse scale = 1.250000e-01 : (tensor<4x?x5xf32>, tensor<4x?x5xf32>) -> tensor<4x?x8xf32>
  %2 = metaop.fft(%1#0, %1#1) dims = [2] inverse scale = 0.125 : (tensor<4x?x5xf32>, tensor<4x?x5xf32>) -> tensor<4x?x8xf32>
  // CHECK: return %[[REAL]]
  return %2 : tensor<4x?x8xf32>
}
