// A result of a routine that nothing uses has no slot, and takes no memory.
// RUN: metaop-opt %s --metaop-pipeline="to=kernels" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.arena_bytes = 4096 : i64
// CHECK: metaop.sort %{{.*}} dim = 0 {metaop.slots = [#metaop.slot<arena, 0>]} : tensor<1024xf32> -> tensor<1024xf32>
// CHECK: metaop.sort %{{.*}} dim = 0 {metaop.slots = [#metaop.slot<result, 1>]} : tensor<1024xf32> -> tensor<1024xf32>
// CHECK: metaop.sort %{{.*}} dim = 0 descending {metaop.slots = [#metaop.slot<result, 2>, #metaop.slot<result, 3>]} : tensor<1024xf32> -> tensor<1024xf32>
func.func @main(%x: tensor<1024xf32>, %y: tensor<1024xf32>)
    -> (tensor<1024xf32>, tensor<1024xi64>, tensor<1024xf32>, tensor<1024xi64>) {
  %0, %none = metaop.sort %x dim = 0 : tensor<1024xf32> -> tensor<1024xf32>
  %1 = metaop.neg %0 : tensor<1024xf32>
  %none2, %2 = metaop.sort %y dim = 0 : tensor<1024xf32> -> tensor<1024xf32>
  %3, %4 = metaop.sort %y dim = 0 descending : tensor<1024xf32> -> tensor<1024xf32>
  return %1, %2, %3, %4 : tensor<1024xf32>, tensor<1024xi64>, tensor<1024xf32>, tensor<1024xi64>
}
