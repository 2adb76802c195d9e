// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// CHECK-LABEL: @sorts
func.func @sorts(%x: tensor<4x8xi1>) -> (tensor<4x8xi1>, tensor<4x8xi64>) {
  // CHECK: metaop.sort %{{.*}} dim = 1 : tensor<4x8xi1>
  %0 = metaop.sort %x dim = 1 : tensor<4x8xi1>
  // CHECK: metaop.sort %{{.*}} dim = 0 descending : tensor<4x8xi1>
  %1 = metaop.sort %0 dim = 0 descending : tensor<4x8xi1>
  // CHECK: metaop.argsort %{{.*}} dim = 1 descending : tensor<4x8xi1> -> tensor<4x8xi64>
  %2 = metaop.argsort %1 dim = 1 descending : tensor<4x8xi1> -> tensor<4x8xi64>
  return %1, %2 : tensor<4x8xi1>, tensor<4x8xi64>
}
