// RUN: metaop-opt %s -metaop-pipeline="to=scheduled" | FileCheck %s
// RUN: metaop-opt %s -metaop-pipeline="to=kernels" | FileCheck %s --check-prefix=PLAN

// In a block, too, kernels write parts of a concat in its rows, and none where
// another block makes them.
// CHECK-LABEL: func @main
// CHECK: metaop.kernel
// CHECK-NOT: rows
// CHECK: scf.if
// CHECK: result_rows = [#metaop.rows<32, pitch = 64>]
// CHECK: metaop.exp
// CHECK: metaop.concat
// CHECK-NOT: rows
// PLAN: scf.if
// PLAN: func.call {{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 128, row = 128, pitch = 256>]}
// PLAN: metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0>]}
func.func @main(%x: tensor<64x99xf32>, %y: tensor<64x32xf32>, %isLess: tensor<i1>) -> tensor<64x64xf32> {
  %0 = metaop.reduce add %x dims = [1] : tensor<64x99xf32> -> tensor<64xf32>
  %1 = metaop.broadcast %0 dims = [0] : tensor<64xf32> -> tensor<64x32xf32>
  %2 = metaop.mul %1, %y : tensor<64x32xf32>
  %outer = metaop.stop_fuse %2 : tensor<64x32xf32>
  %c = tensor.extract %isLess[] : tensor<i1>
  %r = scf.if %c -> (tensor<64x64xf32>) {
    %3 = metaop.exp %outer : tensor<64x32xf32>
    %apart = metaop.stop_fuse %3 : tensor<64x32xf32>
    %4 = metaop.concat %outer, %apart dim = 1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
    scf.yield %4 : tensor<64x64xf32>
  } else {
    %3 = metaop.constant dense<0.0> : tensor<64x64xf32>
    scf.yield %3 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
