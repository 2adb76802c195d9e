// RUN: metaop-opt %s -metaop-plan-memory | FileCheck %s
// RUN: metaop-opt %s -metaop-plan-memory="report=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// %0 is dead when %3, which is twice as large, begins, and %1 outlives both. In
// the order of the program %1 would stand above %0, where nothing of the size of
// %3 fits below it.
// REPORT: remark: memory: an arena of 192 bytes, of which at most 192 live at a time
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 192 : i64
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<arena, 128>]}
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
// CHECK-NEXT:    call @double{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK-NEXT:    call @both{{.*}} {metaop.slots = [#metaop.slot<result, 1>]}
func.func @main(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<32xf32>) {
  %0 = call @reverse(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = call @reverse(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = call @reverse(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = call @double(%x) : (tensor<16xf32>) -> tensor<32xf32>
  %4 = call @both(%1, %3) : (tensor<16xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %2, %4 : tensor<16xf32>, tensor<32xf32>
}

func.func private @reverse(%x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = metaop.kernel(%a = %x : tensor<16xf32>) -> tensor<16xf32> {
    %1 = metaop.fused(%b = %a : tensor<16xf32>) -> tensor<16xf32> {
      %2 = metaop.reindex %b map affine_map<(i) -> (15 - i)> fill 0.0 : f32 : tensor<16xf32> -> tensor<16xf32>
      metaop.yield %2 : tensor<16xf32>
    }
    metaop.yield %1 : tensor<16xf32>
  }
  return %0 : tensor<16xf32>
}

func.func private @double(%x: tensor<16xf32>) -> tensor<32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<16xf32>) -> tensor<32xf32> {
    %1 = metaop.fused(%b = %a : tensor<16xf32>) -> tensor<32xf32> {
      %2 = metaop.reindex %b map affine_map<(i) -> (i floordiv 2)> fill 0.0 : f32 : tensor<16xf32> -> tensor<32xf32>
      metaop.yield %2 : tensor<32xf32>
    }
    metaop.yield %1 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

func.func private @both(%x: tensor<16xf32>, %y: tensor<32xf32>) -> tensor<32xf32> {
  %0 = metaop.kernel(%a = %x : tensor<16xf32>, %b = %y : tensor<32xf32>) -> tensor<32xf32> {
    %1 = metaop.fused(%c = %a : tensor<16xf32>, %d = %b : tensor<32xf32>) -> tensor<32xf32> {
      %2 = metaop.reindex %c map affine_map<(i) -> (i floordiv 2)> fill 0.0 : f32 : tensor<16xf32> -> tensor<32xf32>
      %3 = metaop.reindex %d map affine_map<(i) -> (31 - i)> fill 0.0 : f32 : tensor<32xf32> -> tensor<32xf32>
      %4 = metaop.add %2, %3 : tensor<32xf32>
      metaop.yield %4 : tensor<32xf32>
    }
    metaop.yield %1 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}
