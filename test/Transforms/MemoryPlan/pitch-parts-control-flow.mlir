// RUN: metaop-opt %s -metaop-pipeline="to=scheduled" | FileCheck %s

// Where there are branches, parts of a concat have no rows of it.
// CHECK-LABEL: func @main
// CHECK-NOT: rows
// CHECK: metaop.concat
// CHECK-NOT: rows
func.func @main(%x: tensor<64x99xf32>, %y: tensor<64x32xf32>, %c: i1) -> tensor<64x64xf32> {
  %r = scf.if %c -> (tensor<64x64xf32>) {
    %0 = metaop.reduce add %x dims = [1] : tensor<64x99xf32> -> tensor<64xf32>
    %1 = metaop.broadcast %0 dims = [0] : tensor<64xf32> -> tensor<64x32xf32>
    %2 = metaop.mul %1, %y : tensor<64x32xf32>
    %3 = metaop.exp %y : tensor<64x32xf32>
    %4 = metaop.concat %2, %3 dim = 1 : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
    scf.yield %4 : tensor<64x64xf32>
  } else {
    %3 = metaop.constant dense<0.0> : tensor<64x64xf32>
    scf.yield %3 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
