// RUN: metaop-opt %s -metaop-plan-memory="reuse=false" | FileCheck %s
// RUN: metaop-opt %s -metaop-pipeline="from=kernels to=kernels" | FileCheck %s --check-prefix=NONE
// RUN: metaop-opt %s -metaop-plan-memory="reuse=false report=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// Every value has a place of its own, whatever dies, and the donated argument
// stays as it is.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 128 : i64
// CHECK-SAME:    metaop.results = [#metaop.slot<result, 0>]
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<arena, 64>]}
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}

// A module that is in the phase already is not planned.
// NONE-NOT: metaop.slots

// REPORT: remark: memory: an arena of 128 bytes, of which at most 128 live at a time
func.func @main(%x: tensor<8xf32> {metaop.donatable}) -> tensor<8xf32> {
  %0 = call @exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @exp(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @exp(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

func.func private @exp(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.kernel(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %1 = metaop.fused(%b = %a : tensor<8xf32>) -> tensor<8xf32> {
      %2 = metaop.exp %b : tensor<8xf32>
      metaop.yield %2 : tensor<8xf32>
    }
    metaop.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
