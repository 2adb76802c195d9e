// RUN: metaop-opt %s '-metaop-pipeline=to=scheduled processor={avx512 l1=32768 l2=1048576}' | FileCheck %s

// Threads share the columns, in blocks as for any length, of which the first
// holds all of them here. Sums along these are no epilogue of a block.
// CHECK-LABEL: func @main
// CHECK:         metaop.fused{{.*}} schedule(#metaop.schedule<[parallel(1, 256),{{.*}}role(contraction)
// CHECK:       metaop.kernel(
// CHECK-NOT:   role(epilogue)
func.func @main(%a: tensor<2048x128xf32> {metaop.varying = array<i64: 0, 1>}, %b: tensor<128x128xf32> {metaop.varying = array<i64: 0, 1>}) -> tensor<2048xf32> {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<2048x128xf32> -> tensor<2048x128x128xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<128x128xf32> -> tensor<2048x128x128xf32>
  %2 = metaop.mul %0, %1 : tensor<2048x128x128xf32>
  %3 = metaop.reduce add %2 dims = [2] : tensor<2048x128x128xf32> -> tensor<2048x128xf32>
  %4 = metaop.reduce add %3 dims = [1] : tensor<2048x128xf32> -> tensor<2048xf32>
  return %4 : tensor<2048xf32>
}
