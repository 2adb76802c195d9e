// RUN: metaop-opt %s -metaop-pipeline=to=fused \
// RUN:   | metaop-opt -metaop-join-stages=processor={stream=4096} -metaop-schedule=processor={stream=4096} --mlir-print-local-scope | FileCheck %s

// One kernel of three stages. What leaves it is stored past the caches; not so
// the exponentials, which the stage behind reads.
// CHECK: metaop.kernel
// CHECK: metaop.fused{{.*}}lanes = 1: 16>)
// CHECK: metaop.fused{{.*}}lanes = 1: 16, shared = 1>)
// CHECK: metaop.fused{{.*}}lanes = 1: 16, stream = [0], shared = 1>)
// CHECK-NOT: metaop.kernel
func.func @main(%x: tensor<256x512xf32>) -> (tensor<256x512xf32>, tensor<256x512xf32>) {
  %0 = metaop.reduce max %x dims = [1] : tensor<256x512xf32> -> tensor<256xf32>
  %1 = metaop.broadcast %0 dims = [0] : tensor<256xf32> -> tensor<256x512xf32>
  %2 = metaop.sub %x, %1 : tensor<256x512xf32>
  %3 = metaop.exp %2 : tensor<256x512xf32>
  %4 = metaop.reduce add %3 dims = [1] : tensor<256x512xf32> -> tensor<256xf32>
  %5 = metaop.broadcast %4 dims = [0] : tensor<256xf32> -> tensor<256x512xf32>
  %6 = metaop.div %3, %5 : tensor<256x512xf32>
  return %3, %6 : tensor<256x512xf32>, tensor<256x512xf32>
}
