// Code that no derivative flows through is no reason to refuse: what it gives is a
// constant, or nobody differentiates it.
// RUN: metaop-opt %s --metaop-autodiff="wrt=0" | FileCheck %s

// CHECK-LABEL: func @beside
// CHECK: %[[C:.*]] = metaop.extern "code"(%arg1)
// CHECK: %[[Y:.*]] = metaop.mul %arg0, %[[C]]
// CHECK: return %[[Y]], %{{.*}}
func.func @beside(%x: tensor<4xf32>, %n: tensor<4xi32>) -> tensor<4xf32> {
  %0 = metaop.extern "code" (%n) : (tensor<4xi32>) -> tensor<4xf32>
  %1 = metaop.mul %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
