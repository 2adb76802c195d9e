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
