// RUN: metaop-opt %s -split-input-file -metaop-pipeline="to=scheduled processor=avx512" | FileCheck %s

// A product and its epilogue are one kernel inside of a loop.
// CHECK-LABEL: func.func @main
// CHECK:       scf.for
// CHECK:         metaop.kernel(
// CHECK:           metaop.reindex_reduce add
// CHECK:           shared = 1
// CHECK:           metaop.tanh
// CHECK-NOT:     metaop.kernel(
// CHECK:         return
func.func @main(%x: tensor<512x200xf32>, %b: tensor<200x200xf32>, %bias: tensor<200xf32>, %n: index) -> tensor<512x200xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<512x200xf32> {
    %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x200xf32> -> tensor<512x200x200xf32>
    %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x200xf32> -> tensor<512x200x200xf32>
    %2 = metaop.mul %0, %1 : tensor<512x200x200xf32>
    %3 = metaop.reduce add %2 dims = [2] : tensor<512x200x200xf32> -> tensor<512x200xf32>
    %4 = metaop.broadcast %bias dims = [1] : tensor<200xf32> -> tensor<512x200xf32>
    %5 = metaop.add %3, %4 : tensor<512x200xf32>
    %6 = metaop.tanh %5 : tensor<512x200xf32>
    scf.yield %6 : tensor<512x200xf32>
  }
  return %r : tensor<512x200xf32>
}

// -----

// An epilogue in a loop is none of a product before it, which would be computed
// in each iteration.
// CHECK-LABEL: func.func @main
// CHECK:         metaop.kernel(
// CHECK:           metaop.reindex_reduce add
// CHECK:       scf.for
// CHECK:         metaop.kernel(
// CHECK-NOT:       metaop.reindex_reduce
// CHECK:           metaop.tanh
// CHECK:         return
func.func @main(%x: tensor<512x200xf32>, %b: tensor<200x200xf32>, %bias: tensor<200xf32>, %n: index) -> tensor<512x200xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = metaop.broadcast %x dims = [0, 2] : tensor<512x200xf32> -> tensor<512x200x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x200xf32> -> tensor<512x200x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x200x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x200x200xf32> -> tensor<512x200xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<512x200xf32> {
    %4 = metaop.broadcast %bias dims = [1] : tensor<200xf32> -> tensor<512x200xf32>
    %5 = metaop.mul %4, %v : tensor<512x200xf32>
    %6 = metaop.add %3, %5 : tensor<512x200xf32>
    %7 = metaop.tanh %6 : tensor<512x200xf32>
    scf.yield %7 : tensor<512x200xf32>
  }
  return %r : tensor<512x200xf32>
}

// -----

// A value that a branch reads between a product and its epilogue is complete
// before the branch.
// CHECK-LABEL: func.func @main
// CHECK:         metaop.kernel(
// CHECK:           metaop.reindex_reduce add
// CHECK-NOT:       metaop.tanh
// CHECK:       scf.if
// CHECK:         metaop.kernel(
// CHECK:           metaop.neg
// CHECK:       else
// CHECK:         metaop.kernel(
// CHECK:           metaop.tanh
func.func @main(%x: tensor<512x200xf32>, %b: tensor<200x200xf32>, %bias: tensor<200xf32>, %c: i1) -> tensor<512x200xf32> {
  %0 = metaop.broadcast %x dims = [0, 2] : tensor<512x200xf32> -> tensor<512x200x200xf32>
  %1 = metaop.reindex %b map affine_map<(i, j, k) -> (k, j)> fill 0.0 : f32 : tensor<200x200xf32> -> tensor<512x200x200xf32>
  %2 = metaop.mul %0, %1 : tensor<512x200x200xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<512x200x200xf32> -> tensor<512x200xf32>
  %r = scf.if %c -> (tensor<512x200xf32>) {
    %n = metaop.neg %3 : tensor<512x200xf32>
    scf.yield %n : tensor<512x200xf32>
  } else {
    scf.yield %x : tensor<512x200xf32>
  }
  %4 = metaop.broadcast %bias dims = [1] : tensor<200xf32> -> tensor<512x200xf32>
  %5 = metaop.add %3, %4 : tensor<512x200xf32>
  %6 = metaop.tanh %5 : tensor<512x200xf32>
  %7 = metaop.mul %6, %r : tensor<512x200xf32>
  return %7 : tensor<512x200xf32>
}

// -----

// A softmax in a branch is one kernel. That of the maxima outside is not joined.
// CHECK-LABEL: func.func @main
// CHECK:         metaop.kernel(
// CHECK:           metaop.reindex_reduce max
// CHECK:       scf.if
// CHECK:         metaop.kernel(
// CHECK:           metaop.reindex_reduce add
// CHECK:           metaop.div
// CHECK-NOT:     metaop.kernel(
// CHECK:       else
func.func @main(%x: tensor<64x300xf32>, %c: i1) -> tensor<64x300xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %r = scf.if %c -> (tensor<64x300xf32>) {
    %0 = metaop.broadcast %m dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
    %1 = metaop.sub %x, %0 : tensor<64x300xf32>
    %e = metaop.exp %1 : tensor<64x300xf32>
    %s = metaop.reduce add %e dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
    %2 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
    %y = metaop.div %e, %2 : tensor<64x300xf32>
    scf.yield %y : tensor<64x300xf32>
  } else {
    scf.yield %x : tensor<64x300xf32>
  }
  return %r : tensor<64x300xf32>
}

// -----

// A long sum is split inside of its branch.
// CHECK-LABEL: func.func @main
// CHECK:       scf.if
// CHECK:         -> tensor<64xf32>
// CHECK:         metaop.kernel({{.*}} : tensor<64xf32>) -> tensor<f32>
// CHECK:       else
func.func @main(%x: tensor<4194304xf32>, %y: tensor<f32>, %c: i1) -> tensor<f32> {
  %r = scf.if %c -> (tensor<f32>) {
    %0 = metaop.reduce add %x dims = [0] : tensor<4194304xf32> -> tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// What grows is marked in blocks, too.
// CHECK-LABEL: func.func @main
// CHECK:       scf.if
// CHECK:         metaop.fused{{.*}}metaop.varying = array<i64: 0>
func.func @main(%x: tensor<40x300xf32> {metaop.varying = array<i64: 0>}, %c: i1) -> tensor<40x300xf32> {
  %r = scf.if %c -> (tensor<40x300xf32>) {
    %0 = metaop.exp %x : tensor<40x300xf32>
    scf.yield %0 : tensor<40x300xf32>
  } else {
    scf.yield %x : tensor<40x300xf32>
  }
  return %r : tensor<40x300xf32>
}

// -----

// The weights of a recurrence are packed once, before the loop, so they are the
// vectors: the state, which is smaller, would be packed in each trip.
// CHECK-LABEL: func.func @main
// CHECK:         metaop.kernel(
// CHECK-SAME:      -> tensor<8x256x32xf32>
// CHECK:       scf.for
// CHECK:         metaop.kernel(
// CHECK:           metaop.reindex_reduce add {{.*}} -> tensor<64x256xf32>
// CHECK-NOT:     metaop.kernel({{.*}} -> tensor<2x256x32xf32>
// CHECK:         return
func.func @main(%h: tensor<64x256xf32>, %w: tensor<256x256xf32>, %n: index) -> tensor<64x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h) -> tensor<64x256xf32> {
    %0 = metaop.broadcast %a dims = [0, 2] : tensor<64x256xf32> -> tensor<64x256x256xf32>
    %1 = metaop.broadcast %w dims = [1, 2] : tensor<256x256xf32> -> tensor<64x256x256xf32>
    %2 = metaop.mul %0, %1 : tensor<64x256x256xf32>
    %3 = metaop.reduce add %2 dims = [2] : tensor<64x256x256xf32> -> tensor<64x256xf32>
    scf.yield %3 : tensor<64x256xf32>
  }
  return %r : tensor<64x256xf32>
}

// -----

// Weights that change from trip to trip are packed in each.
// CHECK-LABEL: func @main
// CHECK-NOT:   metaop.kernel
// CHECK:       scf.for
// CHECK:         -> tensor<8x256x32xf32>
func.func @main(%h: tensor<512x256xf32>, %w: tensor<256x256xf32>, %n: index) -> (tensor<512x256xf32>, tensor<256x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h, %b = %w) -> (tensor<512x256xf32>, tensor<256x256xf32>) {
    %0 = metaop.broadcast %a dims = [0, 2] : tensor<512x256xf32> -> tensor<512x256x256xf32>
    %1 = metaop.broadcast %b dims = [1, 2] : tensor<256x256xf32> -> tensor<512x256x256xf32>
    %2 = metaop.mul %0, %1 : tensor<512x256x256xf32>
    %3 = metaop.reduce add %2 dims = [2] : tensor<512x256x256xf32> -> tensor<512x256xf32>
    %4 = metaop.tanh %b : tensor<256x256xf32>
    scf.yield %3, %4 : tensor<512x256xf32>, tensor<256x256xf32>
  }
  return %r#0, %r#1 : tensor<512x256xf32>, tensor<256x256xf32>
}
