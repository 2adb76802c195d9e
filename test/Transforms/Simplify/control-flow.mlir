// RUN: split-file %s %t
// RUN: metaop-opt %t/simplify.mlir -metaop-simplify | FileCheck %t/simplify.mlir
// RUN: metaop-opt %t/widen-addends.mlir -metaop-widen-addends | FileCheck %t/widen-addends.mlir
// RUN: metaop-opt %t/clone-producers.mlir -metaop-clone-producers | FileCheck %t/clone-producers.mlir
// RUN: metaop-opt %t/permute-reductions.mlir -metaop-simplify -metaop-permute-reductions | FileCheck %t/permute-reductions.mlir
// RUN: metaop-opt %t/placements.mlir -metaop-simplify -metaop-expand-placements -metaop-push-into-parts | FileCheck %t/placements.mlir
// RUN: metaop-opt %t/prefixes.mlir -metaop-split-prefixes | FileCheck %t/prefixes.mlir
// RUN: metaop-opt %t/widen-reductions.mlir -metaop-simplify -metaop-widen-reductions | FileCheck %t/widen-reductions.mlir

//--- simplify.mlir

// Equal ops are merged in each block, and none for one of another block.
// CHECK-LABEL: func @equal
// CHECK: metaop.exp
// CHECK: metaop.constant dense<1.0
// CHECK: scf.if
// CHECK-NEXT: %[[E:.*]] = metaop.exp %arg0
// CHECK-NEXT: %[[C:.*]] = metaop.constant dense<1.000000e+00>
// CHECK-NEXT: %[[A:.*]] = metaop.add %[[E]], %[[C]]
// CHECK-NEXT: %[[M:.*]] = metaop.mul %[[A]], %[[A]]
// CHECK-NEXT: scf.yield %[[M]]
func.func @equal(%x: tensor<8xf32>, %c: tensor<i1>) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  %1 = metaop.constant dense<1.0> : tensor<8xf32>
  %2 = metaop.add %0, %1 : tensor<8xf32>
  %condition = tensor.extract %c[] : tensor<i1>
  %3 = scf.if %condition -> (tensor<8xf32>) {
    %4 = metaop.exp %x : tensor<8xf32>
    %5 = metaop.constant dense<1.0> : tensor<8xf32>
    %6 = metaop.add %4, %5 : tensor<8xf32>
    %7 = metaop.exp %x : tensor<8xf32>
    %8 = metaop.add %7, %5 : tensor<8xf32>
    %9 = metaop.mul %6, %8 : tensor<8xf32>
    scf.yield %9 : tensor<8xf32>
  } else {
    scf.yield %2 : tensor<8xf32>
  }
  return %3 : tensor<8xf32>
}

// What folds inside of a loop stays there.
// CHECK-LABEL: func @fold
// CHECK-NOT: metaop.constant
// CHECK: scf.for
// CHECK: metaop.constant dense<3.0
// CHECK: metaop.add
func.func @fold(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<8xf32> {
    %0 = metaop.constant dense<1.0> : tensor<8xf32>
    %1 = metaop.constant dense<2.0> : tensor<8xf32>
    %2 = metaop.add %0, %1 : tensor<8xf32>
    %3 = metaop.stop_grad %v : tensor<8xf32>
    %4 = metaop.add %3, %2 : tensor<8xf32>
    scf.yield %4 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A branch that gives nothing is nothing.
// CHECK-LABEL: func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  scf.if %c {
    %0 = metaop.exp %x : tensor<8xf32>
    scf.if %c {
      %1 = metaop.exp %0 : tensor<8xf32>
    }
  }
  return %x : tensor<8xf32>
}

// A concat outside is made once, and not in each iteration.
// CHECK-LABEL: func @concat
// CHECK: metaop.concat
// CHECK: scf.for
// CHECK: metaop.concat
func.func @concat(%x: tensor<8xf32>) -> tensor<24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %pair = metaop.concat %x, %x dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %zero = metaop.constant dense<0.0> : tensor<24xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %zero) -> tensor<24xf32> {
    %0 = metaop.concat %pair, %x dim = 0 : (tensor<16xf32>, tensor<8xf32>) -> tensor<24xf32>
    scf.yield %0 : tensor<24xf32>
  }
  return %r : tensor<24xf32>
}

//--- widen-addends.mlir

// The product is rounded where another block sums it.
// CHECK-LABEL: func @sums
// CHECK: metaop.mul {{.*}} : tensor<8xbf16>
// CHECK: scf.if
// CHECK: metaop.reduce add {{.*}} : tensor<8xbf16> -> tensor<bf16>
// CHECK: metaop.mul {{.*}} : tensor<8xf32>
// CHECK: metaop.reduce add {{.*}} : tensor<8xf32> -> tensor<f32>
func.func @sums(%x: tensor<8xbf16>, %y: tensor<8xbf16>, %c: i1) -> tensor<bf16> {
  %0 = metaop.mul %x, %y : tensor<8xbf16>
  %1 = scf.if %c -> (tensor<bf16>) {
    %2 = metaop.reduce add %0 dims = [0] : tensor<8xbf16> -> tensor<bf16>
    scf.yield %2 : tensor<bf16>
  } else {
    %2 = metaop.mul %x, %y : tensor<8xbf16>
    %3 = metaop.reduce add %2 dims = [0] : tensor<8xbf16> -> tensor<bf16>
    scf.yield %3 : tensor<bf16>
  }
  return %1 : tensor<bf16>
}

//--- clone-producers.mlir

// Constants and broadcasts are computed in the stages of a loop; an exponential
// from around it is not.
// CHECK-LABEL: func @captured
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: %[[E:.*]] = metaop.exp %arg1
// CHECK-NEXT: scf.for
// CHECK-NEXT: %[[W:.*]] = metaop.reindex %[[E]]
// CHECK-NEXT: %[[P:.*]] = metaop.mul %{{.*}}, %[[W]]
// CHECK-NEXT: %[[C:.*]] = metaop.constant
// CHECK-NEXT: metaop.add %[[P]], %[[C]]
func.func @captured(%x: tensor<64x8xf32>, %w: tensor<8xf32>) -> tensor<64x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = metaop.constant dense<1.0> : tensor<64x8xf32>
  %e = metaop.exp %w : tensor<8xf32>
  %ww = metaop.reindex %e map affine_map<(d0, d1) -> (d1)> fill 0.0 : f32 : tensor<8xf32> -> tensor<64x8xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<64x8xf32> {
    %0 = metaop.mul %v, %ww : tensor<64x8xf32>
    %1 = metaop.add %0, %one : tensor<64x8xf32>
    scf.yield %1 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}

// A dead branch is gone when the blocks inside of it would be visited.
// CHECK-LABEL: func @dead
// CHECK-NOT: scf.if
// CHECK: return
func.func @dead(%x: tensor<64x8xf32>, %w: tensor<8xf32>, %c: i1) -> tensor<64x8xf32> {
  scf.if %c {
    scf.if %c {
      %0 = metaop.exp %x : tensor<64x8xf32>
    }
  }
  %e = metaop.neg %w : tensor<8xf32>
  %ww = metaop.reindex %e map affine_map<(d0, d1) -> (d1)> fill 0.0 : f32 : tensor<8xf32> -> tensor<64x8xf32>
  %1 = metaop.mul %x, %ww : tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// Inside of one block, a small value moves through its broadcast.
// CHECK-LABEL: func @pulled
// CHECK: scf.for
// CHECK-NEXT: %[[W:.*]] = metaop.reindex %arg1
// CHECK-NEXT: %[[S:.*]] = metaop.neg %[[W]]
// CHECK-NEXT: metaop.mul %{{.*}}, %[[S]]
func.func @pulled(%x: tensor<64x8xf32>, %w: tensor<8xf32>) -> tensor<64x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<64x8xf32> {
    %e = metaop.neg %w : tensor<8xf32>
    %ww = metaop.reindex %e map affine_map<(d0, d1) -> (d1)> fill 0.0 : f32 : tensor<8xf32> -> tensor<64x8xf32>
    %0 = metaop.mul %v, %ww : tensor<64x8xf32>
    scf.yield %0 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}

//--- permute-reductions.mlir

// A product inside of the loop is summed in the order of its transpose, one
// outside stays there.
// CHECK-LABEL: func @products
// CHECK: %[[P:.*]] = metaop.reindex_reduce
// CHECK: scf.for
// CHECK: metaop.reindex %[[P]]
// CHECK: %[[Q:.*]] = metaop.reindex_reduce
// CHECK-NEXT: metaop.add %{{.*}}, %[[Q]]
func.func @products(%x: tensor<8x16xf32>, %y: tensor<16x4xf32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = metaop.constant dense<0.0> : tensor<4x8xf32>
  %a = metaop.broadcast %x dims = [0, 1] : tensor<8x16xf32> -> tensor<8x16x4xf32>
  %b = metaop.broadcast %y dims = [1, 2] : tensor<16x4xf32> -> tensor<8x16x4xf32>
  %p = metaop.mul %a, %b : tensor<8x16x4xf32>
  %s = metaop.reduce add %p dims = [1] : tensor<8x16x4xf32> -> tensor<8x4xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %zero) -> tensor<4x8xf32> {
    %t = metaop.transpose %s perm = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
    %aa = metaop.broadcast %x dims = [0, 1] : tensor<8x16xf32> -> tensor<8x16x4xf32>
    %bb = metaop.broadcast %y dims = [1, 2] : tensor<16x4xf32> -> tensor<8x16x4xf32>
    %pp = metaop.mul %aa, %bb : tensor<8x16x4xf32>
    %ss = metaop.reduce add %pp dims = [1] : tensor<8x16x4xf32> -> tensor<8x4xf32>
    %tt = metaop.transpose %ss perm = [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
    %u = metaop.add %t, %tt : tensor<4x8xf32>
    %n = metaop.add %v, %u : tensor<4x8xf32>
    scf.yield %n : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

//--- placements.mlir

// The concat that only its own block reads is expanded, that of another is not.
// CHECK-LABEL: func @concats
// CHECK: %[[C:.*]] = metaop.concat %arg0, %arg1
// CHECK: scf.if
// CHECK-NOT: metaop.concat
// CHECK: metaop.select
// CHECK: metaop.mul %{{.*}}, %[[C]]
func.func @concats(%x: tensor<8xf32>, %y: tensor<8xf32>, %c: i1) -> tensor<16xf32> {
  %0 = metaop.concat %x, %y dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %1 = scf.if %c -> (tensor<16xf32>) {
    %2 = metaop.concat %y, %x dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %3 = metaop.mul %2, %0 : tensor<16xf32>
    scf.yield %3 : tensor<16xf32>
  } else {
    scf.yield %0 : tensor<16xf32>
  }
  return %1 : tensor<16xf32>
}

//--- prefixes.mlir

// CHECK-LABEL: func @prefix
// CHECK: scf.if
// CHECK-COUNT-2: metaop.prefix
// CHECK: else
func.func @prefix(%x: tensor<1048576xf32>, %c: i1) -> tensor<1048576xf32> {
  %1 = scf.if %c -> (tensor<1048576xf32>) {
    %2 = metaop.prefix add %x dim = 0 : tensor<1048576xf32>
    scf.yield %2 : tensor<1048576xf32>
  } else {
    scf.yield %x : tensor<1048576xf32>
  }
  return %1 : tensor<1048576xf32>
}

//--- widen-reductions.mlir

// CHECK-LABEL: func @scatter
// CHECK: scf.if
// CHECK: metaop.reindex_reduce add {{.*}} : tensor<8x4xf32> -> tensor<11xf32>
func.func @scatter(%x: tensor<8x4xbf16>, %y: tensor<11xbf16>, %c: i1) -> tensor<11xbf16> {
  %1 = scf.if %c -> (tensor<11xbf16>) {
    %2 = metaop.reindex_reduce add %x map affine_map<(d0, d1) -> (d0 + d1)> : tensor<8x4xbf16> -> tensor<11xbf16>
    scf.yield %2 : tensor<11xbf16>
  } else {
    scf.yield %y : tensor<11xbf16>
  }
  return %1 : tensor<11xbf16>
}
