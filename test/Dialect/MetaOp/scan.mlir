// RUN: metaop-opt %s | FileCheck %s
// RUN: metaop-opt %s | metaop-opt | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt | FileCheck %s

// CHECK-LABEL: func @sums
func.func @sums(%init: tensor<4xf32>, %xs: tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[R:.*]]:2 = metaop.scan 8 carries(%[[C:.*]] = %arg0 : tensor<4xf32>) rows(%[[X:.*]] = %arg1 : tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK-NEXT: %[[N:.*]] = metaop.add %[[C]], %[[X]] : tensor<4xf32>
  // CHECK-NEXT: metaop.scan_yield %[[N]], %[[N]] : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: }
  %h, %ys = metaop.scan 8 carries(%c = %init : tensor<4xf32>) rows(%x = %xs : tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
    %next = metaop.add %c, %x : tensor<4xf32>
    metaop.scan_yield %next, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %h, %ys : tensor<4xf32>, tensor<8x4xf32>
}

// Rows alone, of numbers, and a value of around it.
// CHECK-LABEL: func @rows
func.func @rows(%x: tensor<f32>, %xs: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: metaop.scan 3 reverse rows(%{{.*}} = %arg1 : tensor<3xf32>) -> tensor<3xf32> attributes {a = 1 : i64} {
  %ys = metaop.scan 3 reverse rows(%r = %xs : tensor<3xf32>) -> tensor<3xf32> attributes {a = 1 : i64} {
    %y = metaop.mul %r, %x : tensor<f32>
    metaop.scan_yield %y : tensor<f32>
  }
  return %ys : tensor<3xf32>
}

// CHECK-LABEL: func @count
func.func @count(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: metaop.scan %arg0 carries(%{{.*}} = %arg1 : tensor<2xf32>) -> tensor<2xf32> {
  %r = metaop.scan %n carries(%c = %x : tensor<2xf32>) -> tensor<2xf32> {
    %next = metaop.add %c, %c : tensor<2xf32>
    metaop.scan_yield %next : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// As many as a number says, of as many rows as there may be.
// CHECK-LABEL: func @bounded
func.func @bounded(%n: tensor<i64>, %x: tensor<2xf32>, %xs: tensor<5x2xf32>) -> (tensor<2xf32>, tensor<5x2xf32>) {
  // CHECK: metaop.scan %arg0 most 5 reverse carries(%{{.*}} = %arg1 : tensor<2xf32>) rows(%{{.*}} = %arg2 : tensor<5x2xf32>) -> (tensor<2xf32>, tensor<5x2xf32>) {
  %r, %ys = metaop.scan %n most 5 reverse carries(%c = %x : tensor<2xf32>) rows(%row = %xs : tensor<5x2xf32>) -> (tensor<2xf32>, tensor<5x2xf32>) {
    %next = metaop.add %c, %row : tensor<2xf32>
    metaop.scan_yield %next, %c : tensor<2xf32>, tensor<2xf32>
  }
  return %r, %ys : tensor<2xf32>, tensor<5x2xf32>
}

// CHECK-LABEL: func @nothing
func.func @nothing() {
  // CHECK: metaop.scan 0 {
  // CHECK-NEXT: metaop.scan_yield
  metaop.scan 0 {
    metaop.scan_yield
  }
  return
}

// CHECK-LABEL: func @unroll
func.func @unroll() {
  // CHECK: metaop.scan 4 reverse unroll 2 {
  metaop.scan 4 reverse unroll 2 {
    metaop.scan_yield
  }
  return
}
