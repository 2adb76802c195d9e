// RUN: metaop-opt %s --metaop-expand-checks | FileCheck %s

// A check is the lowest and the highest of the indices, and a comparison of
// these; what reads the checked value reads the indices.

// CHECK-LABEL: @main
// CHECK-SAME: %[[X:.*]]: tensor<10xf32>, %[[I:.*]]: tensor<4xi64>
func.func @main(%x: tensor<10xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[LOW:.*]] = metaop.reduce min %[[I]] dims = [0]
  // CHECK-NEXT: %[[HIGH:.*]] = metaop.reduce max %[[I]] dims = [0]
  // CHECK-NEXT: metaop.check_range %[[LOW]], %[[HIGH]] extent = 10 negative dim = 0
  // CHECK-NEXT: metaop.gather %[[X]][%[[I]]]
  %c = metaop.check %i extent = 10 negative dim = 0 : tensor<4xi64>
  %y = metaop.gather %x[%c] map affine_map<(d0)[s0] -> (s0)> fill 0.0 : f32
      : (tensor<10xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Of another type they are i64 first, and those that are ignored 0.
// CHECK-LABEL: @ignored
// CHECK-SAME: %[[L:.*]]: tensor<2x3xi32>
func.func @ignored(%l: tensor<2x3xi32>) -> tensor<2x3xi32> {
  // CHECK-NEXT: %[[WIDE:.*]] = metaop.cast %[[L]] : tensor<2x3xi32> -> tensor<2x3xi64>
  // CHECK-NEXT: %[[AWAY:.*]] = metaop.constant dense<-9007199254740993>
  // CHECK-NEXT: %[[IS:.*]] = metaop.cmp eq %[[WIDE]], %[[AWAY]]
  // CHECK-NEXT: %[[ZERO:.*]] = metaop.constant dense<0>
  // CHECK-NEXT: %[[LEFT:.*]] = metaop.select %[[IS]], %[[ZERO]], %[[WIDE]]
  // CHECK-NEXT: %[[LOW:.*]] = metaop.reduce min %[[LEFT]] dims = [0, 1]
  // CHECK-NEXT: %[[HIGH:.*]] = metaop.reduce max %[[LEFT]] dims = [0, 1]
  // CHECK-NEXT: metaop.check_range %[[LOW]], %[[HIGH]] extent = 5{{$}}
  // CHECK-NEXT: return %[[L]]
  %0 = metaop.check %l extent = 5 ignored = -9007199254740993 : tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// A number is its own lowest and highest.
// CHECK-LABEL: @number
// CHECK-SAME: %[[I:.*]]: tensor<i64>
func.func @number(%i: tensor<i64>) -> tensor<i64> {
  // CHECK-NEXT: metaop.check_range %[[I]], %[[I]] extent = 7 dim = 2
  // CHECK-NEXT: return %[[I]]
  %0 = metaop.check %i extent = 7 dim = 2 : tensor<i64>
  return %0 : tensor<i64>
}

// CHECK-LABEL: @dynamic
// CHECK-SAME: %[[L:.*]]: tensor<?xi64>
func.func @dynamic(%l: tensor<?xi64>) -> tensor<?xi64> {
  // CHECK: metaop.broadcast %{{.*}} extents(%{{.*}})
  // CHECK: metaop.reduce min %{{.*}} dims = [0] : tensor<?xi64> -> tensor<i64>
  // CHECK: metaop.check_range
  %0 = metaop.check %l extent = 5 ignored = 7 : tensor<?xi64>
  return %0 : tensor<?xi64>
}

// Once in a block, and in the blocks where it is read.
// CHECK-LABEL: @blocks
func.func @blocks(%i: tensor<4xi64>, %n: tensor<i1>) -> tensor<4xi64> {
  // CHECK-COUNT-1: metaop.check_range
  // CHECK-NOT: metaop.check_range
  // CHECK: scf.if
  %0 = metaop.check %i extent = 5 : tensor<4xi64>
  %1 = metaop.check %i extent = 5 : tensor<4xi64>
  %known = metaop.constant dense<3> : tensor<4xi64>
  %2 = metaop.check %known extent = 5 : tensor<4xi64>
  %unread = metaop.check %i extent = 2 : tensor<4xi64>
  %sum = metaop.add %0, %1 : tensor<4xi64>
  %sum2 = metaop.add %sum, %2 : tensor<4xi64>
  %b = tensor.extract %n[] : tensor<i1>
  %y = scf.if %b -> tensor<4xi64> {
    // CHECK-COUNT-1: metaop.check_range {{.*}} extent = 4
    %c = metaop.check %sum2 extent = 4 : tensor<4xi64>
    scf.yield %c : tensor<4xi64>
  } else {
    // CHECK: else
    // CHECK-NOT: metaop.check_range
    scf.yield %sum2 : tensor<4xi64>
  }
  return %y : tensor<4xi64>
}
