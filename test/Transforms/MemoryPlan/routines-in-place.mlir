// A routine is made over an operand that dies there, if it may be: one that nothing reads
// later, and no argument where it may fail.
// RUN: metaop-opt %s --metaop-plan-memory --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  // CHECK: metaop.routine "first"{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
  %0 = metaop.routine "first"(%x) over = [0] : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: metaop.routine "second"{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
  %1 = metaop.routine "second"(%0) over = [0] : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: metaop.routine "twice"{{.*}} {metaop.slots = [#metaop.slot<arena, 4096>]}
  %2 = metaop.routine "twice"(%1, %1) over = [0] : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: metaop.routine "not"{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
  %3 = metaop.routine "not"(%2) : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: metaop.routine "last"{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
  %4 = metaop.routine "last"(%3) over = [0] : (tensor<1024xf32>) -> tensor<1024xf32>
  return %4 : tensor<1024xf32>
}

// -----

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1024xf32> {metaop.donatable}) -> tensor<1024xf32> {
  // CHECK: metaop.routine "first"{{.*}} {metaop.slots = [#metaop.slot<argument, 0>]}
  %0 = metaop.routine "first"(%x) over = [0] total : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1024xf32> {metaop.donatable}) -> tensor<1024xf32> {
  // CHECK: metaop.routine "first"{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
  %0 = metaop.routine "first"(%x) over = [0] : (tensor<1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// Nothing is written over an argument before a routine that may fail, in loops either.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1024xf32> {metaop.donatable}, %y: tensor<1024xf32> {metaop.donatable}) -> (tensor<1024xf32>, tensor<1024xf32>) {
  // CHECK: metaop.routine "first"{{.*}} {metaop.slots = [#metaop.slot<arena, 0>]}
  %0 = metaop.routine "first"(%x) over = [0] total : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: metaop.routine "fails"{{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
  %1 = metaop.routine "fails"(%0) over = [0] : (tensor<1024xf32>) -> tensor<1024xf32>
  // CHECK: metaop.routine "last"{{.*}} {metaop.slots = [#metaop.slot<argument, 1>]}
  %2 = metaop.routine "last"(%y) over = [0] total : (tensor<1024xf32>) -> tensor<1024xf32>
  return %1, %2 : tensor<1024xf32>, tensor<1024xf32>
}

// -----

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1024xf32> {metaop.donatable}, %y: tensor<4x1024xf32>) -> (tensor<1024xf32>, tensor<4x1024xf32>) {
  // CHECK: metaop.routine "first"{{.*}} {metaop.slots = [#metaop.slot<arena, {{[0-9]+}}>]}
  %0 = metaop.routine "first"(%x) over = [0] total : (tensor<1024xf32>) -> tensor<1024xf32>
  %1, %2 = metaop.scan 4 unroll 1 carries(%c = %0 : tensor<1024xf32>) rows(%r = %y : tensor<4x1024xf32>) -> (tensor<1024xf32>, tensor<4x1024xf32>) {
    %3 = metaop.routine "over"(%c) over = [0] total : (tensor<1024xf32>) -> tensor<1024xf32>
    %4 = metaop.routine "fails"(%r) : (tensor<1024xf32>) -> tensor<1024xf32>
    metaop.scan_yield %3, %4 : tensor<1024xf32>, tensor<1024xf32>
  }
  return %1, %2 : tensor<1024xf32>, tensor<4x1024xf32>
}
