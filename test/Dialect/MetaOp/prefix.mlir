// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

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
  // CHECK: metaop.prefix min %{{.*}} dim = 0 reverse exclusive serial : tensor<3xui8>
  %5 = metaop.prefix min %4 dim = 0 reverse exclusive serial : tensor<3xui8>
  return %3 : tensor<4x?xf32>
}

// One element is all that comes up to it; nothing comes before it.
// FOLD-LABEL: @one
// FOLD-NEXT: %[[BEFORE:.*]] = metaop.prefix add %[[X:.*]] dim = 0 exclusive
// FOLD-NEXT: return %[[X]], %[[BEFORE]] :
func.func @one(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = metaop.prefix add %x dim = 0 : tensor<1x4xf32>
  %1 = metaop.prefix add %x dim = 0 exclusive : tensor<1x4xf32>
  return %0, %1 : tensor<1x4xf32>, tensor<1x4xf32>
}
