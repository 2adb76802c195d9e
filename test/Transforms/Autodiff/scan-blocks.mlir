// RUN: metaop-opt %s -split-input-file -metaop-autodiff="wrt=0 saved-bytes=64" -canonicalize | FileCheck %s

// The starts of 16 trips are 256 bytes. Four blocks of four trips keep the starts
// of the blocks, and a block's are made again in the trip of its gradient.
// CHECK-LABEL: @blocks(
// CHECK: metaop.scan 16 carries
// CHECK: %[[ROWS:.*]] = metaop.reshape %arg1 : tensor<16x4xf32> -> tensor<4x4x4xf32>
// CHECK: %[[BLOCKS:.*]]:2 = metaop.scan 4 unroll 1 carries(%[[C:[a-z0-9]+]] = %arg0 : tensor<4xf32>) rows(%[[GROUP:[a-z0-9]+]] = %[[ROWS]] : tensor<4x4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) attributes {metaop.blocks} {
// CHECK: %[[BLOCK:.*]] = metaop.scan 4 unroll 1 carries(%{{.*}} = %[[C]] : tensor<4xf32>) rows(%{{.*}} = %[[GROUP]] : tensor<4x4xf32>) -> tensor<4xf32> {
// CHECK: metaop.scan_yield %[[BLOCK]], %[[C]] :
// CHECK: metaop.scan 4 reverse unroll 1 carries({{.*}}) rows(%[[START:[a-z0-9]+]] = %[[BLOCKS]]#1 : tensor<4x4xf32>, {{.*}}) -> {{.*}} attributes {metaop.blocks} {
// CHECK: %[[AGAIN:.*]]:2 = metaop.scan 4 unroll 1 carries(%[[H:[a-z0-9]+]] = %[[START]]
// CHECK: metaop.scan_yield %{{.*}}, %[[H]]
// CHECK: metaop.scan 4 reverse unroll 1 carries({{.*}}) rows(%{{.*}} = %[[AGAIN]]#1 : tensor<4x4xf32>
// CHECK: return
func.func @blocks(%h: tensor<4xf32>, %xs: tensor<16x4xf32>) -> tensor<4xf32> {
  %r = metaop.scan 16 carries(%c = %h : tensor<4xf32>)
      rows(%x = %xs : tensor<16x4xf32>) -> tensor<4xf32> {
    %y = metaop.mul %c, %x : tensor<4xf32>
    %n = metaop.tanh %y : tensor<4xf32>
    %s = metaop.sin %n : tensor<4xf32>
    %a = metaop.add %s, %x : tensor<4xf32>
    %b = metaop.sin %a : tensor<4xf32>
    metaop.scan_yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Trips that fill no block stand behind them: of a loop in reverse, those of the
// first rows. Checks name the trip.
// CHECK-LABEL: @left(
// CHECK: metaop.scan 17 reverse
// CHECK: metaop.scan 3 reverse unroll 1 carries({{.*}}) rows({{.*}} : tensor<3x5xi64>) -> {{.*}} attributes {metaop.blocks}
// CHECK: metaop.scan 5 reverse unroll 1
// CHECK: metaop.reindex %arg2 {{.*}} : tensor<17xi64> -> tensor<2xi64>
// CHECK: metaop.scan 2 reverse unroll 1 {{.*}} attributes {metaop.first_trip = 15 : i64}
func.func @left(%h: tensor<16xf32>, %table: tensor<9x16xf32>, %is: tensor<17xi64>) -> tensor<16xf32> {
  %zero = metaop.constant dense<0> : tensor<i64>
  %r = metaop.scan 17 reverse carries(%c = %h : tensor<16xf32>)
      rows(%i = %is : tensor<17xi64>) -> tensor<16xf32> {
    %k = metaop.check %i extent = 9 dim = 0 : tensor<i64>
    %row = metaop.slice %table[%k, %zero] strides = [1, 1] : tensor<9x16xf32> -> tensor<1x16xf32>
    %x = metaop.reshape %row : tensor<1x16xf32> -> tensor<16xf32>
    %y = metaop.mul %c, %x : tensor<16xf32>
    %n = metaop.tanh %y : tensor<16xf32>
    metaop.scan_yield %n : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// -----

// Of a loop whose trips a number counts, each block makes those that are left.
// CHECK-LABEL: @counted(
// CHECK: %[[COUNT:.*]] = metaop.min %arg1,
// CHECK: %[[FILLED:.*]] = metaop.add %[[COUNT]],
// CHECK: %[[BLOCKS:.*]] = metaop.floor_div %[[FILLED]],
// CHECK: metaop.scan %[[BLOCKS]] most 8 carries(%{{.*}} = %arg0 : tensor<4xf32>, %[[LEFT:[a-z0-9]+]] = %[[COUNT]] : tensor<i64>)
// CHECK: metaop.scan %[[LEFT]] most 8 carries
// CHECK: metaop.sub %[[LEFT]],
// CHECK: metaop.scan %[[BLOCKS]] most 8 reverse
// CHECK: metaop.scan %{{.*}} most 8 reverse
func.func @counted(%h: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  %r = metaop.scan %n most 64 carries(%c = %h : tensor<4xf32>) -> tensor<4xf32> {
    %y = metaop.sin %c : tensor<4xf32>
    metaop.scan_yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// As much is kept of five trips as of blocks of two.
// CHECK-LABEL: @few(
// CHECK-NOT: metaop.blocks
func.func @few(%h: tensor<8xf32>) -> tensor<8xf32> {
  %r = metaop.scan 5 unroll 1 carries(%c = %h : tensor<8xf32>) -> tensor<8xf32> {
    %y = metaop.sin %c : tensor<8xf32>
    metaop.scan_yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
