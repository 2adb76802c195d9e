// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=kernels processor=avx2" | FileCheck %s

// Both blocks make what they yield in the place of the result.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<result, 0>]
// CHECK: %[[C:.*]] = tensor.extract
// CHECK: scf.if %[[C]]
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[PLACE:[0-9]+]]>]}
// CHECK: } else {
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[PLACE]]>]}
// CHECK: } {metaop.slots = [#metaop.slot<arena, [[PLACE]]>]}
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>, %isLess: tensor<i1>) -> tensor<64xf32> {
  %c = tensor.extract %isLess[] : tensor<i1>
  %0 = scf.if %c -> (tensor<64xf32>) {
    %1 = metaop.exp %x : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  } else {
    %1 = metaop.add %x, %y : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  %2 = metaop.add %0, %y : tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

// What lives inside of one block shares memory with what lives in the other;
// what one does not make is pointed to, and stays alive.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.arena_bytes = 576
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<arena, [[OUTER:[0-9]+]]>]}
// CHECK: scf.if
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[INNER:[0-9]+]]>]}
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[INNER]]>]}
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: } {metaop.slots = [#metaop.slot<pointer, 0>]}
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<arena, [[LAST:[0-9]+]]>]}
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<64xf32>, %isLess: tensor<i1>) -> tensor<64xf32> {
  %c = tensor.extract %isLess[] : tensor<i1>
  %e = metaop.exp %x : tensor<64xf32>
  %outer = metaop.stop_fuse %e : tensor<64xf32>
  %0 = scf.if %c -> (tensor<64xf32>) {
    %1 = metaop.exp %outer : tensor<64xf32>
    %2 = metaop.stop_fuse %1 : tensor<64xf32>
    %3 = metaop.exp %2 : tensor<64xf32>
    scf.yield %3 : tensor<64xf32>
  } else {
    scf.yield %outer : tensor<64xf32>
  }
  %4 = metaop.reduce add %0 dims = [0] : tensor<64xf32> -> tensor<f32>
  %5 = metaop.broadcast %4 dims = [] : tensor<f32> -> tensor<64xf32>
  %6 = metaop.mul %5, %0 : tensor<64xf32>
  return %6 : tensor<64xf32>
}

// -----

// A result of the program has a buffer of its own, into which the blocks copy
// what they do not make.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<result, 0>]
// CHECK: } {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>, %isLess: tensor<i1>) -> tensor<64xf32> {
  %c = tensor.extract %isLess[] : tensor<i1>
  %0 = scf.if %c -> (tensor<64xf32>) {
    scf.yield %x : tensor<64xf32>
  } else {
    scf.yield %y : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// The body writes where the next trip reads. What the program returns lies in
// its buffer every other trip.
// CHECK-LABEL: func.func @main
// CHECK-SAME: metaop.results = [#metaop.slot<result, 0>]
// CHECK: scf.while
// CHECK: ^bb0
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<pointer, 1>]}
// CHECK: scf.yield
// CHECK: metaop.carries =
// CHECK-SAME: [#metaop.slot<pointer, 0>, #metaop.slot<pointer, 1>, #metaop.slot<result, 0>, #metaop.slot<arena, {{[0-9]+}}>]
func.func @main(%x: tensor<64xf32>, %limit: tensor<f32>) -> tensor<64xf32> {
  %0 = scf.while (%v = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %sum = metaop.reduce add %v dims = [0] : tensor<64xf32> -> tensor<f32>
    %isLess = metaop.cmp lt %sum, %limit : tensor<f32> -> tensor<i1>
    %c = tensor.extract %isLess[] : tensor<i1>
    scf.condition(%c) %v : tensor<64xf32>
  } do {
  ^bb0(%v: tensor<64xf32>):
    %1 = metaop.add %v, %v : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// A loop's body may come again: what it reads of outside lives until the loop
// is done, though the body's last step does not read it.
// CHECK-LABEL: func.func @main
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<arena, [[OUTER:[0-9]+]]>]}
// CHECK: scf.while
// CHECK: ^bb0
// CHECK-NOT: #metaop.slot<arena, [[OUTER]]>
// CHECK: return
func.func @main(%x: tensor<64xf32>, %limit: tensor<f32>) -> tensor<64xf32> {
  %e = metaop.exp %x : tensor<64xf32>
  %outer = metaop.stop_fuse %e : tensor<64xf32>
  %0 = scf.while (%v = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %sum = metaop.reduce add %v dims = [0] : tensor<64xf32> -> tensor<f32>
    %isLess = metaop.cmp lt %sum, %limit : tensor<f32> -> tensor<i1>
    %c = tensor.extract %isLess[] : tensor<i1>
    scf.condition(%c) %v : tensor<64xf32>
  } do {
  ^bb0(%v: tensor<64xf32>):
    %1 = metaop.add %v, %outer : tensor<64xf32>
    %2 = metaop.stop_fuse %1 : tensor<64xf32>
    %3 = metaop.exp %2 : tensor<64xf32>
    %4 = metaop.stop_fuse %3 : tensor<64xf32>
    %5 = metaop.add %4, %v : tensor<64xf32>
    scf.yield %5 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// -----

// What a loop ends with may be what it begins with. Where a block yields both,
// they are pointed to: the one that is read longer keeps the memory.
// CHECK-LABEL: func.func @main
// CHECK: scf.if
// CHECK: func.call {{.*}} {metaop.slots = [#metaop.slot<arena, [[FIRST:[0-9]+]]>]}
// CHECK: scf.while
// CHECK: } else {
// CHECK: } {metaop.slots = [#metaop.slot<pointer, {{[0-9]+}}>, #metaop.slot<pointer, {{[0-9]+}}>]}
// CHECK-NOT: #metaop.slot<arena, [[FIRST]]>
// CHECK: call {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<64xf32>, %limit: tensor<f32>, %isLess: tensor<i1>) -> tensor<64xf32> {
  %c = tensor.extract %isLess[] : tensor<i1>
  %0:2 = scf.if %c -> (tensor<64xf32>, tensor<64xf32>) {
    %e = metaop.exp %x : tensor<64xf32>
    %first = metaop.stop_fuse %e : tensor<64xf32>
    %last = scf.while (%v = %first) : (tensor<64xf32>) -> tensor<64xf32> {
      %sum = metaop.reduce add %v dims = [0] : tensor<64xf32> -> tensor<f32>
      %goesOn = metaop.cmp lt %sum, %limit : tensor<f32> -> tensor<i1>
      %d = tensor.extract %goesOn[] : tensor<i1>
      scf.condition(%d) %v : tensor<64xf32>
    } do {
    ^bb0(%v: tensor<64xf32>):
      %1 = metaop.add %v, %v : tensor<64xf32>
      scf.yield %1 : tensor<64xf32>
    }
    scf.yield %first, %last : tensor<64xf32>, tensor<64xf32>
  } else {
    %1 = metaop.sin %x : tensor<64xf32>
    %2 = metaop.cos %x : tensor<64xf32>
    scf.yield %1, %2 : tensor<64xf32>, tensor<64xf32>
  }
  %2 = metaop.sin %0#0 : tensor<64xf32>
  %3 = metaop.stop_fuse %2 : tensor<64xf32>
  %4 = metaop.add %3, %0#1 : tensor<64xf32>
  return %4 : tensor<64xf32>
}
