// A branch in a loop, a loop in that branch: the same numbers in all phases.

// RUN: metaop-run %s --interpret --seed=1 > %t.expected
// RUN: FileCheck %s --check-prefix=VALUES < %t.expected
// RUN: metaop-opt %s -metaop-pipeline="to=graph" | metaop-run --interpret --seed=1 | diff - %t.expected
// RUN: metaop-opt %s -metaop-pipeline="to=fused" | metaop-run --interpret --seed=1 | diff - %t.expected
// RUN: metaop-opt %s -metaop-pipeline="to=fused rules=paper" | metaop-run --interpret --seed=1 | diff - %t.expected
// RUN: metaop-opt %s -metaop-pipeline="to=fused rules=none" | metaop-run --interpret --seed=1 | diff - %t.expected
// RUN: metaop-opt %s -metaop-pipeline="to=scheduled processor=avx2" | FileCheck %s
// RUN: metaop-opt %s -metaop-pipeline="to=scheduled processor=avx2" | metaop-run --interpret --seed=1 | FileCheck %s --check-prefix=VALUES
// RUN: metaop-opt %s -metaop-pipeline="to=scheduled" -metaop-outline -duplicate-function-elimination | metaop-run --interpret --seed=1 | FileCheck %s --check-prefix=VALUES
// RUN: metaop-run %s --seed=1 | FileCheck %s --check-prefix=VALUES
// RUN: metaop-run %s --compare --seed=1

// Every kernel has a schedule, and the loops are where they were.
// VALUES: result 1: tensor<i64>
// VALUES-NEXT: {{^}}6{{$}}

// CHECK-LABEL: func.func @main
// CHECK: scf.while
// CHECK: scf.if
// CHECK: scf.while
// CHECK: return
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<i64>) {
  %one = metaop.constant dense<1.0> : tensor<8x8xf32>
  %ww = metaop.broadcast %w dims = [1, 2] : tensor<8x8xf32> -> tensor<8x8x8xf32>
  %p = metaop.exp %x : tensor<8x8xf32>
  %limit = metaop.constant dense<10.0> : tensor<f32>
  %k0 = metaop.constant dense<0> : tensor<i64>
  %k1 = metaop.constant dense<1> : tensor<i64>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %p, %k = %k0) -> (tensor<8x8xf32>, tensor<i64>) : i64 {
    %vv = metaop.broadcast %v dims = [0, 1] : tensor<8x8xf32> -> tensor<8x8x8xf32>
    %m = metaop.mul %vv, %ww : tensor<8x8x8xf32>
    %s = metaop.reduce add %m dims = [1] : tensor<8x8x8xf32> -> tensor<8x8xf32>
    %s1 = metaop.add %s, %one : tensor<8x8xf32>
    %row = metaop.reduce max %s1 dims = [0, 1] : tensor<8x8xf32> -> tensor<f32>
    %isMore = metaop.cmp gt %row, %limit : tensor<f32> -> tensor<i1>
    %more = tensor.extract %isMore[] : tensor<i1>
    %u:2 = scf.if %more -> (tensor<8x8xf32>, tensor<i64>) {
      %rows = metaop.broadcast %row dims = [] : tensor<f32> -> tensor<8x8xf32>
      %q = metaop.div %s1, %rows : tensor<8x8xf32>
      scf.yield %q, %k : tensor<8x8xf32>, tensor<i64>
    } else {
      %e = metaop.exp %s1 : tensor<8x8xf32>
      %q:2 = scf.while (%a = %e, %kk = %k) : (tensor<8x8xf32>, tensor<i64>) -> (tensor<8x8xf32>, tensor<i64>) {
        %top = metaop.reduce max %a dims = [0, 1] : tensor<8x8xf32> -> tensor<f32>
        %isM = metaop.cmp gt %top, %limit : tensor<f32> -> tensor<i1>
        %mm = tensor.extract %isM[] : tensor<i1>
        scf.condition(%mm) %a, %kk : tensor<8x8xf32>, tensor<i64>
      } do {
      ^bb0(%a: tensor<8x8xf32>, %kk: tensor<i64>):
        %half = metaop.constant dense<0.5> : tensor<8x8xf32>
        %aa = metaop.mul %a, %half : tensor<8x8xf32>
        %kk1 = metaop.add %kk, %k1 : tensor<i64>
        scf.yield %aa, %kk1 : tensor<8x8xf32>, tensor<i64>
      }
      scf.yield %q#0, %q#1 : tensor<8x8xf32>, tensor<i64>
    }
    scf.yield %u#0, %u#1 : tensor<8x8xf32>, tensor<i64>
  }
  %z = metaop.add %r#0, %one : tensor<8x8xf32>
  return %z, %r#1 : tensor<8x8xf32>, tensor<i64>
}
