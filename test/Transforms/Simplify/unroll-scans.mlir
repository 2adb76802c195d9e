// RUN: metaop-opt %s -metaop-unroll-scans -mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s -metaop-unroll-scans -metaop-simplify -mlir-print-local-scope | FileCheck %s --check-prefix=SIMPLE

// A short loop is its trips; rows are read where they are, and put together.
// CHECK-LABEL: func @short
// SIMPLE-LABEL: func @short
func.func @short(%init: tensor<4xf32>, %xs: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[X0:.*]] = metaop.reindex %arg1 map affine_map<(d0) -> (0, d0)>
  // CHECK-NEXT: %[[C1:.*]] = metaop.add %arg0, %[[X0]]
  // CHECK-NEXT: %[[X1:.*]] = metaop.reindex %arg1 map affine_map<(d0) -> (1, d0)>
  // CHECK-NEXT: %[[C2:.*]] = metaop.add %[[C1]], %[[X1]]
  // CHECK-NEXT: %[[Y0:.*]] = metaop.reshape %[[C1]] : tensor<4xf32> -> tensor<1x4xf32>
  // CHECK-NEXT: %[[Y1:.*]] = metaop.reshape %[[C2]] : tensor<4xf32> -> tensor<1x4xf32>
  // CHECK-NEXT: %[[YS:.*]] = metaop.concat %[[Y0]], %[[Y1]] dim = 0
  // CHECK-NEXT: return %[[C2]], %[[YS]]
  %r, %ys = metaop.scan 2 carries(%c = %init : tensor<4xf32>) rows(%x = %xs : tensor<2x4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
    %next = metaop.add %c, %x : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r, %ys : tensor<4xf32>, tensor<2x4xf32>
}

// The other way round. Rows of numbers.
// CHECK-LABEL: func @reverse
func.func @reverse(%init: tensor<f32>, %xs: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[X1:.*]] = metaop.reindex %arg1 map affine_map<() -> (1)>
  // CHECK-NEXT: %[[C1:.*]] = metaop.sub %arg0, %[[X1]]
  // CHECK-NEXT: %[[X0:.*]] = metaop.reindex %arg1 map affine_map<() -> (0)>
  // CHECK-NEXT: %[[C0:.*]] = metaop.sub %[[C1]], %[[X0]]
  // CHECK-NEXT: %[[Y0:.*]] = metaop.reshape %[[C0]]
  // CHECK-NEXT: %[[Y1:.*]] = metaop.reshape %[[C1]]
  // CHECK-NEXT: metaop.concat %[[Y0]], %[[Y1]]
  %r, %ys = metaop.scan 2 reverse carries(%c = %init : tensor<f32>) rows(%x = %xs : tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
    %next = metaop.sub %c, %x : tensor<f32>
    metaop.scan_yield %next, %next : tensor<f32>, tensor<f32>
  }
  return %ys : tensor<2xf32>
}

// The next loop has without rows what one puts into them.
// CHECK-LABEL: func @two
// SIMPLE-LABEL: func @two
func.func @two(%init: tensor<4xf32>) -> tensor<4xf32> {
  // SIMPLE-NEXT: %[[A:.*]] = metaop.exp %arg0
  // SIMPLE-NEXT: %[[B:.*]] = metaop.exp %[[A]]
  // SIMPLE-NEXT: %[[C:.*]] = metaop.mul %arg0, %[[B]]
  // SIMPLE-NEXT: %[[D:.*]] = metaop.mul %[[C]], %[[A]]
  // SIMPLE-NEXT: return %[[D]]
  %r, %ys = metaop.scan 2 carries(%c = %init : tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  %s = metaop.scan 2 reverse carries(%c = %init : tensor<4xf32>) rows(%y = %ys : tensor<2x4xf32>) -> tensor<4xf32> {
    %next = metaop.mul %c, %y : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}

// 65 trips of one operator are a loop, and so are fewer by `unroll`.
// CHECK-LABEL: func @long
func.func @long(%init: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: metaop.scan 65
  %a = metaop.scan 65 carries(%c = %init : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  // CHECK: metaop.scan 3 unroll 1
  %b = metaop.scan 3 unroll 1 carries(%c = %init : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  // CHECK-NOT: metaop.scan
  // CHECK-COUNT-67: metaop.exp
  // CHECK-NOT: metaop.exp
  %d = metaop.scan 66 unroll 100 carries(%c = %init : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %a, %b, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Three iterations of two trips, and one more behind them.
// CHECK-LABEL: func @groups
func.func @groups(%init: tensor<4xf32>, %xs: tensor<7x4xf32>) -> (tensor<4xf32>, tensor<7x4xf32>) {
  // CHECK-NEXT: %[[W:.*]] = metaop.reindex %arg1 map affine_map<(d0, d1) -> (d0, d1)> {{.*}} -> tensor<6x4xf32>
  // CHECK-NEXT: %[[G:.*]] = metaop.reshape %[[W]] : tensor<6x4xf32> -> tensor<3x2x4xf32>
  // CHECK-NEXT: %[[L:.*]]:2 = metaop.scan 3 unroll 1 carries(%[[C:.*]] = %arg0 : tensor<4xf32>) rows(%[[R:.*]] = %[[G]] : tensor<3x2x4xf32>) -> (tensor<4xf32>, tensor<3x2x4xf32>) {
  // CHECK-NEXT: metaop.reindex %[[R]] map affine_map<(d0) -> (0, d0)>
  // CHECK-NEXT: metaop.add %[[C]]
  // CHECK-NEXT: metaop.reindex %[[R]] map affine_map<(d0) -> (1, d0)>
  // CHECK-NEXT: metaop.add
  // CHECK: metaop.concat
  // CHECK-NEXT: metaop.scan_yield
  // CHECK: metaop.reindex %arg1 map affine_map<(d0) -> (6, d0)>
  // CHECK-NEXT: %[[N:.*]] = metaop.add %[[L]]#0
  // CHECK: %[[ALL:.*]] = metaop.reshape %[[L]]#1 : tensor<3x2x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: %[[YS:.*]] = metaop.concat %[[ALL]], %{{.*}} dim = 0
  // CHECK-NEXT: return %[[N]], %[[YS]]
  %r, %ys = metaop.scan 7 unroll 2 carries(%c = %init : tensor<4xf32>) rows(%x = %xs : tensor<7x4xf32>) -> (tensor<4xf32>, tensor<7x4xf32>) {
    %next = metaop.add %c, %x : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r, %ys : tensor<4xf32>, tensor<7x4xf32>
}

// The other way round the first rows are left over, and come last.
// CHECK-LABEL: func @groups_reverse
func.func @groups_reverse(%init: tensor<4xf32>, %xs: tensor<7x4xf32>) -> (tensor<4xf32>, tensor<7x4xf32>) {
  // CHECK-NEXT: metaop.reindex %arg1 map affine_map<(d0, d1) -> (d0 + 1, d1)> {{.*}} -> tensor<6x4xf32>
  // CHECK: metaop.scan 3 reverse unroll 1
  // CHECK-NEXT: metaop.reindex %{{.*}} map affine_map<(d0) -> (1, d0)>
  // CHECK: metaop.reindex %arg1 map affine_map<(d0) -> (0, d0)>
  // CHECK: %[[ALL:.*]] = metaop.reshape {{.*}} -> tensor<6x4xf32>
  // CHECK-NEXT: metaop.concat %{{.*}}, %[[ALL]] dim = 0
  %r, %ys = metaop.scan 7 reverse unroll 2 carries(%c = %init : tensor<4xf32>) rows(%x = %xs : tensor<7x4xf32>) -> (tensor<4xf32>, tensor<7x4xf32>) {
    %next = metaop.add %c, %x : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r, %ys : tensor<4xf32>, tensor<7x4xf32>
}

// Inner loops count for each of their trips: these are 30 operators in each of 2
// trips, and of 3.
// CHECK-LABEL: func @nested
func.func @nested(%init: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NOT: metaop.scan
  // CHECK: metaop.scan 3 carries
  // CHECK-NOT: metaop.scan 10
  // CHECK: return
  %a = metaop.scan 2 carries(%c = %init : tensor<4xf32>) -> tensor<4xf32> {
    %s = metaop.scan 10 carries(%d = %c : tensor<4xf32>) -> tensor<4xf32> {
      %x = metaop.exp %d : tensor<4xf32>
      %y = metaop.sin %x : tensor<4xf32>
      %z = metaop.mul %x, %y : tensor<4xf32>
      metaop.scan_yield %z : tensor<4xf32>
    }
    metaop.scan_yield %s : tensor<4xf32>
  }
  %b = metaop.scan 3 carries(%c = %init : tensor<4xf32>) -> tensor<4xf32> {
    %s = metaop.scan 10 carries(%d = %c : tensor<4xf32>) -> tensor<4xf32> {
      %x = metaop.exp %d : tensor<4xf32>
      %y = metaop.sin %x : tensor<4xf32>
      %z = metaop.mul %x, %y : tensor<4xf32>
      metaop.scan_yield %z : tensor<4xf32>
    }
    metaop.scan_yield %s : tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A check names its trip, and a loop around one that stays gains nothing.
// CHECK-LABEL: func @stay
func.func @stay(%init: tensor<i64>, %n: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  // CHECK: metaop.scan 2 carries
  // CHECK-NEXT: metaop.check_range
  %a = metaop.scan 2 carries(%c = %init : tensor<i64>) -> tensor<i64> {
    metaop.check_range %c, %c extent = 4
    %next = metaop.add %c, %n : tensor<i64>
    metaop.scan_yield %next : tensor<i64>
  }
  // CHECK: metaop.scan 2 carries
  // CHECK-NEXT: metaop.scan %arg1 carries
  %b = metaop.scan 2 carries(%c = %init : tensor<i64>) -> tensor<i64> {
    %s = metaop.scan %n carries(%d = %c : tensor<i64>) -> tensor<i64> {
      %next = metaop.add %d, %n : tensor<i64>
      metaop.scan_yield %next : tensor<i64>
    }
    metaop.scan_yield %s : tensor<i64>
  }
  return %a, %b : tensor<i64>, tensor<i64>
}

// Extents that are not known.
// CHECK-LABEL: func @dynamic
func.func @dynamic(%init: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: metaop.scan 2
  %a = metaop.scan 2 carries(%c = %init : tensor<?xf32>) -> tensor<?xf32> {
    %next = metaop.exp %c : tensor<?xf32>
    metaop.scan_yield %next : tensor<?xf32>
  }
  return %a : tensor<?xf32>
}

// No trips are no trips; simplification knows what that is.
// CHECK-LABEL: func @none
// SIMPLE-LABEL: func @none
func.func @none(%init: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: metaop.scan 0 unroll 5
  // SIMPLE-NEXT: return %arg0
  %a = metaop.scan 0 unroll 5 carries(%c = %init : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %a : tensor<4xf32>
}
