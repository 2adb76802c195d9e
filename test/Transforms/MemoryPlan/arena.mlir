// RUN: metaop-opt %s -metaop-plan-memory | FileCheck %s

// Calls that read their input elsewhere than they write, so that nothing is in
// place here: %0 and %2 live apart and share a place in the arena, %1 lives beside
// both. The arena's places begin at multiples of 64 bytes.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 192 : i64
// CHECK-SAME:    metaop.results = [#metaop.slot<result, 0>]
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<arena, 64>]}
// CHECK-NEXT:    call @reverse{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK-NEXT:    call @double{{.*}} {metaop.slots = [#metaop.slot<arena, 64>]}
// CHECK-NEXT:    call @half{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = call @reverse(%x) : (tensor<10xf32>) -> tensor<10xf32>
  %1 = call @reverse(%0) : (tensor<10xf32>) -> tensor<10xf32>
  %2 = call @reverse(%1) : (tensor<10xf32>) -> tensor<10xf32>
  %3 = call @double(%2) : (tensor<10xf32>) -> tensor<20xf32>
  %4 = call @half(%3) : (tensor<20xf32>) -> tensor<10xf32>
  return %4 : tensor<10xf32>
}

func.func private @reverse(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10xf32>) -> tensor<10xf32> {
    %1 = metaop.fused(%b = %a : tensor<10xf32>) -> tensor<10xf32> {
      %2 = metaop.reindex %b map affine_map<(i) -> (9 - i)> fill 0.0 : f32 : tensor<10xf32> -> tensor<10xf32>
      metaop.yield %2 : tensor<10xf32>
    }
    metaop.yield %1 : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

func.func private @double(%x: tensor<10xf32>) -> tensor<20xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10xf32>) -> tensor<20xf32> {
    %1 = metaop.fused(%b = %a : tensor<10xf32>) -> tensor<20xf32> {
      %2 = metaop.reindex %b map affine_map<(i) -> (i floordiv 2)> fill 0.0 : f32 : tensor<10xf32> -> tensor<20xf32>
      metaop.yield %2 : tensor<20xf32>
    }
    metaop.yield %1 : tensor<20xf32>
  }
  return %0 : tensor<20xf32>
}

func.func private @half(%x: tensor<20xf32>) -> tensor<10xf32> {
  %0 = metaop.kernel(%a = %x : tensor<20xf32>) -> tensor<10xf32> {
    %1 = metaop.fused(%b = %a : tensor<20xf32>) -> tensor<10xf32> {
      %2 = metaop.reindex %b map affine_map<(i) -> (i * 2)> fill 0.0 : f32 : tensor<20xf32> -> tensor<10xf32>
      metaop.yield %2 : tensor<10xf32>
    }
    metaop.yield %1 : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}
