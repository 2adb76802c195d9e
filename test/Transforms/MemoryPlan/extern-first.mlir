// Code of the user's own may fail, and a program that fails leaves its arguments as they
// were: so it comes before what writes over one.
// RUN: metaop-opt %s --metaop-pipeline="to=kernels" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: metaop.extern "code.1"
// CHECK: call @{{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
func.func @main(%w: tensor<1024xf32> {metaop.donatable}, %x: tensor<1024xf32>)
    -> (tensor<1024xf32>, tensor<1024xf32>) {
  %0 = metaop.exp %w : tensor<1024xf32>
  %1 = metaop.extern "code.1" (%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0, %1 : tensor<1024xf32>, tensor<1024xf32>
}
