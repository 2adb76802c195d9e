// Code of the user's own is a step of its own: nothing is fused with it, it writes
// over nothing, and it has a place for each output, read or not.
// RUN: metaop-opt %s --metaop-pipeline="to=kernels" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = call @{{.*}}(%{{.*}}) {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: %[[S:.*]]:2 = metaop.extern "code.1"(%[[Y]])
// CHECK-SAME: metaop.slots = [#metaop.slot<arena, 4096>, #metaop.slot<arena, 8192>]
// CHECK: call @{{.*}}(%[[S]]#0) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = metaop.exp %x : tensor<1024xf32>
  %1:2 = metaop.extern "code.1" (%0) : (tensor<1024xf32>) -> (tensor<1024xf32>, tensor<4xi64>)
  %2 = metaop.neg %1#0 : tensor<1024xf32>
  return %2 : tensor<1024xf32>
}

