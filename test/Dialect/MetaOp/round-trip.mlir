// RUN: metaop-opt %s | metaop-opt --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s --mlir-print-op-generic | metaop-opt --mlir-print-local-scope | FileCheck %s
// RUN: metaop-opt %s --emit-bytecode | metaop-opt --mlir-print-local-scope | FileCheck %s

//===----------------------------------------------------------------------===//
// Reindex
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @reindex
func.func @reindex(%x: tensor<4x8xf32>) -> tensor<4x8x3xf32> {
  // CHECK: metaop.reindex %{{.*}} map affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 1)>
  // CHECK-SAME: fill 0.000000e+00 : f32 : tensor<4x8xf32> -> tensor<4x8x3xf32>
  %y = metaop.reindex %x map affine_map<(d0, d1, d2) -> (d0, d1 + d2 - 1)>
      fill 0.0 : f32 : tensor<4x8xf32> -> tensor<4x8x3xf32>
  return %y : tensor<4x8x3xf32>
}

// CHECK-LABEL: @reindex_all_parts
func.func @reindex_all_parts(%x: tensor<8xui8>, %s: tensor<i64>, %n: index)
    -> tensor<?xui8> {
  // CHECK: metaop.reindex %{{[^ ]*}} symbols(%{{[^ ]*}}) extents(%{{[^ ]*}})
  // CHECK-SAME: map affine_map<(d0)[s0] -> (d0 * s0)>
  // CHECK-SAME: where affine_set<(d0)[s0] : (d0 mod 2 == 0, -d0 + s0 >= 0)>
  // CHECK-SAME: fill 7 : ui8 {note = "kept"} : tensor<8xui8> -> tensor<?xui8>
  %y = metaop.reindex %x symbols(%s) extents(%n)
      map affine_map<(d0)[s0] -> (d0 * s0)>
      where affine_set<(d0)[s0] : (d0 mod 2 == 0, s0 - d0 >= 0)>
      fill 7 : ui8 {note = "kept"} : tensor<8xui8> -> tensor<?xui8>
  return %y : tensor<?xui8>
}

// CHECK-LABEL: @reindex_boolean
func.func @reindex_boolean(%x: tensor<i1>) -> tensor<2xi1> {
  // CHECK: map affine_map<(d0) -> ()> fill true : tensor<i1> -> tensor<2xi1>
  %y = metaop.reindex %x map affine_map<(d0) -> ()> fill true
      : tensor<i1> -> tensor<2xi1>
  return %y : tensor<2xi1>
}

// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<8x1xbf16>, %z: tensor<f16>, %n: index) {
  // CHECK: metaop.broadcast %{{.*}} dims = [1, 2] : tensor<8x1xbf16> -> tensor<4x8x6xbf16>
  %0 = metaop.broadcast %x dims = [1, 2]
      : tensor<8x1xbf16> -> tensor<4x8x6xbf16>
  // CHECK: metaop.broadcast %{{.*}} extents(%{{.*}}, %{{.*}}) dims = [0, 2] : tensor<8x1xbf16> -> tensor<8x?x?xbf16>
  %1 = metaop.broadcast %x extents(%n, %n) dims = [0, 2]
      : tensor<8x1xbf16> -> tensor<8x?x?xbf16>
  // CHECK: metaop.broadcast %{{.*}} dims = [] : tensor<f16> -> tensor<3xf16>
  %2 = metaop.broadcast %z dims = [] : tensor<f16> -> tensor<3xf16>
  return
}

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<4x?x8xi16>, %z: tensor<i64>) {
  // CHECK: metaop.transpose %{{.*}} perm = [2, 0, 1] : tensor<4x?x8xi16> -> tensor<8x4x?xi16>
  %0 = metaop.transpose %x perm = [2, 0, 1]
      : tensor<4x?x8xi16> -> tensor<8x4x?xi16>
  // CHECK: metaop.transpose %{{.*}} perm = [] : tensor<i64> -> tensor<i64>
  %1 = metaop.transpose %z perm = [] : tensor<i64> -> tensor<i64>
  return
}

// CHECK-LABEL: @slice
func.func @slice(%x: tensor<100x8xf64>, %i: tensor<i64>, %n: index,
                 %z: tensor<i8>) {
  // CHECK: metaop.slice %{{.*}}[%{{.*}}, %{{.*}}] strides = [1, -2] : tensor<100x8xf64> -> tensor<32x4xf64>
  %0 = metaop.slice %x[%i, %i] strides = [1, -2]
      : tensor<100x8xf64> -> tensor<32x4xf64>
  // CHECK: metaop.slice %{{.*}}[%{{.*}}, %{{.*}}] extents(%{{.*}}) strides = [1, 1] : tensor<100x8xf64> -> tensor<?x8xf64>
  %1 = metaop.slice %x[%i, %i] extents(%n) strides = [1, 1]
      : tensor<100x8xf64> -> tensor<?x8xf64>
  // CHECK: metaop.slice %{{.*}}[] strides = [] : tensor<i8> -> tensor<i8>
  %2 = metaop.slice %z[] strides = [] : tensor<i8> -> tensor<i8>
  return
}

// CHECK-LABEL: @pad
func.func @pad(%x: tensor<4x?xi32>) -> tensor<4x?xi32> {
  // CHECK: metaop.pad %{{.*}} low = [1, 0] high = [-1, 2] fill -1 : i32 : tensor<4x?xi32> -> tensor<4x?xi32>
  %0 = metaop.pad %x low = [1, 0] high = [-1, 2] fill -1 : i32
      : tensor<4x?xi32> -> tensor<4x?xi32>
  return %0 : tensor<4x?xi32>
}

// CHECK-LABEL: @reshape
func.func @reshape(%x: tensor<4x8xf32>, %n: index) {
  // CHECK: metaop.reshape %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
  %0 = metaop.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: metaop.reshape %{{.*}} extents(%{{.*}}) : tensor<4x8xf32> -> tensor<?x2xf32>
  %1 = metaop.reshape %x extents(%n) : tensor<4x8xf32> -> tensor<?x2xf32>
  return
}

//===----------------------------------------------------------------------===//
// Reindex-reduce
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @reindex_reduce
func.func @reindex_reduce(%x: tensor<8x4xf32>, %s: tensor<i64>, %n: index) {
  // CHECK: metaop.reindex_reduce add %{{.*}} map affine_map<(d0, d1) -> (d0 floordiv 2)> : tensor<8x4xf32> -> tensor<4xf32>
  %0 = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d0 floordiv 2)>
      : tensor<8x4xf32> -> tensor<4xf32>
  // CHECK: metaop.reindex_reduce max %{{[^ ]*}} symbols(%{{[^ ]*}}) extents(%{{[^ ]*}})
  // CHECK-SAME: map affine_map<(d0, d1)[s0] -> (d0 + s0)>
  // CHECK-SAME: where affine_set<(d0, d1)[s0] : (d1 - 1 >= 0)>
  // CHECK-SAME: {note} : tensor<8x4xf32> -> tensor<?xf32>
  %1 = metaop.reindex_reduce max %x symbols(%s) extents(%n)
      map affine_map<(d0, d1)[s0] -> (d0 + s0)>
      where affine_set<(d0, d1)[s0] : (d1 - 1 >= 0)> {note}
      : tensor<8x4xf32> -> tensor<?xf32>
  return
}

// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<4x?x3xui32>, %b: tensor<5xi1>) {
  // CHECK: metaop.reduce add %{{.*}} dims = [0, 2] : tensor<4x?x3xui32> -> tensor<?xui32>
  %0 = metaop.reduce add %x dims = [0, 2] : tensor<4x?x3xui32> -> tensor<?xui32>
  // CHECK: metaop.reduce mul %{{.*}} dims = [1] keep_dims : tensor<4x?x3xui32> -> tensor<4x1x3xui32>
  %1 = metaop.reduce mul %x dims = [1] keep_dims
      : tensor<4x?x3xui32> -> tensor<4x1x3xui32>
  // CHECK: metaop.reduce min %{{.*}} dims = []
  %2 = metaop.reduce min %x dims = [] : tensor<4x?x3xui32> -> tensor<4x?x3xui32>
  // CHECK: metaop.reduce max %{{.*}} dims = [0, 1, 2] : tensor<4x?x3xui32> -> tensor<ui32>
  %3 = metaop.reduce max %x dims = [0, 1, 2] : tensor<4x?x3xui32> -> tensor<ui32>
  // CHECK: metaop.reduce and
  %4 = metaop.reduce and %b dims = [0] : tensor<5xi1> -> tensor<i1>
  // CHECK: metaop.reduce or
  %5 = metaop.reduce or %b dims = [0] : tensor<5xi1> -> tensor<i1>
  // CHECK: metaop.reduce xor
  %6 = metaop.reduce xor %x dims = [0, 2] : tensor<4x?x3xui32> -> tensor<?xui32>
  return
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @leaves
func.func @leaves(%n: index) {
  // CHECK: metaop.constant dense<5.000000e-01> : tensor<4x8xf32>
  %0 = metaop.constant dense<0.5> : tensor<4x8xf32>
  // CHECK: metaop.constant {note} dense<[1, 2]> : tensor<2xui8>
  %1 = metaop.constant {note} dense<[1, 2]> : tensor<2xui8>
  // CHECK: metaop.constant dense<true> : tensor<i1>
  %2 = metaop.constant dense<true> : tensor<i1>
  // CHECK: metaop.iota dim = 1 : tensor<4x8xi64>
  %3 = metaop.iota dim = 1 : tensor<4x8xi64>
  // CHECK: metaop.iota dim = 0 extents(%{{.*}}) : tensor<?x8xf16>
  %4 = metaop.iota dim = 0 extents(%n) : tensor<?x8xf16>
  // CHECK: metaop.buffer : tensor<4x?xf32>
  %5 = metaop.buffer : tensor<4x?xf32>
  // CHECK: metaop.scalar : tensor<i64>
  %6 = metaop.scalar : tensor<i64>
  // CHECK: metaop.random %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %7 = metaop.random %6, %6 : tensor<4x8xf32>
  // CHECK: metaop.random %{{.*}}, %{{.*}} extents(%{{.*}}) : tensor<?xui32>
  %8 = metaop.random %6, %6 extents(%n) : tensor<?xui32>
  return
}

//===----------------------------------------------------------------------===//
// Indirect ops
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @indirect
func.func @indirect(%x: tensor<9x8xf32>, %y: tensor<4x?xf32>, %i: tensor<4x8xi64>,
                    %j: tensor<4x?xi64>, %n: index) {
  // CHECK: metaop.gather %{{.*}}[%{{.*}}] map {{.*}} fill 1.000000e+00 : f32 : (tensor<9x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
  %0 = metaop.gather %x[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      fill 1.0 : f32 : (tensor<9x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
  // CHECK: metaop.gather %{{.*}}[%{{.*}}, %{{.*}}] map {{.*}} fill
  %1 = metaop.gather %x[%j, %j] map affine_map<(d0, d1)[s0, s1] -> (s0, s1 + d1)>
      fill 0.0 : f32 : (tensor<9x8xf32>, tensor<4x?xi64>, tensor<4x?xi64>) -> tensor<4x?xf32>
  // CHECK: metaop.scatter add %{{.*}}[%{{.*}}] map {{.*}} : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<9x8xf32>
  %2 = metaop.scatter add %0[%i] map affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<4x8xf32>, tensor<4x8xi64>) -> tensor<9x8xf32>
  // CHECK: metaop.scatter max %{{.*}}[%{{.*}}] extents(%{{.*}}) map {{.*}} : (tensor<4x?xf32>, tensor<4x?xi64>, index) -> tensor<?xf32>
  %3 = metaop.scatter max %y[%j] extents(%n) map affine_map<(d0, d1)[s0] -> (s0)>
      : (tensor<4x?xf32>, tensor<4x?xi64>, index) -> tensor<?xf32>
  return
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

// CHECK: @schedule_attribute
// CHECK-SAME: blocks = #metaop.schedule<[parallel(2, 96), step(1, 256), step(2, 32), step(0, 6, body), step(1), step(3)], tile = [0: 6, 2: 32], lanes = 2: 16, unroll = [3], prefetch = 8>
// CHECK-SAME: body = #metaop.schedule<[parallel(0), step(1, 4, body)], tile = [1: 4]>
// CHECK-SAME: defaults = #metaop.schedule<[step(0)]>
// CHECK-SAME: full = #metaop.schedule<[parallel(1, 4), parallel(0), step(2, 16)], tile = [1: 4, 2: 16], lanes = 2: 16, shared = 1>
// CHECK-SAME: pairwise = #metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16, pairwise = 32, shared = 1>
// CHECK-SAME: scalar = #metaop.schedule<[]>
// CHECK-SAME: stream = #metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0, 2]>
// CHECK-SAME: tile = #metaop.schedule<[parallel(1, 16), step(0, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1, stream = [0]>
func.func private @schedule_attribute() attributes {
  blocks = #metaop.schedule<[parallel(2, 96), step(1, 256), step(2, 32), step(0, 6, body), step(1), step(3)], tile = [0: 6, 2: 32], lanes = 2: 16, unroll = [3], prefetch = 8>,
  body = #metaop.schedule<[parallel(0), step(1, 4, body)], tile = [1: 4]>,
  // What says nothing is not printed.
  defaults = #metaop.schedule<[step(0, 1, mask)], tile = [], unroll = [], prefetch = 0, pairwise = 0, stream = [], shared = 0>,
  full = #metaop.schedule<[parallel(1, 4), parallel(0), step(2, 16)], tile = [1: 4, 2: 16], lanes = 2: 16, shared = 1>,
  pairwise = #metaop.schedule<[step(0, 16)], tile = [0: 16], lanes = 0: 16, pairwise = 32, shared = 1>,
  scalar = #metaop.schedule<[]>,
  stream = #metaop.schedule<[parallel(0, 16)], tile = [0: 16], lanes = 0: 16, stream = [0, 2]>,
  tile = #metaop.schedule<[parallel(1, 16), step(0, 16)], tile = [0: 16, 1: 16], lanes = 0: 16, transpose = 1, stream = [0]>
}

// Schedules for GPUs.
// CHECK: @gpu_schedule
// CHECK-SAME: cluster = #metaop.schedule<[cluster(0), cluster(1, 65536), block(1, 8192), step(1, 4096), warp(1, 512), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [memory, cluster], shared = 1>
// CHECK-SAME: defaults = #metaop.schedule<[block(0, 32), thread(0)]>
// CHECK-SAME: elementwise = #metaop.schedule<[block(0, 4096), thread(0, 4)], tile = [0: 16], lanes = 0: 4>
// CHECK-SAME: staged = #metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 0]>
func.func private @gpu_schedule() attributes {
  cluster = #metaop.schedule<[cluster(0), cluster(1, 65536), block(1, 8192), step(1, 4096), warp(1, 512), thread(1, 4)], tile = [1: 16], lanes = 1: 4, place = [memory, cluster], shared = 1>,
  // What says nothing is not printed.
  defaults = #metaop.schedule<[block(0, 32), thread(0)], staged = [], place = [memory, memory]>,
  elementwise = #metaop.schedule<[block(0, 4096), thread(0, 4)], tile = [0: 16], lanes = 0: 4>,
  staged = #metaop.schedule<[block(0, 64), block(2, 64), step(1, 16), thread(0), thread(2), step(1)], tile = [0: 4, 2: 4], staged = [0: 1, 1: 0]>
}
