// RUN: metaop-opt %s -metaop-clone-producers -metaop-fuse | FileCheck %s
// RUN: metaop-opt %s -metaop-clone-producers="max-roots=1" -metaop-fuse | FileCheck %s --check-prefix=ONE

// Two reductions along different dimensions: each has its own product.
// CHECK-LABEL: func @two_reductions
// CHECK:         metaop.kernel({{[^>]*>[^>]*>}}) -> tensor<256x256xf32>
// CHECK:           metaop.mul
// CHECK-NEXT:      metaop.exp
// CHECK-NEXT:      metaop.reduce add
// CHECK:         metaop.kernel({{[^>]*>[^>]*>}}) -> tensor<16xf32>
// CHECK:           metaop.mul
// CHECK-NEXT:      metaop.reduce max
// CHECK-NOT:     metaop.kernel
// CHECK:         return
// ONE-LABEL: func @two_reductions
// ONE:         metaop.kernel({{.*}}tensor<256x256x16xf32>
func.func @two_reductions(%a: tensor<256x16xf32>, %b: tensor<256x16xf32>) -> (tensor<256x256xf32>, tensor<16xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<256x16xf32> -> tensor<256x256x16xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<256x16xf32> -> tensor<256x256x16xf32>
  %2 = metaop.mul %0, %1 : tensor<256x256x16xf32>
  %3 = metaop.exp %2 : tensor<256x256x16xf32>
  %4 = metaop.reduce add %3 dims = [2] : tensor<256x256x16xf32> -> tensor<256x256xf32>
  %5 = metaop.reduce max %2 dims = [0, 1] : tensor<256x256x16xf32> -> tensor<16xf32>
  return %4, %5 : tensor<256x256xf32>, tensor<16xf32>
}

// Along the same dimension they are one kernel, with one product.
// CHECK-LABEL: func @moments
// CHECK:         metaop.fused
// CHECK-COUNT-2:   metaop.mul
// CHECK-NOT:       metaop.mul
// CHECK-COUNT-2:   metaop.reduce
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @moments(%a: tensor<256x16xf32>, %b: tensor<256x16xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %0 = metaop.broadcast %a dims = [0, 2] : tensor<256x16xf32> -> tensor<256x256x16xf32>
  %1 = metaop.broadcast %b dims = [1, 2] : tensor<256x16xf32> -> tensor<256x256x16xf32>
  %2 = metaop.mul %0, %1 : tensor<256x256x16xf32>
  %3 = metaop.mul %2, %2 : tensor<256x256x16xf32>
  %4 = metaop.reduce add %3 dims = [2] : tensor<256x256x16xf32> -> tensor<256x256xf32>
  %5 = metaop.reduce add %2 dims = [2] : tensor<256x256x16xf32> -> tensor<256x256xf32>
  return %4, %5 : tensor<256x256xf32>, tensor<256x256xf32>
}

// An expanded value between two ops whose values are not, and which a reduction
// keeps apart: each has its own.
// CHECK-LABEL: func @between
// CHECK:         metaop.kernel
// CHECK:           metaop.exp {{.*}} : tensor<64x64xf32>
// CHECK:           metaop.reduce
// CHECK:         metaop.kernel
// CHECK:           metaop.exp {{.*}} : tensor<64x64xf32>
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @between(%x: tensor<64x64xf32>, %v: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = metaop.broadcast %v dims = [1] : tensor<64xf32> -> tensor<64x64xf32>
  %1 = metaop.exp %0 : tensor<64x64xf32>
  %2 = metaop.add %x, %1 : tensor<64x64xf32>
  %3 = metaop.reduce add %2 dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
  %4 = metaop.broadcast %3 dims = [0] : tensor<64xf32> -> tensor<64x64xf32>
  %5 = metaop.sub %4, %1 : tensor<64x64xf32>
  return %5 : tensor<64x64xf32>
}

// A returned value is written; what reads it reads the one that is written.
// CHECK-LABEL: func @returned
// CHECK-COUNT-1: metaop.mul
// CHECK-NOT:     metaop.mul
// CHECK:         return
func.func @returned(%a: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = metaop.broadcast %a dims = [0] : tensor<64xf32> -> tensor<64x64xf32>
  %1 = metaop.broadcast %b dims = [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = metaop.mul %0, %1 : tensor<64x64xf32>
  %3 = metaop.reduce add %2 dims = [0] : tensor<64x64xf32> -> tensor<64xf32>
  %4 = metaop.reduce add %2 dims = [1] : tensor<64x64xf32> -> tensor<64xf32>
  return %2, %3, %4 : tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>
}

// A reindex that makes an expanded value no larger takes it along.
// CHECK-LABEL: func @transposed
// CHECK:         metaop.kernel({{[^>]*>[^>]*>}}) -> tensor<64xf32>
// CHECK:           metaop.mul
// CHECK:           metaop.reindex_reduce
// CHECK-NOT:     metaop.kernel
// CHECK:         return
func.func @transposed(%a: tensor<32xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = metaop.broadcast %a dims = [0] : tensor<32xf32> -> tensor<32x64xf32>
  %1 = metaop.broadcast %b dims = [1] : tensor<64xf32> -> tensor<32x64xf32>
  %2 = metaop.mul %0, %1 : tensor<32x64xf32>
  %3 = metaop.transpose %2 perm = [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  %4 = metaop.reduce add %3 dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
  return %4 : tensor<64xf32>
}
