// RUN: metaop-opt %s -metaop-hoist-invariants | FileCheck %s

// CHECK-LABEL: func @scan
func.func @scan(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = metaop.exp %arg1
  // CHECK-NEXT: %[[S:.*]] = metaop.add %[[E]], %arg1
  // CHECK-NEXT: metaop.scan 8
  // CHECK-NEXT: metaop.mul %{{.*}}, %[[S]]
  // CHECK-NEXT: metaop.scan_yield
  %r = metaop.scan 8 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = metaop.exp %w : tensor<4xf32>
    %s = metaop.add %e, %w : tensor<4xf32>
    %next = metaop.mul %c, %s : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Out of both loops, or of the inner one.
// CHECK-LABEL: func @nested
func.func @nested(%x: tensor<4xf32>, %w: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = metaop.exp %arg1
  // CHECK: metaop.scan %arg2 carries(%[[C:.*]] = %arg0
  // CHECK-NEXT: %[[D:.*]] = metaop.mul %[[C]], %[[E]]
  // CHECK-NEXT: metaop.scan 2
  // CHECK-NEXT: metaop.add %{{.*}}, %[[D]]
  %r = metaop.scan %n carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %s = metaop.scan 2 carries(%d = %c : tensor<4xf32>) -> tensor<4xf32> {
      %e = metaop.exp %w : tensor<4xf32>
      %f = metaop.mul %c, %e : tensor<4xf32>
      %next = metaop.add %d, %f : tensor<4xf32>
      metaop.scan_yield %next : tensor<4xf32>
    }
    metaop.scan_yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Of either block of a while.
// CHECK-LABEL: func @while
func.func @while(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  // CHECK: %[[E:.*]] = metaop.exp %arg1
  // CHECK: %[[L:.*]] = metaop.log %arg1
  // CHECK: scf.while
  // CHECK-NEXT: metaop.cmp lt %{{.*}}, %[[E]]
  // CHECK: metaop.add %{{.*}}, %[[L]]
  %r = scf.while (%v = %x) : (tensor<f32>) -> tensor<f32> {
    %e = metaop.exp %w : tensor<f32>
    %isLess = metaop.cmp lt %v, %e : tensor<f32> -> tensor<i1>
    %goesOn = tensor.extract %isLess[] : tensor<i1>
    scf.condition(%goesOn) %v : tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %l = metaop.log %w : tensor<f32>
    %next = metaop.add %v, %l : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %r : tensor<f32>
}

// A check is done where a trip is, and what is in a branch where that is taken.
// CHECK-LABEL: func @stays
func.func @stays(%i: tensor<i64>, %w: tensor<4xf32>, %cs: tensor<3xi1>, %n: tensor<i64>) -> tensor<3x4xf32> {
  // CHECK: metaop.scan %arg3 {
  // CHECK-NEXT: metaop.check_range
  metaop.scan %n {
    metaop.check_range %i, %i extent = 4
    metaop.scan_yield
  }
  // CHECK: metaop.scan 3
  // CHECK: scf.if
  // CHECK-NEXT: metaop.exp
  %r = metaop.scan 3 rows(%c = %cs : tensor<3xi1>) -> tensor<3x4xf32> {
    %taken = tensor.extract %c[] : tensor<i1>
    %y = scf.if %taken -> (tensor<4xf32>) {
      %e = metaop.exp %w : tensor<4xf32>
      scf.yield %e : tensor<4xf32>
    } else {
      scf.yield %w : tensor<4xf32>
    }
    metaop.scan_yield %y : tensor<4xf32>
  }
  return %r : tensor<3x4xf32>
}
