// RUN: metaop-opt %s -split-input-file -metaop-clone-producers -metaop-fuse -metaop-recompute-values | FileCheck %s

// The difference is subtracted twice, and never in memory.
// CHECK-LABEL: func @centred
// CHECK: %[[M:.*]] = metaop.kernel({{.*}}) -> tensor<64xf32>
// CHECK: %[[V:.*]] = metaop.kernel({{.*}}) -> tensor<64xf32> {
// CHECK:   metaop.sub
// CHECK: metaop.kernel({{.*}} = %[[V]] : tensor<64xf32>, {{.*}} = %[[M]] : tensor<64xf32>, {{.*}} = %arg0 : tensor<64x999xf32>) -> tensor<64x999xf32>
// CHECK:   metaop.sub
func.func @centred(%x: tensor<64x999xf32>) -> tensor<64x999xf32> {
  %0 = metaop.reduce add %x dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
  %1 = metaop.broadcast %0 dims = [0] : tensor<64xf32> -> tensor<64x999xf32>
  %2 = metaop.sub %x, %1 : tensor<64x999xf32>
  %3 = metaop.mul %2, %2 : tensor<64x999xf32>
  %4 = metaop.reduce add %3 dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
  %5 = metaop.broadcast %4 dims = [0] : tensor<64xf32> -> tensor<64x999xf32>
  %6 = metaop.mul %2, %5 : tensor<64x999xf32>
  return %6 : tensor<64x999xf32>
}

// -----

// An exponential costs more than to write and read it once.
// CHECK-LABEL: func @exponential
// CHECK: metaop.kernel({{.*}}) -> (tensor<64x999xf32>, tensor<64xf32>) {
// CHECK:   metaop.exp
// CHECK-NOT: metaop.exp
func.func @exponential(%x: tensor<64x999xf32>) -> tensor<64x999xf32> {
  %0 = metaop.exp %x : tensor<64x999xf32>
  %1 = metaop.reduce add %0 dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %1 dims = [0] : tensor<64xf32> -> tensor<64x999xf32>
  %3 = metaop.div %0, %2 : tensor<64x999xf32>
  return %3 : tensor<64x999xf32>
}

// -----

// Two large inputs for one value: as many bytes move either way.
// CHECK-LABEL: func @two_inputs
// CHECK: metaop.kernel({{.*}}) -> (tensor<64x999xf32>, tensor<64xf32>) {
// CHECK:   metaop.add
// CHECK-NOT: metaop.add %
// CHECK: metaop.mul
func.func @two_inputs(%x: tensor<64x999xf32>, %y: tensor<64x999xf32>) -> tensor<64x999xf32> {
  %0 = metaop.add %x, %y : tensor<64x999xf32>
  %1 = metaop.reduce max %0 dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %1 dims = [0] : tensor<64xf32> -> tensor<64x999xf32>
  %3 = metaop.mul %0, %2 : tensor<64x999xf32>
  return %3 : tensor<64x999xf32>
}

// -----

// What the function returns is in memory in any case.
// CHECK-LABEL: func @returned
// CHECK: metaop.kernel({{.*}}) -> (tensor<64x999xf32>, tensor<64xf32>) {
// CHECK: metaop.kernel
// CHECK-NOT: metaop.neg
func.func @returned(%x: tensor<64x999xf32>) -> (tensor<64x999xf32>, tensor<64x999xf32>) {
  %0 = metaop.neg %x : tensor<64x999xf32>
  %1 = metaop.reduce max %0 dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %1 dims = [0] : tensor<64xf32> -> tensor<64x999xf32>
  %3 = metaop.mul %0, %2 : tensor<64x999xf32>
  return %0, %3 : tensor<64x999xf32>, tensor<64x999xf32>
}

// -----

// So is what a reindex reads.
// CHECK-LABEL: func @reindexed
// CHECK: metaop.kernel({{.*}}) -> (tensor<64x64xf32>, tensor<64xf32>) {
func.func @reindexed(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.neg %x : tensor<64x64xf32>
  %1 = metaop.reduce max %0 dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %1 dims = [0] : tensor<64xf32> -> tensor<64x64xf32>
  %3 = metaop.reindex %0 map affine_map<(d0, d1) -> (d1, d0)> fill 0.0 : f32 : tensor<64x64xf32> -> tensor<64x64xf32>
  %4 = metaop.mul %3, %2 : tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
