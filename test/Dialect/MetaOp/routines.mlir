// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// CHECK-LABEL: @prefixes
func.func @prefixes(%x: tensor<4x?xf32>, %a: tensor<4x?xf32>, %i: tensor<3xui8>) -> tensor<4x?xf32> {
  // CHECK: metaop.prefix add %{{.*}} dim = 1 : tensor<4x?xf32>
  %0 = metaop.prefix add %x dim = 1 : tensor<4x?xf32>
  // CHECK: metaop.prefix mul %{{.*}} dim = 0 reverse : tensor<4x?xf32>
  %1 = metaop.prefix mul %0 dim = 0 reverse : tensor<4x?xf32>
  // CHECK: metaop.prefix logaddexp %{{.*}} dim = 0 exclusive : tensor<4x?xf32>
  %2 = metaop.prefix logaddexp %1 dim = 0 exclusive : tensor<4x?xf32>
  // CHECK: metaop.prefix linear %{{.*}} factors(%{{.*}}) dim = 1 reverse exclusive : tensor<4x?xf32>
  %3 = metaop.prefix linear %2 factors(%a) dim = 1 reverse exclusive : tensor<4x?xf32>
  // CHECK: metaop.prefix max %{{.*}} dim = 0 : tensor<3xui8>
  %4 = metaop.prefix max %i dim = 0 : tensor<3xui8>
  return %3 : tensor<4x?xf32>
}

// CHECK-LABEL: @sorts
func.func @sorts(%x: tensor<4x8xi1>) -> (tensor<4x8xi1>, tensor<4x8xi64>) {
  // CHECK: metaop.sort %{{.*}} dim = 1 : tensor<4x8xi1> -> tensor<4x8xi1>
  %0 = metaop.sort %x dim = 1 : tensor<4x8xi1> -> tensor<4x8xi1>
  // CHECK: metaop.sort %{{.*}} dim = 0 descending : tensor<4x8xi1> -> tensor<4x8xi1>
  %1 = metaop.sort %0 dim = 0 descending : tensor<4x8xi1> -> tensor<4x8xi1>
  // CHECK: metaop.argsort %{{.*}} dim = 1 descending : tensor<4x8xi1> -> tensor<4x8xi64>
  %2 = metaop.argsort %1 dim = 1 descending : tensor<4x8xi1> -> tensor<4x8xi64>
  return %1, %2 : tensor<4x8xi1>, tensor<4x8xi64>
}
