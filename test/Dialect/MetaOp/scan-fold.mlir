// RUN: metaop-opt %s -metaop-simplify | FileCheck %s

// Neither a carry that stays as it was nor what only itself needs is carried;
// rows that nobody reads are neither taken nor made.
// CHECK-LABEL: func @unneeded
func.func @unneeded(%x: tensor<4xf32>, %y: tensor<4xf32>, %xs: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = metaop.scan 3 carries(%[[C:.*]] = %arg0 : tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[N:.*]] = metaop.add %[[C]], %arg1 : tensor<4xf32>
  // CHECK-NEXT: metaop.scan_yield %[[N]] : tensor<4xf32>
  // CHECK: return %[[R]], %arg1
  %r:4 = metaop.scan 3 carries(%c = %x : tensor<4xf32>, %same = %y : tensor<4xf32>, %own = %x : tensor<4xf32>)
      rows(%row = %xs : tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) {
    %next = metaop.add %c, %same : tensor<4xf32>
    %more = metaop.exp %own : tensor<4xf32>
    %made = metaop.mul %more, %row : tensor<4xf32>
    metaop.scan_yield %next, %same, %more, %made : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// What a carry that is used comes from is carried, too.
// CHECK-LABEL: func @chain
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: metaop.scan 3 carries(%[[A:.*]] = %arg0 : tensor<4xf32>, %[[B:.*]] = %arg1 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %r:2 = metaop.scan 3 carries(%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %next = metaop.exp %b : tensor<4xf32>
    metaop.scan_yield %b, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// The same on both ways through a branch.
// CHECK-LABEL: func @branch
func.func @branch(%x: tensor<4xf32>, %y: tensor<4xf32>, %cs: tensor<3xi1>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = metaop.scan 3 carries(%[[C:.*]] = %arg0 : tensor<4xf32>) rows
  // CHECK: %[[N:.*]] = scf.if %{{.*}} -> (tensor<4xf32>) {
  // CHECK: metaop.add %[[C]], %arg1
  // CHECK: metaop.scan_yield %[[N]] : tensor<4xf32>
  // CHECK: return %[[R]], %arg1
  %r:2 = metaop.scan 3 carries(%c = %x : tensor<4xf32>, %same = %y : tensor<4xf32>)
      rows(%is = %cs : tensor<3xi1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %taken = tensor.extract %is[] : tensor<i1>
    %next:2 = scf.if %taken -> (tensor<4xf32>, tensor<4xf32>) {
      %sum = metaop.add %c, %same : tensor<4xf32>
      scf.yield %sum, %same : tensor<4xf32>, tensor<4xf32>
    } else {
      scf.yield %c, %same : tensor<4xf32>, tensor<4xf32>
    }
    metaop.scan_yield %next#0, %next#1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// A number that is known bounds the trips, but not the extent of rows.
// CHECK-LABEL: func @bounded
func.func @bounded(%x: tensor<4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>) {
  %three = metaop.constant dense<3> : tensor<i64>
  %nine = metaop.constant dense<9> : tensor<i64>
  // CHECK: metaop.scan 3 carries
  %a = metaop.scan %three most 5 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  // CHECK: metaop.scan 5 carries
  %b = metaop.scan %nine most 5 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  // CHECK: metaop.scan %{{.*}} most 5 carries
  %d, %ds = metaop.scan %three most 5 carries(%c = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  // One trip may be none.
  // CHECK: metaop.scan %arg1 most 1 carries
  %e = metaop.scan %n most 1 carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %a, %b, %ds, %e : tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<4xf32>
}

// A check stays.
// CHECK-LABEL: func @check
func.func @check(%xs: tensor<3xi64>) {
  // CHECK: metaop.scan 3 rows(%[[X:.*]] = %arg0 : tensor<3xi64>) {
  // CHECK-NEXT: metaop.check_range %[[X]], %[[X]] extent = 5
  metaop.scan 3 rows(%x = %xs : tensor<3xi64>) {
    metaop.check_range %x, %x extent = 5
    metaop.scan_yield
  }
  return
}

// CHECK-LABEL: func @no_trips
func.func @no_trips(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  // CHECK: %[[E:.*]] = metaop.constant dense<> : tensor<0x4xf32>
  // CHECK: return %arg0, %[[E]]
  %r:2 = metaop.scan 0 carries(%c = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<0x4xf32>
}

// CHECK-LABEL: func @one_trip
func.func @one_trip(%x: tensor<4xf32>, %xs: tensor<1x4xf32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
  // CHECK: %[[X:.*]] = metaop.reshape %arg1 : tensor<1x4xf32> -> tensor<4xf32>
  // CHECK: %[[N:.*]] = metaop.add %arg0, %[[X]] : tensor<4xf32>
  // CHECK: %[[S:.*]] = metaop.reshape %[[N]] : tensor<4xf32> -> tensor<1x4xf32>
  // CHECK: return %[[N]], %[[S]]
  %r:2 = metaop.scan 1 carries(%c = %x : tensor<4xf32>) rows(%row = %xs : tensor<1x4xf32>) -> (tensor<4xf32>, tensor<1x4xf32>) {
    %next = metaop.add %c, %row : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<1x4xf32>
}

// CHECK-LABEL: func @counted
func.func @counted(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = metaop.scan 5 carries
  // CHECK: return %[[R]], %arg0
  %five = metaop.constant dense<5> : tensor<i64>
  %less = metaop.constant dense<-5> : tensor<i64>
  %r = metaop.scan %five carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  %s = metaop.scan %less carries(%c = %x : tensor<4xf32>) -> tensor<4xf32> {
    %next = metaop.exp %c : tensor<4xf32>
    metaop.scan_yield %next : tensor<4xf32>
  }
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// Extents that are not known stay in the loop.
// CHECK-LABEL: @dynamic(
// CHECK: metaop.scan 1
// CHECK: metaop.scan 0
func.func @dynamic(%x: tensor<?xf32>, %rows: tensor<0x?xf32>)
    -> (tensor<1x?xf32>, tensor<0x?xf32>) {
  %a, %as = metaop.scan 1 carries(%c = %x : tensor<?xf32>)
      -> (tensor<?xf32>, tensor<1x?xf32>) {
    metaop.scan_yield %c, %c : tensor<?xf32>, tensor<?xf32>
  }
  %bs = metaop.scan 0 rows(%r = %rows : tensor<0x?xf32>) -> tensor<0x?xf32> {
    %e = metaop.exp %r : tensor<?xf32>
    metaop.scan_yield %e : tensor<?xf32>
  }
  return %as, %bs : tensor<1x?xf32>, tensor<0x?xf32>
}

// Rows that are handed on are the loop's.
// CHECK-LABEL: @handed_on(
// CHECK-NEXT: return %arg0
func.func @handed_on(%rows: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %r = metaop.scan 5 reverse rows(%row = %rows : tensor<5x4xf32>) -> tensor<5x4xf32> {
    metaop.scan_yield %row : tensor<4xf32>
  }
  return %r : tensor<5x4xf32>
}
