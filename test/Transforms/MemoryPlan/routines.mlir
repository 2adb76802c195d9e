// A routine reads what kernels have written, and has memory of its own: nothing is
// computed in place, and no kernel is fused with it.
// RUN: metaop-opt %s --metaop-pipeline="to=kernels" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = call @[[FIRST:.*]](%{{.*}}) {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: %[[S:.*]], %{{.*}} = metaop.sort %[[Y]] dim = 0 {metaop.slots = [#metaop.slot<arena, 4096>]} : tensor<1024xf32> -> tensor<1024xf32>
// CHECK: call @{{.*}}(%[[S]]) {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = metaop.exp %x : tensor<1024xf32>
  %1, %none = metaop.sort %0 dim = 0 : tensor<1024xf32> -> tensor<1024xf32>
  %2 = metaop.neg %1 : tensor<1024xf32>
  return %2 : tensor<1024xf32>
}
