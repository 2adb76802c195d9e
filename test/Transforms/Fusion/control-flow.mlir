// RUN: metaop-opt %s -metaop-simplify -metaop-clone-producers -metaop-fuse=report=true 2>%t.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.txt
// RUN: metaop-opt %s -metaop-simplify -metaop-clone-producers -metaop-fuse -metaop-recompute-values | FileCheck %s --check-prefix=AGAIN

// Each block is partitioned on its own: what is before a loop, in it and behind
// it would be one kernel without it.
// REPORT: :[[# @LINE + 16]]:1: remark: fusion: 2 operators in 2 groups; cost 32 -> 32 elements
// REPORT: :[[# @LINE + 19]]:8: remark: fusion: 2 operators in 1 group; cost 32 -> 24 elements
// REPORT-NOT: 0 operators

// CHECK-LABEL: func @blocks
// CHECK: %[[E:.*]] = metaop.kernel
// CHECK:   metaop.exp
// CHECK: scf.for {{.*}} iter_args(%[[V:.*]] = %[[E]])
// CHECK-NEXT: %[[K:.*]] = metaop.kernel({{.*}} = %[[V]] : tensor<8xf32>, {{.*}} = %arg0 : tensor<8xf32>)
// CHECK-NEXT:   metaop.fused
// CHECK-NEXT:     metaop.neg
// CHECK-NEXT:     metaop.mul
// CHECK-NEXT:     metaop.yield
// CHECK: scf.yield %[[K]]
// CHECK: metaop.kernel
// CHECK:   metaop.log
func.func @blocks(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = metaop.exp %x : tensor<8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %0) -> tensor<8xf32> {
    %1 = metaop.neg %v : tensor<8xf32>
    %2 = metaop.mul %1, %x : tensor<8xf32>
    scf.yield %2 : tensor<8xf32>
  }
  %3 = metaop.log %r : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A kernel gives what a branch reads and what its own block reads; the ops
// around the branch are one kernel where it does not lie between them.
// CHECK-LABEL: func @between
// CHECK: %[[K:.*]]:2 = metaop.kernel
// CHECK:   metaop.exp
// CHECK:   metaop.neg
// CHECK: scf.if
// CHECK-NEXT: metaop.kernel({{.*}} = %[[K]]#0
// CHECK:   metaop.log
func.func @between(%x: tensor<8xf32>, %c: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = metaop.exp %x : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %1 = metaop.log %0 : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %2 = metaop.neg %0 : tensor<8xf32>
  return %r, %2 : tensor<8xf32>, tensor<8xf32>
}

// What a branch gives is not there before it: the ops before and behind it do
// not become one kernel, though they read the same.
// CHECK-LABEL: func @through
// CHECK: %[[E:.*]] = metaop.kernel
// CHECK:   metaop.exp
// CHECK: %[[R:.*]] = scf.if
// CHECK: metaop.kernel({{.*}}%[[R]]
func.func @through(%x: tensor<8xf32>, %c: i1) -> tensor<8xf32> {
  %0 = metaop.exp %x : tensor<8xf32>
  %r = scf.if %c -> (tensor<8xf32>) {
    %1 = metaop.reduce add %0 dims = [0] : tensor<8xf32> -> tensor<f32>
    %2 = metaop.broadcast %1 dims = [] : tensor<f32> -> tensor<8xf32>
    scf.yield %2 : tensor<8xf32>
  } else {
    scf.yield %x : tensor<8xf32>
  }
  %3 = metaop.mul %0, %r : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// A difference is computed again by the kernels of its block. What is read in a
// loop is computed once.
// AGAIN-LABEL: func @centred
// AGAIN: metaop.kernel
// AGAIN: metaop.kernel({{.*}}) -> tensor<64x999xf32>
// AGAIN:   metaop.sub
// AGAIN: scf.for
// AGAIN-NOT: metaop.sub
// AGAIN:   metaop.reindex_reduce add
// AGAIN: return
func.func @centred(%x: tensor<64x999xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = metaop.constant dense<0.0> : tensor<64xf32>
  %0 = metaop.reduce add %x dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
  %1 = metaop.broadcast %0 dims = [0] : tensor<64xf32> -> tensor<64x999xf32>
  %2 = metaop.sub %x, %1 : tensor<64x999xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %zero) -> tensor<64xf32> {
    %3 = metaop.mul %2, %2 : tensor<64x999xf32>
    %4 = metaop.reduce add %3 dims = [1] : tensor<64x999xf32> -> tensor<64xf32>
    scf.yield %4 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
