// RUN: metaop-opt %s -split-input-file -metaop-plan-memory | FileCheck %s

// An element-wise kernel writes over what dies there; the value that is returned
// does not stay in the arena.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.arena_bytes = 64 : i64
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
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

// -----

// A donated argument is written over; its buffer is the result. The other
// argument is the caller's.
// CHECK-LABEL: func @main
// CHECK-SAME:    metaop.results = [#metaop.slot<argument, 0>, #metaop.slot<result, 1>]
// CHECK:         call @update(%{{.*}}, %{{.*}}) {metaop.slots = [#metaop.slot<argument, 0>]}
// CHECK:         call @update(%{{.*}}, %{{.*}}) {metaop.slots = [#metaop.slot<result, 1>]}
func.func @main(%p: tensor<8xf32> {metaop.donatable}, %g: tensor<8xf32>, %q: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @update(%p, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = call @update(%q, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @update(%p: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %0 = metaop.kernel(%a = %p : tensor<8xf32>, %b = %g : tensor<8xf32>) -> tensor<8xf32> {
    %1 = metaop.fused(%c = %a : tensor<8xf32>, %d = %b : tensor<8xf32>) -> tensor<8xf32> {
      %2 = metaop.sub %c, %d : tensor<8xf32>
      metaop.yield %2 : tensor<8xf32>
    }
    metaop.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// A view shares the memory of what it views: %0 lives until the call that reads
// %1, and is written over there.
// CHECK-LABEL: func @main
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK:         call @neg{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK:         call @exp{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = metaop.reshape %0 : tensor<8xf32> -> tensor<2x4xf32>
  %2 = call @neg(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = metaop.reshape %2 : tensor<2x4xf32> -> tensor<8xf32>
  %4 = call @exp(%3) : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
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
func.func private @neg(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = metaop.kernel(%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> {
    %1 = metaop.fused(%b = %a : tensor<2x4xf32>) -> tensor<2x4xf32> {
      %2 = metaop.neg %b : tensor<2x4xf32>
      metaop.yield %2 : tensor<2x4xf32>
    }
    metaop.yield %1 : tensor<2x4xf32>
  }
  return %0 : tensor<2x4xf32>
}

// -----

// The stage that reads %a by rows is over when the other begins: they share no
// loop.
// CHECK-LABEL: func @main
// CHECK:         call @normalise{{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
func.func @main(%p: tensor<4x8xf32> {metaop.donatable}) -> tensor<4x8xf32> {
  %0 = call @normalise(%p) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @normalise(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = metaop.kernel(%a = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %1 = metaop.fused(%b = %a : tensor<4x8xf32>) -> tensor<8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %2 = metaop.reduce add %b dims = [0] : tensor<4x8xf32> -> tensor<8xf32>
      metaop.yield %2 : tensor<8xf32>
    }
    %3 = metaop.fused(%b = %a : tensor<4x8xf32>, %m = %1 : tensor<8xf32>) -> tensor<4x8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %4 = metaop.broadcast %m dims = [1] : tensor<8xf32> -> tensor<4x8xf32>
      %5 = metaop.sub %b, %4 : tensor<4x8xf32>
      metaop.yield %5 : tensor<4x8xf32>
    }
    metaop.yield %3 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
