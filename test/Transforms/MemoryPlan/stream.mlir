// RUN: metaop-opt %s -metaop-plan-memory --mlir-print-local-scope | FileCheck %s

// What every call of a kernel writes in place has just been read, and is stored
// as usual.
// CHECK-LABEL: func @main
// CHECK: call @once{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: call @once{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: call @always{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK: call @always{{.*}} {metaop.slots = [#metaop.slot<argument, 1>]}
// CHECK-LABEL: func private @once
// CHECK: stream = [0]
// CHECK-LABEL: func private @always
// CHECK-NOT: stream
// CHECK-LABEL: func private @last
// CHECK: stream = [0]
func.func @main(%x: tensor<64xf32>, %p: tensor<64xf32> {metaop.donatable})
    -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = call @once(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = call @once(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = call @always(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = call @always(%p) : (tensor<64xf32>) -> tensor<64xf32>
  %4 = call @last(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3, %4 : tensor<64xf32>, tensor<64xf32>
}
func.func private @once(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.exp %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
func.func private @always(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.log %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
func.func private @last(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%a = %x : tensor<64xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%b = %a : tensor<64xf32>) -> tensor<64xf32>
        schedule(#metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0]>) {
      %2 = metaop.abs %b : tensor<64xf32>
      metaop.yield %2 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
