// RUN: metaop-opt %s -split-input-file -metaop-for-to-while -metaop-simplify | FileCheck %s

// The counter of a loop is carried as a tensor, and read as one.
// CHECK-LABEL: func.func @counts
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[END:.*]]: tensor<i64>)
// CHECK: %[[TWO:.*]] = metaop.constant dense<2> : tensor<i64>
// CHECK: scf.while (%[[K:.*]] = %[[TWO]], %[[V:.*]] = %[[X]]) : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>)
// CHECK:   %[[LESS:.*]] = metaop.cmp lt %[[K]], %[[END]] : tensor<i64> -> tensor<i1>
// CHECK:   %[[C:.*]] = tensor.extract %[[LESS]][] : tensor<i1>
// CHECK:   scf.condition(%[[C]]) %[[K]], %[[V]]
// CHECK: ^bb0(%[[K:.*]]: tensor<i64>, %[[V:.*]]: tensor<4xf32>):
// CHECK:   metaop.cast %[[K]] : tensor<i64> -> tensor<f32>
// CHECK:   %[[SUM:.*]] = metaop.add %[[V]]
// CHECK:   %[[LAST:.*]] = metaop.constant dense<9223372036854775804> : tensor<i64>
// CHECK:   %[[MIN:.*]] = metaop.min %[[K]], %[[LAST]]
// CHECK:   %[[STEP:.*]] = metaop.constant dense<3> : tensor<i64>
// CHECK:   %[[NEXT:.*]] = metaop.add %[[MIN]], %[[STEP]]
// CHECK:   scf.yield %[[NEXT]], %[[SUM]]
func.func @counts(%x: tensor<4xf32>, %end: tensor<i64>) -> tensor<4xf32> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = tensor.extract %end[] : tensor<i64>
  %m = arith.index_cast %n : i64 to index
  %r = scf.for %i = %c2 to %m step %c3 iter_args(%v = %x) -> (tensor<4xf32>) {
    %j = arith.index_cast %i : index to i64
    %k = tensor.from_elements %j : tensor<i64>
    %f = metaop.cast %k : tensor<i64> -> tensor<f32>
    %b = metaop.broadcast %f dims = [] : tensor<f32> -> tensor<4xf32>
    %s = metaop.add %v, %b : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Bounds of inner loops may be counters of outer ones.
// CHECK-LABEL: func.func @nested
// CHECK: scf.while
// CHECK: ^bb0(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<4xf32>):
// CHECK: scf.while (%{{.*}} = %[[I]],
// CHECK-NOT: scf.for
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> (tensor<4xf32>) : i64 {
    %s = scf.for %j = %i to %c5 step %c1 iter_args(%w = %v) -> (tensor<4xf32>) : i64 {
      %t = metaop.add %w, %x : tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// What is known to be taken, or not to be run, needs no control flow.
// CHECK-LABEL: func.func @known
// CHECK-NOT: scf
// CHECK: metaop.exp
// CHECK-NOT: metaop.tanh
// CHECK: return
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = metaop.constant dense<1.0> : tensor<f32>
  %two = metaop.constant dense<2.0> : tensor<f32>
  %isLess = metaop.cmp lt %one, %two : tensor<f32> -> tensor<i1>
  %isMore = metaop.cmp gt %one, %two : tensor<f32> -> tensor<i1>
  %less = tensor.extract %isLess[] : tensor<i1>
  %more = tensor.extract %isMore[] : tensor<i1>
  %0 = scf.if %less -> (tensor<4xf32>) {
    %1 = metaop.exp %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    %1 = metaop.tanh %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = scf.while (%v = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    scf.condition(%more) %v : tensor<4xf32>
  } do {
  ^bb0(%v: tensor<4xf32>):
    %3 = metaop.tanh %v : tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @steps
// CHECK: scf.for
func.func @steps(%x: tensor<4xf32>, %step: tensor<i64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i64
  %c5 = arith.constant 5 : i64
  %s = tensor.extract %step[] : tensor<i64>
  %r = scf.for %i = %c0 to %c5 step %s iter_args(%v = %x) -> (tensor<4xf32>) : i64 {
    scf.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @bounds
// CHECK: scf.for
func.func @bounds(%x: tensor<4xf32>, %n: i64) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (tensor<4xf32>) : i64 {
    scf.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
